//! The keys of a scenario file, as they are written. Their descriptions are also those of the JSON Schema.

use super::buffer::BufferSize;
use super::impairments::{PacketError, Reorder};
use super::queue::Queue;
use super::spread::Spread;
use super::traffic::AnyKind;
use control::{Bytes, Duration, Rate, Recovery};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// What to simulate with Thalweg: a network, the flows through it, and which runs to make and compare. Times, rates and sizes
/// are texts with a unit, like "100 ms", "1 Gbps" and "64 kB".
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(title = "Thalweg scenario")]
pub struct Scenario {
    /// What results are titled; the file's name if not given.
    pub title: Option<String>,
    /// How long to simulate.
    pub duration: Duration,
    /// Everything random follows from it: the same seed gives the same results on any machine.
    #[serde(default = "defaults::seed")]
    pub seed: u64,
    /// How often throughput, window, RTT and queues are sampled for the plots.
    #[serde(default = "defaults::sample")]
    pub sample: Duration,
    /// The interval over which means and totals are taken.
    #[serde(default)]
    pub measure: Measure,
    /// Size of a full packet on the wire, headers included.
    #[serde(default = "defaults::packet")]
    pub packet: Bytes,
    /// Size of an acknowledgment on the wire.
    #[serde(default = "defaults::ack")]
    pub ack: Bytes,
    /// Acknowledge every second packet (RFC 5681), a single one after this time at the latest. If not given, every packet is
    /// acknowledged.
    pub delayed_ack: Option<Duration>,
    /// Interrupt coalescing: receivers are told of a packet, and of all that came after it, so long after it came. If not given,
    /// at once.
    pub coalesce: Option<Duration>,
    /// Each packet of a flow leaves up to this late, at random, and in order: as hosts do, whose timers and schedulers are not
    /// exact. If not given, on time.
    pub jitter: Option<Duration>,
    /// Least retransmission timeout: RFC 6298 says 1 s, Linux uses 200 ms.
    #[serde(default = "defaults::min_rto")]
    pub min_rto: Duration,
    /// The common dumbbell: all flows share one link, which is named "bottleneck".
    pub path: Option<Path>,
    /// Links of an arbitrary network, for flows to name in their routes.
    #[serde(default)]
    pub link: Vec<Link>,
    /// The transfers. With `[compare]`, one that starts at once and never ends is assumed if none is given.
    #[serde(default)]
    pub flow: Vec<Flow>,
    /// Other traffic: packets that do not react to congestion.
    #[serde(default)]
    #[schemars(with = "Vec<AnyKind>")]
    pub traffic: Vec<Map<String, Value>>,
    /// Parameters of controllers that shall differ from the papers' values: a table for each controller.
    #[serde(default)]
    pub controller: BTreeMap<String, Map<String, Value>>,
    /// Makes one run for each of several controllers.
    pub compare: Option<Compare>,
    /// Makes one run for each value, or each combination of values, of any keys: "path.rate" = ["1 Gbps", "10 Gbps"].
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, Vec<Value>>")]
    pub sweep: Map<String, Value>,
}

/// The interval over which means and totals are taken.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Measure {
    /// Where it begins; at 0 s if not given.
    #[serde(default)]
    pub from: Duration,
    /// Where it ends; at the end of the run if not given.
    pub to: Option<Duration>,
}

