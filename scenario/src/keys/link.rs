//! `[path]`, `[[link]]` and the tables in them.

use crate::queue::Queue;
use crate::values::buffer::BufferSize;
use crate::values::packet_error::PacketError;
use control::{Bytes, Duration, Rate};
use schemars::JsonSchema;
use serde::Deserialize;

/// The link that all flows of a dumbbell share.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(extend("oneOf" = [{"required": ["rate"]}, {"required": ["trace"]}]))]
pub struct Path {
    /// Its capacity, in either direction unless `reverse` gives another; not with `trace`.
    pub rate: Option<Rate>,
    /// A file, beside the scenario, of the times at which the link can deliver, in either direction: a whole number of
    /// milliseconds per line, each an opportunity to deliver 1504 bytes. The trace repeats. In place of `rate`.
    pub trace: Option<String>,
    /// A token bucket that limits the rate in the long run, in each direction for itself. Packets wait for tokens.
    pub shaper: Option<Shaper>,
    /// Round-trip propagation delay, hosts' access included, of flows that have no RTT of their own.
    pub rtt: Duration,
    /// Aggregation, as on wireless links: what it has sent is delivered in batches, at multiples of this time and in
    /// order, in either direction. If not given, each packet is delivered when it arrives.
    pub aggregate: Option<Duration>,
    /// An extra delay that varies at random over time and keeps packets in order, in each direction for itself.
    pub jitter: Option<Jitter>,
    /// How much may wait at it: "1 bdp" (its rate times the mean RTT of its flows), "20 ms" (at its rate), "750
    /// packets" or "9 MB".
    pub buffer: BufferSize,
    /// Which packets wait, which is sent next and which are dropped: a queue discipline, like "codel"; or the
    /// router that takes part, like "rcp-ac"; or "matching" for the router of the flows' controller, if it has one.
    #[serde(default)]
    pub queue: Queue,
    /// Probability that a packet is lost to a transmission error, 0 or more and less than 1, or bursts of errors.
    #[serde(default)]
    pub packet_error: PacketError,
    /// Probability that a packet arrives with a flipped bit. In the simulator such a packet is discarded.
    #[serde(default)]
    pub corrupt: f64,
    /// Packets that take a detour, so that later ones overtake them.
    pub reorder: Option<Reorder>,
    /// Probability that a packet arrives twice.
    #[serde(default)]
    pub duplicate: f64,
    /// Changes of its rate and delay, in the order of time.
    #[serde(default)]
    pub change: Vec<Change>,
    /// What is different from its far to its near end: in the direction of acknowledgments of forward flows.
    pub reverse: Option<Reverse>,
    /// Rate of the sender's own access link, of flows that do not give it; if not given, access links have no limit.
    pub access: Option<Rate>,
    /// The part of the one-way delay that the shared link has; if not given, half of the smallest RTT.
    pub delay: Option<Duration>,
}

