//! `[[traffic]]`: tables of several kinds, each with keys of its own.

use super::experiment::{self, Problems};
use super::key_path::KeyPath;
use super::keys::{Direction, Scenario};
use super::network::Network;
use super::wording;
use control::{Bytes, Duration, Rate, Time};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use sim::{Cross, Pattern};
use std::borrow::Cow;

/// One `[[traffic]]`, by its `kind`.
#[derive(Clone, Debug)]
pub(super) enum Traffic {
    Cbr(Steady),
    Poisson(Steady),
    OnOff(OnOff),
}

/// Packets of equal size at a constant mean rate: at equal intervals (cbr), or independently of each other (poisson).
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Steady {
    /// Its rate on the wire.
    rate: Rate,
    /// Size of its packets, if not the scenario's.
    packet: Option<Bytes>,
    /// When it starts; at 0 s if not given.
    #[serde(default)]
    start: Duration,
    /// When it stops; at the end of the run if not given.
    stop: Option<Duration>,
    /// The links it crosses, in order; the path's bottleneck if not given.
    route: Option<Vec<String>>,
    /// Whether it crosses its route in the order given, or from its far end.
    #[serde(default)]
    direction: Direction,
}

/// Packets of equal size at equal intervals, in periods of Pareto distributed length between which it is silent.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct OnOff {
    /// Its rate on the wire while it is on.
    rate: Rate,
    /// Mean length of the periods in which it is on.
    on: Duration,
    /// Mean length of the periods in which it is off.
    off: Duration,
    /// Shape of the Pareto distribution of both, 1.01 to 10; up to 2, their variance is infinite.
    #[serde(default = "shape")]
    shape: f64,
    /// Size of its packets, if not the scenario's.
    packet: Option<Bytes>,
    /// When it starts; at 0 s if not given.
    #[serde(default)]
    start: Duration,
    /// When it stops; at the end of the run if not given.
    stop: Option<Duration>,
    /// The links it crosses, in order; the path's bottleneck if not given.
    route: Option<Vec<String>>,
    /// Whether it crosses its route in the order given, or from its far end.
    #[serde(default)]
    direction: Direction,
}

fn shape() -> f64 {
    1.5
}

