//! The outcome of a run: totals over the measured interval, and time series.

use crate::statistics::largest;
use control::{Bytes, Duration, Phase, Time};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The outcome of a run. That of a simulated run depends on nothing but the [`Experiment`](crate::Experiment).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Outcome {
    /// The flows, in the experiment's order.
    pub flows: Vec<FlowOutcome>,
    /// The workloads, in the experiment's order.
    pub workloads: Vec<WorkloadOutcome>,
    /// The links, in the experiment's order, each in the direction in which it carries data; then the other directions
    /// of the links that carry data in both, and of those whose directions differ.
    pub links: Vec<LinkOutcome>,
    /// The end of each sampling interval.
    pub sampled: Vec<Time>,
    /// Data packets that reached their destination, over the whole run.
    pub packets_delivered: u64,
    /// Events processed, over the whole run.
    pub events: u64,
}

impl Outcome {
    /// The link direction with the largest utilization over the measured interval; of several, the first.
    pub fn busiest_link(&self) -> Option<&LinkOutcome> {
        largest(self.links.iter().map(|link| link.utilization)).map(|i| &self.links[i])
    }
}

/// One flow's results.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct FlowOutcome {
    /// Bytes delivered for the first time within the measured interval.
    pub delivered: Bytes,
    /// Mean of the round-trip times measured within that interval, in seconds; NaN if none was measured.
    pub mean_rtt: f64,
    /// Packets sent again, over the whole run.
    pub retransmitted_packets: u64,
    /// Loss events, timeouts included, over the whole run.
    pub loss_events: u64,
    /// Timeouts, over the whole run.
    pub timeouts: u64,
    /// Mean of the congestion window over the samples of the measured interval, in packets; none if the controller has
    /// none.
    pub mean_window: Option<f64>,
    /// Time from the flow's start to the first time from which its mean throughput over the next 10 RTTs is at least 95
    /// % of the spare capacity (the narrowest of its links, less the mean of the traffic on it that does not react).
    pub acquired: Option<Duration>,
    /// Time from the flow's start until all of its data was delivered; none if it has no size, or was not delivered
    /// before the run ended.
    pub completed: Option<Duration>,
    /// The time series, each as long as [`Outcome::sampled`].
    pub series: FlowSeries,
}

impl FlowOutcome {
    /// Bytes delivered for the first time within `samples`, by their index.
    pub fn delivered_in(&self, samples: Range<usize>) -> f64 {
        self.series.delivered[samples].iter().sum::<u64>() as f64
    }
}

/// A flow's samples, one per sampling interval.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct FlowSeries {
    /// Bytes delivered for the first time in the interval.
    pub delivered: Vec<u64>,
    /// Congestion window at the end of the interval, packets; NaN where the controller has none or the flow is not
    /// active.
    pub window: Vec<f64>,
    /// Sending rate at the end of the interval, bits per second; NaN where the controller has none or the flow is not
    /// active.
    pub rate: Vec<f64>,
    /// The newest estimate of the available bandwidth at the end of the interval, bits per second; NaN where the
    /// controller makes none or the flow is not active.
    pub available: Vec<f64>,
    /// Mean round-trip time in the interval, seconds; NaN without a sample.
    pub rtt: Vec<f64>,
    /// Packets sent again in the interval.
    pub retransmitted: Vec<u32>,
    /// The controller's phase at the end of the interval; none while the flow is not active.
    pub phase: Vec<Option<Phase>>,
}

/// The results of the connections of a workload. Of a pair, the first is the initiators', the second the acceptors'.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct WorkloadOutcome {
    /// How many connections began.
    pub connections: u64,
    /// How many of these ended before the run did.
    pub completed: u64,
    /// The transfers that began, in the order in which they ended; those that did not end are last.
    pub transfers: Vec<Transfer>,
    /// Pair: what the connections that began within the measured interval had to send, headers included.
    pub offered: [Bytes; 2],
    /// Pair: what was delivered for the first time within the measured interval, headers included.
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
    /// How many places in memory the runner used for connections.
    pub slots: u32,
    /// The sessions of video players, in the order of their connections; of other connections none.
    pub videos: Vec<VideoSession>,
    /// The time series, each as long as [`Outcome::sampled`].
    pub series: WorkloadSeries,
}

