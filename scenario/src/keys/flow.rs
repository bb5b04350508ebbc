//! `[[flow]]`.

use super::direction::Direction;
use super::misbehaviour::Misbehaviour;
use crate::values::time_range::TimeRange;
use control::{Bytes, Duration, Rate, Recovery};
use schemars::JsonSchema;
use serde::Deserialize;

/// One transfer, or several alike.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Flow {
    /// Its congestion controller; if not given, those of `[compare]`.
    pub controller: Option<String>,
    /// When it starts; at 0 s if not given. { uniform = ["0 s", "20 s"] } draws a time for each copy.
    pub start: TimeRange,
    /// When it stops sending; if not given, when everything is sent or the run ends.
    pub stop: Option<Duration>,
    /// How much it sends; without end if not given.
    pub size: Option<Bytes>,
    /// Round-trip propagation delay; if not given, the path's, or that of its route's links.
    /// { uniform = ["60 ms", "165 ms"] } draws one for each copy.
    pub rtt: Option<TimeRange>,
    /// The links it crosses, in order; the path's bottleneck if not given. Acknowledgments return over the same links.
    pub route: Option<Vec<String>>,
    /// Whether it crosses its route in the order given, or from its far end.
    pub direction: Direction,
    /// The number of copies of this flow; one if not given.
    pub count: Option<u64>,
    /// Size of its full packets, if not the scenario's.
    pub packet: Option<Bytes>,
    /// The most that it may have outstanding, in packets; no limit if not given.
    pub receive_window: Option<u64>,
    /// The most packets that leave together for one acknowledgment or timer; no limit if not given. BIC-2004 has 2.
    pub max_burst: Option<u64>,
    /// Space the packets of window protocols: so many windows per smoothed round-trip time, and at least 2 in slow
    /// start; 1.25 as QUIC (RFC 9002, section 7.7), 1.2 as Linux, 1 as Prague. The scenario's if not given.
    pub pacing: Option<f64>,
    /// How losses are repaired; as the controller's source says if not given.
    pub recovery: Option<Recovery>,
    /// Acknowledge every second packet, a single one after this time at the latest; the scenario's if not given.
    pub delayed_ack: Option<Duration>,
    /// Whether its packets are ECN-capable, so that queues mark them in place of dropping them; the scenario's if not
    /// given. The controller must react to marks.
    pub ecn: Option<bool>,
    /// Rate of the sender's own access link; the path's if not given.
    pub access: Option<Rate>,
    /// Interrupt coalescing: the receiving host learns of a packet, and of all that arrived after it, this long after
    /// its arrival; the scenario's if not given.
    pub coalesce: Option<Duration>,
    /// Each of its packets leaves up to this late, at random, and in order; the scenario's if not given.
    pub jitter: Option<Duration>,
    /// The shortest time between two departures that its sending host can keep; the scenario's if not given.
    pub quantum: Option<Duration>,
    /// How its receiver breaks the rules; it is honest if not given.
    pub misbehaviour: Option<Misbehaviour>,
}
