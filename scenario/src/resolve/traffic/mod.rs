//! `[[traffic]]`: tables of several kinds, each with keys of its own.
//!
//! A kind's keys are those of one or more structs; each takes its own from the table.

mod connections;
mod cross;

use super::key_path::KeyPath;
use super::keys::{Direction, Scenario};
use super::network::Network;
use super::resolve::Problems;
use super::wording;
use super::{resolve, size};
use control::{Bytes, Duration, Time};
use experiment::Route;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::borrow::Cow;

pub(super) use connections::{Files, Planned, compares, workloads};
pub(super) use cross::cross;

/// What all kinds have in common.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
struct Where {
    /// When it starts; at 0 s if not given.
    #[serde(default)]
    start: Duration,
    /// When it stops; at the end of the run if not given.
    stop: Option<Duration>,
    /// The links it crosses, in order; the path's bottleneck if not given.
    route: Option<Vec<String>>,
    /// Whether it crosses its route in the order given, or from its far end. Of connections: the data, or else the responses.
    #[serde(default)]
    direction: Direction,
    /// Size of its full packets on the wire, if not the scenario's.
    packet: Option<Bytes>,
}

/// What [`Where`] comes to.
struct Placed {
    start: Time,
    stop: Time,
    route: Route,
    packet: Bytes,
}

impl Where {
    fn check(&self, scenario: &Scenario, network: &Network, at: &KeyPath, problems: &mut Problems) -> Option<Placed> {
        let Where { start, stop, route, direction, packet } = self;
        resolve::before_the_end(*start, scenario.duration, at.key("start"), problems);
        if let Some(stop) = stop {
            let message = format!("{stop} is not after its start; write more than \"{start}\"");
            problems.unless(stop > start, at.key("stop"), message);
        }
        if let Some(size) = packet {
            resolve::packet(*size, at.key("packet"), problems);
        }
        Some(Placed {
            start: Time(start.0),
            stop: Time(stop.unwrap_or(scenario.duration).min(scenario.duration).0),
            route: network.route(route.as_deref(), *direction, at, problems)?,
            packet: packet.unwrap_or(scenario.packet),
        })
    }
}

type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// A kind of traffic: its name, what it is, and the structs that have its keys.
struct Kind {
    name: &'static str,
    summary: &'static str,
    keys: &'static [SchemaOf],
}

/// All kinds, in the order in which to list them.
const KINDS: [Kind; 6] = [
    Kind {
        name: "cbr",
        summary: "Packets at equal intervals.",
        keys: &[cross::Steady::json_schema, Where::json_schema],
    },
    Kind {
        name: "poisson",
        summary: "Packets that leave independently of each other.",
        keys: &[cross::Steady::json_schema, Where::json_schema],
    },
    Kind {
        name: "onoff",
        summary: "Packets at equal intervals, in periods of Pareto distributed length between which there is silence.",
        keys: &[cross::Steady::json_schema, cross::OnOff::json_schema, Where::json_schema],
    },
    Kind {
        name: "flows",
        summary: "Transfers that arrive independently of each other.",
        keys: &[
            connections::Flows::json_schema,
            connections::Arrivals::json_schema,
            connections::Hosts::json_schema,
            Where::json_schema,
        ],
    },
    Kind {
        name: "web",
        summary: "Web sessions: over a connection, requests and objects one after the other, with time to think in between.",
        keys: &[
            connections::Web::json_schema,
            connections::Arrivals::json_schema,
            connections::Hosts::json_schema,
            Where::json_schema,
        ],
    },
    Kind {
        name: "tmix",
        summary: "The connections in a file of Tmix, or a synthetic mix like a campus link's.",
        keys: &[connections::Tmix::json_schema, connections::Hosts::json_schema, Where::json_schema],
    },
];

impl Kind {
    /// The JSON Schema of all its keys.
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

/// A `[[traffic]]` whose kind and keys there are.
struct Table<'s> {
    at: KeyPath,
    /// Its place among all traffic, from 0.
    index: usize,
    kind: &'static str,
    keys: &'s Map<String, Value>,
}

impl Table<'_> {
    /// Its keys that are a `T`'s; none if it adds to `problems`.
    fn read<T: DeserializeOwned + JsonSchema>(&self, problems: &mut Problems) -> Option<T> {
        let own = names(&T::json_schema(&mut SchemaGenerator::default()));
        let keys = self.keys.iter().filter(|(key, _)| own.contains(key));
        let keys: Map<String, Value> = keys.map(|(key, value)| (key.clone(), value.clone())).collect();
        match serde_path_to_error::deserialize(Value::Object(keys)) {
            Ok(keys) => Some(keys),
            Err(error) => {
                let mut at = self.at.clone();
                at.0.extend(KeyPath::from(error.path()).0);
                let said = wording::of_serde(&error.inner().to_string());
                problems.add(said.missing.map_or(at.clone(), |key| at.key(&key)), said.message);
                None
            }
        }
    }
}

/// The keys that a schema of a table has.
fn names(schema: &Schema) -> Vec<String> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.into_iter().flatten().map(|(name, _)| name.clone()).collect()
}

/// The scenario's traffic of the kinds that `wanted` is true for; with `check`, says which kinds and keys there are not.
fn tables<'s>(scenario: &'s Scenario, wanted: &[&str], check: bool, problems: &mut Problems) -> Vec<Table<'s>> {
    let mut all = Vec::new();
    for (index, keys) in scenario.traffic.iter().enumerate() {
        let at = KeyPath::of("traffic").index(index);
        let named = keys.get("kind").map(Value::as_str);
        if let Some(kind) = KINDS.iter().find(|kind| named == Some(Some(kind.name))) {
            if check {
                let known = names(&kind.schema(&mut SchemaGenerator::default()));
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                for key in keys.keys().filter(|key| !known.contains(&key.as_str())) {
                    problems.add(at.key(key), wording::unknown("key", key, &known));
                }
            }
            if wanted.contains(&kind.name) {
                all.push(Table { at, index, kind: kind.name, keys });
            }
            continue;
        }
        let example = wording::example("kind");
        let message = match named {
            None => format!("is missing; write {example}"),
            Some(None) => format!("is no text in quotes; write {example}"),
            Some(Some(other)) => wording::unknown("choice", other, &KINDS.map(|kind| kind.name)),
        };
        if check {
            problems.add(at.key("kind"), message);
        }
    }
    all
}

/// Checks the shape of a Pareto distribution that has a mean.
fn shaped(shape: f64, at: KeyPath, problems: &mut Problems) {
    problems.unless((1.01..=10.0).contains(&shape), at, size::no_shape(shape));
}

/// The JSON Schema of a `[[traffic]]`: one of the kinds.
pub struct AnyKind;

impl JsonSchema for AnyKind {
    fn schema_name() -> Cow<'static, str> {
        "Traffic".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let kinds = KINDS.map(|kind| Value::from(kind.schema(generator)));
        json_schema!({"oneOf": kinds})
    }
}