impl WorkloadOutcome {
    /// How long the transfers took that began within `span` (its end excluded) and were completed before the run ended,
    /// in seconds, in rising order.
    pub fn completion_seconds(&self, (from, to): (Time, Time)) -> Vec<f64> {
        let began = |transfer: &&Transfer| from <= transfer.start && transfer.start < to;
        let times = self.transfers.iter().filter(began).filter_map(|transfer| transfer.completed);
        let mut times: Vec<f64> = times.map(|time| time.as_secs()).collect();
        times.sort_by(f64::total_cmp);
        times
    }
}

/// A transfer: a message of a connection, or several in a row, with the other side's answer; or all data of a
/// connection without messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transfer {
    /// The number of the connection in its workload, from 0.
    pub connection: u32,
    /// When the transfer began; a connection's first transfer begins with the connection.
    pub start: Time,
    /// Round-trip propagation delay.
    pub rtt: Duration,
    /// Pair: bytes that either side had to send for it.
    pub sent: [Bytes; 2],
    /// How long it took until all of its data had arrived; none if the run ended before.
    pub completed: Option<Duration>,
    /// How many packets were sent again for it.
    pub retransmitted: u32,
}

/// A session of a video player, until the video or the run ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VideoSession {
    /// The number of the connection in its workload, from 0.
    pub connection: u32,
    /// When the session and its connection began.
    pub start: Time,
    /// How long it took from then until the first segment had arrived and playing began; none if it never did.
    pub startup: Option<Duration>,
    /// How many segments have arrived.
    pub segments: u64,
    /// Their mean bitrate, bits per second; NaN without a segment.
    pub bitrate: f64,
    /// How many of them had another bitrate than the one before.
    pub switches: u32,
    /// How long the video has played. If all of it has arrived, its whole length.
    pub played: Duration,
    /// How long playing has stalled since it began, because the next segment had not arrived.
    pub stalled: Duration,
}

impl VideoSession {
    /// The share of the time since playing began in which it stalled, 0 to 1; NaN if it never began.
    pub fn stalled_share(&self) -> f64 {
        self.stalled.as_secs() / (self.played + self.stalled).as_secs()
    }
}

/// A workload's samples, one per sampling interval.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct WorkloadSeries {
    /// Pair: bytes of either side delivered for the first time in the interval.
    pub delivered: [Vec<u64>; 2],
    /// How many connections were under way at the end of the interval.
    pub active: Vec<u32>,
}

/// One direction of one link.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct LinkOutcome {
    /// The link's name, followed by " (reverse)" for the direction from its far to its near end.
    pub name: String,
    /// Share of the measured interval in which the link transmitted, 0 to 1.
    pub utilization: f64,
    /// Mean number of packets that waited, over the measured interval and without the one in transmission.
    pub mean_queue: f64,
    /// The most packets that waited in the measured interval.
    pub max_queue: u64,
    /// Packets dropped by the queue in the measured interval.
    pub drops: u64,
    /// How many of these were dropped before the queue was full.
    pub early_drops: u64,
    /// Packets that the queue marked in place of dropping them (ECN), within the measured interval.
    pub marks: u64,
    /// Packets lost to transmission errors in the measured interval.
    pub errors: u64,
    /// Packets corrupted (a bit was flipped) in the measured interval.
    pub corrupted: u64,
    /// Packets reordered in the measured interval: they took a detour, and later packets overtook them.
    pub late: u64,
    /// Packets duplicated in the measured interval.
    pub duplicates: u64,
    /// The time series, each as long as [`Outcome::sampled`].
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
    /// Share of the interval in which the link transmitted, 0 to 1.
    pub utilization: Vec<f64>,
    /// The rate that its router allows each flow at the end of the interval, bits per second; NaN if it says none.
    /// Empty without a router.
    pub allowed: Vec<f64>,
    /// By how many bytes its router lets the traffic in flight grow per control interval, at the end of this one; NaN
    /// if it does not say. Empty without a router.
    pub growth: Vec<f64>,
}
