//! The keys of a scenario file. The doc comments are also the descriptions in the JSON Schema, which editors show to
//! users.

mod direction;
mod flow;
mod link;
mod misbehaviour;
pub(crate) mod traffic;

use control::{Bytes, Duration};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use traffic::TrafficSchema;

pub use direction::Direction;
pub use flow::Flow;
pub use link::{Change, Jitter, Link, Path, Reorder, Reverse, Shaper};
pub use misbehaviour::Misbehaviour;

/// What to simulate with Thalweg: a network, the flows through it, and which runs to make and compare. Times, rates and
/// sizes are texts with a unit, like "100 ms", "1 Gbps" and "64 kB".
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(title = "Thalweg scenario")]
pub struct Scenario {
    /// What results are titled; the file's name if not given.
    pub title: Option<String>,
    /// How long to simulate.
    pub duration: Duration,
    /// The seed of all random numbers: the same seed gives the same results on any machine.
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
    /// Acknowledge every second packet (RFC 5681), a single one after this time at the latest. If not given, every
    /// packet is acknowledged.
    pub delayed_ack: Option<Duration>,
    /// Whether packets are ECN-capable, so that queues mark them in place of dropping them. If true, those of all flows
    /// and connections whose controllers react to marks are; if not given, those of L4S controllers are (DCTCP,
    /// Prague).
    pub ecn: Option<bool>,
    /// Interrupt coalescing: a receiving host learns of a packet, and of all that arrived after it, this long after its
    /// arrival. If not given, hosts learn of each packet at once.
    pub coalesce: Option<Duration>,
    /// Each packet of a flow leaves up to this late, at random, and in order, as from hosts whose timers and schedulers
    /// are not exact. If not given, packets leave on time.
    pub jitter: Option<Duration>,
    /// Space the packets of window protocols: so many windows per smoothed round-trip time, and at least 2 in slow
    /// start; 1.25 as QUIC (RFC 9002, section 7.7), 1.2 as Linux, 1 as Prague. If not given, packets leave as soon as
    /// the window allows.
    pub pacing: Option<f64>,
    /// The shortest time between two departures that the sending hosts of flows can keep. Controllers that probe with
    /// every packet then send bursts. If not given, hosts can time any gap.
    pub quantum: Option<Duration>,
    /// Least margin of the retransmission timeout over the smoothed round-trip time; Linux uses 200 ms. (RFC 6298 has a
    /// least timeout instead, of 1 s.)
    #[serde(default = "defaults::min_rto")]
    pub min_rto: Duration,
    /// Whether the window of a connection begins again with slow start after the connection was idle for longer than
    /// its retransmission timeout (RFC 5681, section 4.1; Linux's tcp_slow_start_after_idle); false if not given.
    #[serde(default)]
    pub idle_restart: bool,
    /// The common dumbbell: all flows share one link, which is named "bottleneck".
    pub path: Option<Path>,
    /// Links of an arbitrary network, for flows to name in their routes.
    #[serde(default)]
    pub link: Vec<Link>,
    /// The transfers. With `[compare]`, one that starts at once and never ends is assumed if none is given.
    #[serde(default)]
    pub flow: Vec<Flow>,
    /// Other traffic: packets that do not react to congestion, and connections that come and go.
    #[serde(default)]
    #[schemars(with = "Vec<TrafficSchema>")]
    pub traffic: Vec<Map<String, Value>>,
    /// Parameters of controllers that differ from the papers' values: a table for each controller.
    #[serde(default)]
    pub controller: BTreeMap<String, Map<String, Value>>,
    /// Makes one run for each of several controllers.
    #[expect(dead_code, reason = "`grid` reads it from the document, before each run's keys are read")]
    pub compare: Option<Compare>,
    /// Makes one run for each value, or each combination of values, of any keys: "path.rate" = ["1 Gbps", "10 Gbps"].
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, Vec<Value>>")]
    #[expect(dead_code, reason = "`grid` reads it from the document, before each run's keys are read")]
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

/// One run for each of several controllers.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Compare {
    /// The controllers; each in turn controls the flows that name none.
    pub controllers: Vec<String>,
}

/// The defaults of keys that are not optional.
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
