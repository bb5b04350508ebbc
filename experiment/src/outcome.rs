//! What a run yields: totals over the measured interval, and time series.

use control::{Bytes, Duration, Phase, Time};
use serde::{Deserialize, Serialize};

/// Everything that a run yields. Depends on nothing but the [`Experiment`](crate::Experiment).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Outcome {
    /// Per flow, in the experiment's order.
    pub flows: Vec<FlowOutcome>,
    /// Per workload, in the experiment's order.
    pub workloads: Vec<WorkloadOutcome>,
    /// Per link, in the experiment's order: the direction that data crosses first; then the other directions of the links
    /// that carry data in both.
    pub links: Vec<LinkOutcome>,
    /// End of each sampling interval.
    pub sampled: Vec<Time>,
    /// Data packets that reached their destination, over the whole run.
    pub packets_delivered: u64,
    /// Events processed, over the whole run.
    pub events: u64,
}

/// One flow's results.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct FlowOutcome {
    /// Delivered for the first time within the measured interval.
    pub delivered: Bytes,
    /// Mean of the round-trip times measured within that interval, in seconds; NaN without one.
    pub mean_rtt: f64,
    /// Packets sent again, over the whole run.
    pub retransmitted_packets: u64,
    /// Loss events, timeouts included, over the whole run.
    pub loss_events: u64,
    /// Timeouts, over the whole run.
    pub timeouts: u64,
    /// Mean of the congestion window over the samples of the measured interval, in packets; none if the controller has none.
    pub mean_window: Option<f64>,
    /// From its start to the first time from which its mean throughput over the next 10 RTTs is at least 95 % of the spare
    /// capacity (the narrowest of its links, less the mean of the traffic on it that does not react).
    pub acquired: Option<Duration>,
    /// From its start until all of it was delivered, if it has a size and was.
    pub completed: Option<Duration>,
    /// Its time series, as long as [`Outcome::sampled`].
    pub series: FlowSeries,
}

/// A flow's samples, one per sampling interval.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct FlowSeries {
    /// Bytes delivered for the first time in the interval.
    pub delivered: Vec<u64>,
    /// Congestion window at its end, packets; NaN where the controller has none or the flow is not active.
    pub window: Vec<f64>,
    /// Sending rate at its end, bits per second; NaN where the controller has none or the flow is not active.
    pub rate: Vec<f64>,
    /// The newest estimate of the available bandwidth at its end, bits per second; NaN where the controller makes none or the flow is
    /// not active.
    pub available: Vec<f64>,
    /// Mean round-trip time in the interval, seconds; NaN without a sample.
    pub rtt: Vec<f64>,
    /// Packets sent again in the interval.
    pub retransmitted: Vec<u32>,
    /// What the controller was doing at its end; none while the flow is not active.
    pub phase: Vec<Option<Phase>>,
}

/// What came of the connections of a workload. What there is of both sides: the initiators' first.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct WorkloadOutcome {
    /// Connections that began.
    pub connections: u64,
    /// Those of them that came to their end.
    pub completed: u64,
    /// Each exchange that began, in the order in which they ended.
    pub transfers: Vec<Transfer>,
    /// What the connections that began within the measured interval had to send, on the wire.
    pub offered: [Bytes; 2],
    /// Delivered for the first time within the measured interval, on the wire.
    pub carried: [Bytes; 2],
    /// Packets that reached their destination, over the whole run.
    pub packets_delivered: u64,
    /// Packets sent again, over the whole run.
    pub retransmitted_packets: u64,
    /// Loss events, timeouts included, over the whole run.
    pub loss_events: u64,
    /// Timeouts, over the whole run.
    pub timeouts: u64,
    /// The most connections at the same time.
    pub most_active: u32,
    /// How many places it took to hold them.
    pub slots: u32,
    /// Its time series, as long as [`Outcome::sampled`].
    pub series: WorkloadSeries,
}

/// An exchange of a connection: a message, or several in a row, and what the other side answers. A plain transfer is one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transfer {
    /// Which connection of its workload, from 0.
    pub connection: u32,
    /// When it began: of a connection's first one, when the connection did.
    pub start: Time,
    /// Round-trip propagation delay.
    pub rtt: Duration,
    /// What either side handed over for it.
    pub sent: [Bytes; 2],
    /// How long it took until all of it had arrived; none if the run ended before.
    pub completed: Option<Duration>,
    /// Packets sent again for it.
    pub retransmitted: u32,
}

/// A workload's samples, one per sampling interval.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct WorkloadSeries {
    /// Bytes of either side delivered for the first time in the interval.
    pub delivered: [Vec<u64>; 2],
    /// Connections that were under way at its end.
    pub active: Vec<u32>,
}

/// One direction of one link.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct LinkOutcome {
    /// The link's name, followed by " (reverse)" for the direction from its far to its near end.
    pub name: String,
    /// Share of the measured interval in which it transmitted.
    pub utilization: f64,
    /// Mean number of packets that waited, over the measured interval and without the one in transmission.
    pub mean_queue: f64,
    /// The most packets that waited in the measured interval.
    pub max_queue: u64,
    /// Packets dropped by the queue in the measured interval.
    pub drops: u64,
    /// Those among them that it dropped before it was full.
    pub early_drops: u64,
    /// Packets lost to transmission errors in the measured interval.
    pub errors: u64,
    /// Packets of which a bit was flipped in the measured interval.
    pub corrupted: u64,
    /// Packets that took a detour in the measured interval, so that others overtook them.
    pub late: u64,
    /// Packets that were doubled in the measured interval.
    pub duplicates: u64,
    /// Its time series, as long as [`Outcome::sampled`].
    pub series: LinkSeries,
}

/// A link's samples, one per sampling interval.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct LinkSeries {
    /// Mean number of packets waiting over the interval.
    pub queue: Vec<f64>,
    /// The most packets waiting in the interval.
    pub max_queue: Vec<u64>,
    /// Packets dropped by the queue in the interval.
    pub drops: Vec<u32>,
    /// Share of the interval in which it transmitted.
    pub utilization: Vec<f64>,
    /// The rate that its router allows each flow at the end of the interval, bits per second; NaN if it says none. Empty
    /// without a router.
    pub allowed: Vec<f64>,
    /// By how many bytes its router lets the traffic in flight grow per control interval, at the end of this one; NaN if it does
    /// not say. Empty without a router.
    pub growth: Vec<f64>,
}