/// The link that all flows of a dumbbell share.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(extend("oneOf" = [{"required": ["rate"]}, {"required": ["trace"]}]))]
pub struct Path {
    /// Its capacity, in either direction; not with `trace`.
    pub rate: Option<Rate>,
    /// A file, beside the scenario's, of the times at which it delivers, in either direction: a whole number of milliseconds per
    /// line, each an opportunity to deliver 1504 bytes; it repeats. In place of `rate`.
    pub trace: Option<String>,
    /// Round-trip propagation delay, hosts' access included, of flows that have no RTT of their own.
    pub rtt: Duration,
    /// How much may wait at it: "1 bdp" (its rate times the mean RTT of its flows), "750 packets" or "9 MB".
    pub buffer: BufferSize,
    /// Who waits, who goes next and who is dropped: "droptail", "red", "ared" (adaptive RED), "codel" or "fq-codel"; or the router
    /// that takes part: "rcp-ac", "rcp" or "xcp"; or "matching" for the router of the flows' controller, if it has one.
    #[serde(default)]
    pub queue: Queue,
    /// Probability that a packet is lost to a transmission error, 0 or more and less than 1, or bursts of errors.
    #[serde(default)]
    pub packet_error: PacketError,
    /// Probability that a packet arrives with a bit flipped, which in the simulator nobody takes.
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
    /// Rate of the sender's own access link, of flows that do not give it; if not given, it is never the limit.
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
    /// Its capacity, in either direction; not with `trace`.
    pub rate: Option<Rate>,
    /// A file, beside the scenario's, of the times at which it delivers, in either direction: a whole number of milliseconds per
    /// line, each an opportunity to deliver 1504 bytes; it repeats. In place of `rate`.
    pub trace: Option<String>,
    /// Its propagation delay, one way.
    pub delay: Duration,
    /// How much may wait at it: "1 bdp" (its rate times the mean RTT of its flows), "750 packets" or "9 MB".
    pub buffer: BufferSize,
    /// Who waits, who goes next and who is dropped: "droptail", "red", "ared" (adaptive RED), "codel" or "fq-codel"; or the router
    /// that takes part: "rcp-ac", "rcp" or "xcp"; or "matching" for the router of the flows' controller, if it has one.
    #[serde(default)]
    pub queue: Queue,
    /// Probability that a packet is lost to a transmission error, 0 or more and less than 1, or bursts of errors.
    #[serde(default)]
    pub packet_error: PacketError,
    /// Probability that a packet arrives with a bit flipped, which in the simulator nobody takes.
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
}

/// A change of a link.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// When.
    pub at: Duration,
    /// Its rate from then on, "0 bps" while nothing moves; as before if not given.
    pub rate: Option<Rate>,
    /// Its delay from then on, one way; as before if not given.
    pub delay: Option<Duration>,
}

/// One transfer, or several alike.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Flow {
    /// Its congestion controller; if not given, those of `[compare]`.
    pub controller: Option<String>,
    /// When it starts; at 0 s if not given. { uniform = ["0 s", "20 s"] } draws a time for each copy.
    pub start: Spread,
    /// When it stops sending; if not given, when everything is sent or the run ends.
    pub stop: Option<Duration>,
    /// How much it sends; without end if not given.
    pub size: Option<Bytes>,
    /// Round-trip propagation delay; if not given, the path's, or that of its route's links.
    /// { uniform = ["60 ms", "165 ms"] } draws one for each copy.
    pub rtt: Option<Spread>,
    /// The links it crosses, in order; the path's bottleneck if not given. Acknowledgments return over the same links.
    pub route: Option<Vec<String>>,
    /// Whether it crosses its route in the order given, or from its far end.
    pub direction: Direction,
    /// How many such flows there are; one if not given.
    pub count: Option<u64>,
    /// Size of its full packets, if not the scenario's.
    pub packet: Option<Bytes>,
    /// The most that it may have outstanding, in packets; no limit if not given.
    pub receive_window: Option<u64>,
    /// How losses are repaired; as the controller's source says if not given.
    pub recovery: Option<Recovery>,
    /// Acknowledge every second packet, a single one after this time at the latest; the scenario's if not given.
    pub delayed_ack: Option<Duration>,
    /// Rate of the sender's own access link; the path's if not given.
    pub access: Option<Rate>,
    /// Interrupt coalescing: its receiver is told of a packet, and of all that came after it, so long after it came; the
    /// scenario's if not given.
    pub coalesce: Option<Duration>,
    /// Each of its packets leaves up to this late, at random, and in order; the scenario's if not given.
    pub jitter: Option<Duration>,
}

/// Which way along a route.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// From its first link to its last.
    #[default]
    Forward,
    /// From its last link to its first.
    Reverse,
}

/// One run for each of several controllers.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Compare {
    /// The controllers; each in turn controls the flows that name none.
    pub controllers: Vec<String>,
}

/// What holds where nothing is said.
mod defaults {
    use super::{Bytes, Duration};

    pub fn seed() -> u64 {
        1
    }
    pub fn sample() -> Duration {
        Duration::from_millis(50)
    }
    pub fn packet() -> Bytes {
        Bytes(1000)
    }
    pub fn ack() -> Bytes {
        Bytes(40)
    }
    pub fn min_rto() -> Duration {
        Duration::from_millis(200)
    }
}