/// A link of an arbitrary network.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(extend("oneOf" = [{"required": ["rate"]}, {"required": ["trace"]}]))]
pub struct Link {
    /// What routes and results call it.
    pub name: String,
    /// Its capacity, in either direction unless `reverse` gives another; not with `trace`.
    pub rate: Option<Rate>,
    /// A file, beside the scenario, of the times at which the link can deliver, in either direction: a whole number of
    /// milliseconds per line, each an opportunity to deliver 1504 bytes. The trace repeats. In place of `rate`.
    pub trace: Option<String>,
    /// A token bucket that limits the rate in the long run, in each direction for itself. Packets wait for tokens.
    pub shaper: Option<Shaper>,
    /// Its propagation delay, one way.
    pub delay: Duration,
    /// Aggregation, as on wireless links: what it has sent is delivered in batches, at multiples of this time and in
    /// order, in either direction. If not given, each packet is delivered when it arrives.
    pub aggregate: Option<Duration>,
    /// An extra delay that varies at random over time and keeps packets in order, in each direction for itself.
    pub jitter: Option<Jitter>,
    /// How much may wait at it: "1 bdp" (its rate times the mean RTT of its flows), "20 ms" (at its rate), "750
    /// packets" or "9 MB".
    pub buffer: BufferSize,
    /// Which packets wait, which is sent next and which are dropped: a queue discipline, like "codel"; or the
    /// router that takes part, like "rcp-ac"; or "matching" for the router of the flows' controller, if it has one.
    #[serde(default)]
    pub queue: Queue,
    /// Probability that a packet is lost to a transmission error, 0 or more and less than 1, or bursts of errors.
    #[serde(default)]
    pub packet_error: PacketError,
    /// Probability that a packet arrives with a flipped bit. In the simulator such a packet is discarded.
    #[serde(default)]
    pub corrupt: f64,
    /// Packets that take a detour, so that later ones overtake them.
    pub reorder: Option<Reorder>,
    /// Probability that a packet arrives twice.
    #[serde(default)]
    pub duplicate: f64,
    /// Changes of its rate and delay, in the order of time.
    #[serde(default)]
    pub change: Vec<Change>,
    /// What is different from its far to its near end: in the direction of acknowledgments of forward flows.
    pub reverse: Option<Reverse>,
}

/// What is different in the reverse direction of a link. Keys that are not given are as in the forward direction.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(extend("not" = {"required": ["rate", "trace"]}))]
pub struct Reverse {
    /// Its capacity; not with `trace`. Then the forward direction's trace and changes of rate do not apply to it.
    pub rate: Option<Rate>,
    /// A file of delivery opportunities, in place of `rate`.
    pub trace: Option<String>,
    /// A token bucket that limits the rate in the long run.
    pub shaper: Option<Shaper>,
    /// Its propagation delay, one way. Then the forward direction's changes of delay do not apply to it.
    pub delay: Option<Duration>,
    /// Aggregation: packets arrive in batches, at multiples of this time; "0 s" for none.
    pub aggregate: Option<Duration>,
    /// An extra delay that varies at random over time and keeps packets in order; with a mean of "0 s", none.
    pub jitter: Option<Jitter>,
    /// How much may wait at it. A size in bdp or time is computed with its own rate.
    pub buffer: Option<BufferSize>,
    /// Which packets wait, which is sent next and which are dropped.
    pub queue: Option<Queue>,
    /// Probability that a packet is lost to a transmission error, 0 or more and less than 1, or bursts of errors.
    pub packet_error: Option<PacketError>,
    /// Probability that a packet arrives with a flipped bit.
    pub corrupt: Option<f64>,
    /// Packets that take a detour, so that later ones overtake them.
    pub reorder: Option<Reorder>,
    /// Probability that a packet arrives twice.
    pub duplicate: Option<f64>,
    /// Changes of its rate and delay, in the order of time.
    pub change: Option<Vec<Change>>,
}

/// A token bucket that limits the rate in the long run. Packets wait for tokens.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Shaper {
    /// The rate in the long run, at which tokens come. It has no effect if it is above the link's.
    pub rate: Rate,
    /// The most tokens: how much passes at the link's rate after a pause.
    pub burst: Bytes,
}

/// An extra delay that varies at random over time and keeps packets in order.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Jitter {
    /// Its mean. It is distributed exponentially.
    pub mean: Duration,
    /// The time after which its autocorrelation has fallen to 1/e.
    pub correlation: Duration,
}

/// Packets that take a detour, so that later ones overtake them.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reorder {
    /// Probability that a packet takes the detour.
    pub probability: f64,
    /// How much longer the detour takes.
    pub delay: Duration,
}

/// A change of a link.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// When the change happens.
    pub at: Duration,
    /// The link's rate from then on; nothing is sent while it is "0 bps". Unchanged if not given.
    pub rate: Option<Rate>,
    /// The link's delay from then on, one way. Unchanged if not given.
    pub delay: Option<Duration>,
}
