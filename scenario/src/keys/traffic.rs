//! `[[traffic]]`: tables of several kinds. The keys of a kind are those of several structs, because kinds share most of
//! their keys; [`KINDS`] says which structs a kind has.

use super::direction::Direction;
use crate::values::offered_load::OfferedLoad;
use crate::values::size::Size;
use crate::values::time_range::TimeRange;
use control::{Bytes, Duration, Rate, Recovery};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// The keys that all kinds have.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct CommonKeys {
    /// When it starts; at 0 s if not given.
    #[serde(default)]
    pub start: Duration,
    /// When it stops; at the end of the run if not given.
    pub stop: Option<Duration>,
    /// The links it crosses, in order; the path's bottleneck if not given.
    pub route: Option<Vec<String>>,
    /// Whether it crosses its route in the order given, or from its far end. Of connections: the data of `flows` and
    /// `frames`, the responses of other kinds.
    #[serde(default)]
    pub direction: Direction,
    /// Size of its full packets on the wire, if not the scenario's.
    pub packet: Option<Bytes>,
}

/// The keys of `cbr`, `poisson` and `onoff`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct RateKeys {
    /// Its rate on the wire; of onoff, while it is on.
    pub rate: Rate,
}

/// The keys of `onoff`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct OnOffKeys {
    /// Mean length of the periods in which it is on.
    pub on: Duration,
    /// Mean length of the periods in which it is off.
    pub off: Duration,
    /// Shape of the Pareto distribution of both, 1.01 to 10; up to 2, their variance is infinite.
    #[serde(default = "defaults::shape")]
    pub shape: f64,
}

/// The keys of all kinds of connections: what their hosts do.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct HostKeys {
    /// What results call it; its kind if not given.
    pub name: Option<String>,
    /// Congestion controller of both sides' data. If not given: of flows, video and frames, those of `[compare]`; of
    /// web and tmix, "reno".
    pub controller: Option<String>,
    /// Whether a round trip opens each connection, as with TCP; true if not given.
    #[serde(default = "defaults::handshake")]
    pub handshake: bool,
    /// The most that a connection may have outstanding either way, in packets; no limit if not given.
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
    /// Whether packets are ECN-capable, as of a flow; the scenario's if not given.
    pub ecn: Option<bool>,
    /// Whether the window begins again with slow start after an idle period; the scenario's if not given.
    pub idle_restart: Option<bool>,
}

/// The keys of `flows`, `web`, `video` and `frames`: when connections arrive.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct ArrivalKeys {
    /// Mean number of connections per second, which arrive as a Poisson process. Sessions of video and frames that have
    /// none begin together.
    pub per_second: Option<f64>,
    /// The most connections that arrive; no limit if not given. Of video and frames without `per-second`: the number of
    /// sessions; 1 if not given.
    pub count: Option<u64>,
    /// Round-trip propagation delay; if not given, the path's, or that of its route's links.
    /// { uniform = ["60 ms", "165 ms"] } draws one for each connection.
    pub rtt: Option<TimeRange>,
}

/// The keys of `flows` and `web`: how many connections arrive.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct LoadKeys {
    /// The mean load that connections offer, on the wire, in `direction`; in place of `per-second`.
    pub load: Option<OfferedLoad>,
}

/// The keys of `flows`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct FlowsKeys {
    /// What each transfer sends, on the wire.
    pub size: Size,
}

/// The keys of `web`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct WebKeys {
    /// Mean number of objects per session, geometrically distributed; 5 if not given.
    #[serde(default = "defaults::objects")]
    pub objects: f64,
    /// Size of an object, without headers; Pareto with a mean of 12 kB and a shape of 1.2 if not given.
    pub object: Option<Size>,
    /// Size of a request, without headers; "400 B" if not given.
    pub request: Option<Size>,
    /// Mean time from an object's arrival to the next request, exponentially distributed; 1 s if not given.
    #[serde(default = "defaults::think")]
    pub think: Duration,
}

/// The keys of `video`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct VideoKeys {
    /// Playing time of a segment; "4 s" if not given.
    #[serde(default = "defaults::segment")]
    pub segment: Duration,
    /// The bitrates of the video, rising; 1, 2.5, 5 and 8 Mbps if not given.
    pub bitrates: Option<Vec<Rate>>,
    /// The playing time in the player's buffer above which it does not ask for the next segment; "30 s" if not given.
    #[serde(default = "defaults::buffer")]
    pub buffer: Duration,
    /// How the player chooses the bitrate of a segment; "throughput" if not given.
    #[serde(default)]
    pub rule: BitrateRule,
}

/// The keys of `video` and `frames`: how long a session lasts.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct LengthKeys {
    /// Playing time of a video, or the time in which a source produces frames; without end if not given.
    pub length: Option<Duration>,
}

/// The keys of `frames`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct FramesKeys {
    /// Frames per second; 30 if not given.
    #[serde(default = "defaults::fps")]
    pub fps: f64,
    /// The rate at which frames are produced, without headers. All have the same size.
    pub bitrate: Rate,
}