/// A kind's name, and the schema of its keys.
type Kind = (&'static str, fn(&mut SchemaGenerator) -> Schema);

const KINDS: [Kind; 3] =
    [("cbr", Steady::json_schema), ("poisson", Steady::json_schema), ("onoff", OnOff::json_schema)];

impl Traffic {
    /// Reads the table at `at`; none if it adds to `problems`.
    pub fn read(table: &Map<String, Value>, at: &KeyPath, problems: &mut Problems) -> Option<Traffic> {
        let mut keys = table.clone();
        let kind = keys.shift_remove("kind");
        match kind.as_ref().map(|kind| kind.as_str()) {
            Some(Some("cbr")) => keys_of(keys, at, problems).map(Traffic::Cbr),
            Some(Some("poisson")) => keys_of(keys, at, problems).map(Traffic::Poisson),
            Some(Some("onoff")) => keys_of(keys, at, problems).map(Traffic::OnOff),
            Some(Some(other)) => {
                problems.add(at.key("kind"), wording::unknown("choice", other, &KINDS.map(|(name, _)| name)));
                None
            }
            Some(None) => {
                problems.add(at.key("kind"), format!("is no text in quotes; write {}", wording::example("kind")));
                None
            }
            None => {
                problems.add(at.key("kind"), format!("is missing; write {}", wording::example("kind")));
                None
            }
        }
    }
}

/// Reads `keys`, which stand at `at`.
fn keys_of<T: DeserializeOwned>(keys: Map<String, Value>, at: &KeyPath, problems: &mut Problems) -> Option<T> {
    match serde_path_to_error::deserialize(Value::Object(keys)) {
        Ok(keys) => Some(keys),
        Err(error) => {
            let mut at = at.clone();
            at.0.extend(KeyPath::from(error.path()).0);
            let said = wording::of_serde(&error.inner().to_string());
            problems.add(said.missing.map_or(at.clone(), |key| at.key(&key)), said.message);
            None
        }
    }
}

/// All traffic of a scenario that does not react.
pub(super) fn cross(scenario: &Scenario, network: &Network, problems: &mut Problems) -> Vec<Cross> {
    let mut all = Vec::new();
    for (i, table) in scenario.traffic.iter().enumerate() {
        let at = KeyPath::of("traffic").index(i);
        let (pattern, keys) = match Traffic::read(table, &at, problems) {
            Some(Traffic::Cbr(keys)) => (Pattern::Constant, keys),
            Some(Traffic::Poisson(keys)) => (Pattern::Poisson, keys),
            Some(Traffic::OnOff(OnOff { rate, on, off, shape, packet, start, stop, route, direction })) => {
                let size = packet.unwrap_or(scenario.packet);
                problems.unless(on > Duration::ZERO, at.key("on"), "is zero; write one like \"500 ms\"");
                let one = rate.time_for(size);
                let message = format!("{on} is too short for a packet at this rate; write at least \"{one}\"");
                problems.unless(on == Duration::ZERO || on >= one, at.key("on"), message);
                self::shaped(shape, at.key("shape"), problems);
                (Pattern::OnOff { on, off, shape }, Steady { rate, packet, start, stop, route, direction })
            }
            None => continue,
        };
        let Steady { rate, packet, start, stop, route, direction } = keys;
        problems.unless(rate.as_bps() > 0.0, at.key("rate"), "is zero; write one like \"200 Mbps\"");
        if let Some(size) = packet {
            experiment::packet(size, at.key("packet"), problems);
        }
        let size = packet.unwrap_or(scenario.packet);
        // Times are whole picoseconds: so short a gap would be rounded beyond recognition.
        let packets = "makes more than one packet per nanosecond; write less, or a larger traffic.packet";
        problems.unless(rate.time_for(size) >= Duration(1000), at.key("rate"), packets);
        let (start, stop) = interval(start, stop, scenario.duration, &at, problems);
        let Some(route) = network.route(route.as_deref(), direction, &at, problems) else { continue };
        all.push(Cross { rate, pattern, packet: size, route, start, stop });
    }
    all
}

/// Checks when a source starts and stops.
fn interval(
    start: Duration,
    stop: Option<Duration>,
    end: Duration,
    at: &KeyPath,
    problems: &mut Problems,
) -> (Time, Time) {
    experiment::before_the_end(start, end, at.key("start"), problems);
    if let Some(stop) = stop {
        let message = format!("{stop} is not after its start; write more than \"{start}\"");
        problems.unless(stop > start, at.key("stop"), message);
    }
    (Time(start.0), Time(stop.unwrap_or(end).0))
}

/// Checks the shape of a Pareto distribution that has a mean.
fn shaped(shape: f64, at: KeyPath, problems: &mut Problems) {
    let message = format!("{shape} is no shape of a Pareto distribution with a mean; write 1.01 to 10, like 1.5");
    problems.unless((1.01..=10.0).contains(&shape), at, message);
}

/// The JSON Schema of a `[[traffic]]`: one of the kinds.
pub struct AnyKind;

impl JsonSchema for AnyKind {
    fn schema_name() -> Cow<'static, str> {
        "Traffic".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let kinds = KINDS.map(|(name, schema)| {
            let mut schema = schema(generator);
            let table = schema.ensure_object();
            if let Some(Value::Object(keys)) = table.get_mut("properties") {
                keys.insert("kind".into(), json_schema!({"description": "What kind.", "const": name}).into());
            }
            let required = table.entry("required").or_insert_with(|| Value::Array(Vec::new()));
            if let Some(required) = required.as_array_mut() {
                required.push("kind".into());
            }
            Value::from(schema)
        });
        json_schema!({"oneOf": kinds})
    }
}