/// How a player chooses the bitrate of a segment.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum BitrateRule {
    /// The highest below the harmonic mean of the throughputs of the last five segments.
    #[default]
    Throughput,
    /// By the playing time in the buffer (BBA-0).
    Buffer,
}

/// The keys of `tmix`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct TmixKeys {
    /// A file of connection vectors, beside the scenario.
    pub file: Option<String>,
    /// The mean load of a synthetic mix, on the wire, in the direction of the responses; in place of `file`.
    pub load: Option<OfferedLoad>,
}

/// The defaults of keys that are not optional.
mod defaults {
    use control::Duration;

    pub fn shape() -> f64 {
        1.5
    }
    pub fn handshake() -> bool {
        true
    }
    pub fn objects() -> f64 {
        5.0
    }
    pub fn think() -> Duration {
        Duration::from_millis(1000)
    }
    pub fn fps() -> f64 {
        30.0
    }
    pub fn segment() -> Duration {
        Duration::from_millis(4000)
    }
    pub fn buffer() -> Duration {
        Duration::from_millis(30_000)
    }
}

/// The JSON Schema of a struct.
type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// A kind of traffic.
pub(crate) struct TrafficKind {
    /// The name that `kind` gives.
    pub name: &'static str,
    /// What it is, in a sentence.
    summary: &'static str,
    /// The structs that have its keys.
    keys: &'static [SchemaOf],
}

/// All kinds of traffic, in the order in which users read of them.
pub(crate) static KINDS: [TrafficKind; 8] = [
    TrafficKind {
        name: "cbr",
        summary: "Packets at equal intervals.",
        keys: &[RateKeys::json_schema, CommonKeys::json_schema],
    },
    TrafficKind {
        name: "poisson",
        summary: "Packets that leave independently of each other.",
        keys: &[RateKeys::json_schema, CommonKeys::json_schema],
    },
    TrafficKind {
        name: "onoff",
        summary: "Packets at equal intervals while it is on; the periods on and off have Pareto distributed lengths.",
        keys: &[RateKeys::json_schema, OnOffKeys::json_schema, CommonKeys::json_schema],
    },
    TrafficKind {
        name: "flows",
        summary: "Transfers that arrive independently of each other.",
        keys: &[
            FlowsKeys::json_schema,
            ArrivalKeys::json_schema,
            LoadKeys::json_schema,
            HostKeys::json_schema,
            CommonKeys::json_schema,
        ],
    },
    TrafficKind {
        name: "web",
        summary: "Web sessions: over a connection, requests and objects one after the other, with time to think in between.",
        keys: &[
            WebKeys::json_schema,
            ArrivalKeys::json_schema,
            LoadKeys::json_schema,
            HostKeys::json_schema,
            CommonKeys::json_schema,
        ],
    },
    TrafficKind {
        name: "video",
        summary: "Sessions of adaptive streaming: over a connection, a player asks for one segment after the other.",
        keys: &[
            VideoKeys::json_schema,
            LengthKeys::json_schema,
            ArrivalKeys::json_schema,
            HostKeys::json_schema,
            CommonKeys::json_schema,
        ],
    },
    TrafficKind {
        name: "frames",
        summary: "Sources of a video call: over a connection, frames at equal intervals.",
        keys: &[
            FramesKeys::json_schema,
            LengthKeys::json_schema,
            ArrivalKeys::json_schema,
            HostKeys::json_schema,
            CommonKeys::json_schema,
        ],
    },
    TrafficKind {
        name: "tmix",
        summary: "The connections in a file of Tmix, or a synthetic mix like a campus link's.",
        keys: &[TmixKeys::json_schema, HostKeys::json_schema, CommonKeys::json_schema],
    },
];

impl TrafficKind {
    /// The names of all its keys.
    pub fn key_names(&self) -> Vec<String> {
        key_names(&self.schema(&mut SchemaGenerator::default()))
    }

    /// The JSON Schema of a table of this kind.
    fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        let mut properties = Map::new();
        properties.insert("kind".into(), json_schema!({"description": self.summary, "const": self.name}).into());
        let mut required = vec![Value::from("kind")];
        for keys in self.keys {
            let mut schema = keys(generator);
            let table = schema.ensure_object();
            if let Some(Value::Object(own)) = table.remove("properties") {
                properties.extend(own);
            }
            if let Some(Value::Array(own)) = table.remove("required") {
                required.extend(own);
            }
        }
        json_schema!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
    }
}

/// The names of the keys in the schema of a table.
pub(crate) fn key_names(schema: &Schema) -> Vec<String> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.into_iter().flatten().map(|(name, _)| name.clone()).collect()
}

/// The JSON Schema of a `[[traffic]]`: a table of one of the kinds.
pub struct TrafficSchema;

impl JsonSchema for TrafficSchema {
    fn schema_name() -> Cow<'static, str> {
        "Traffic".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let kinds = KINDS.each_ref().map(|kind| Value::from(kind.schema(generator)));
        json_schema!({"oneOf": kinds})
    }
}
