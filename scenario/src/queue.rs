//! How a scenario writes what happens to packets that wait.

use super::key_path::KeyPath;
use super::problems::Problems;
use super::wording;
use control::Bytes;
use control::registry::ParameterError;
use control::routers::{self, RouterProtocol};
use path::RouterSetup;
use path::queue::{self, QueueDiscipline, QueueSetup, registry};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::{Deserialize, Deserializer, de};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::fmt;

/// A queue as a scenario writes it: `"codel"`, or `{ kind = "codel", target = "5 ms" }`. Its kind is a discipline's, or
/// a router protocol's: then it is first in, first out, and a router of that protocol sits at it.
#[derive(Clone, Debug, PartialEq)]
pub struct Queue {
    kind: Option<Value>,
    keys: Map<String, Value>,
}

impl Default for Queue {
    fn default() -> Queue {
        Queue { kind: Some("droptail".into()), keys: Map::new() }
    }
}

/// The kind that stands for the router protocol that the flows' controllers need.
const MATCHING: &str = "matching";

/// The link that the queue is at, as far as it matters to parameters.
pub(super) struct Site<'s> {
    /// What queue disciplines go by.
    pub queue: queue::Site,
    /// The buffer size that a router assumes.
    pub router_buffer: Bytes,
    /// The controllers of the flows that cross it.
    pub controllers: Vec<&'s str>,
}

impl Queue {
    /// The queue at `site`, and the router; what is wrong with it goes to `problems`.
    pub(super) fn read(&self, site: &Site, at: KeyPath, problems: &mut Problems) -> (QueueSetup, Option<RouterSetup>) {
        let drop_tail = QueueSetup::default();
        let kind = match self.kind.as_ref().map(Value::as_str) {
            Some(Some(kind)) => kind,
            Some(None) => {
                problems.add(at.key("kind"), "is not text in quotes; write kind = \"codel\"");
                return (drop_tail, None);
            }
            None => {
                problems.add(at.key("kind"), "is missing; write kind = \"codel\"");
                return (drop_tail, None);
            }
        };
        if kind == MATCHING {
            problems.unless(self.keys.is_empty(), at.clone(), "this kind of queue has no parameters; remove them");
            let mut wanted = site.controllers.iter().filter_map(|controller| routers::find(controller));
            let first = wanted.next();
            let several = wanted.any(|other| Some(other.name) != first.map(|first| first.name));
            problems.unless(!several, at.clone(), "flows of several router protocols cross it; write one of them");
            let router = first.and_then(|protocol| self.router(protocol, site.router_buffer, &at, problems));
            (drop_tail, router)
        } else if let Some(protocol) = routers::find(kind) {
            (drop_tail, self.router(protocol, site.router_buffer, &at, problems))
        } else if let Some(discipline) = registry::find(kind) {
            (self.discipline(discipline, &site.queue, &at, problems).unwrap_or(drop_tail), None)
        } else {
            problems.add(at, wording::unknown("choice", kind, &kinds()));
            (drop_tail, None)
        }
    }

    fn discipline(
        &self,
        discipline: &QueueDiscipline,
        site: &queue::Site,
        at: &KeyPath,
        problems: &mut Problems,
    ) -> Option<QueueSetup> {
        let known = discipline.parameters();
        let (given, unknown): (Map<_, _>, Map<_, _>) =
            self.keys.clone().into_iter().partition(|(key, _)| known.contains(&key.as_str()));
        for key in unknown.keys() {
            problems.add(at.key(key), no_parameter(key, &known));
        }
        match discipline.setup(&given, site) {
            Ok(setup) => return unknown.is_empty().then_some(setup),
            Err(mistakes) => {
                for mistake in mistakes {
                    problems.add(at.key(&mistake.key), wording::of_serde(&mistake.problem).message);
                }
            }
        }
        None
    }

    fn router(
        &self,
        protocol: &RouterProtocol,
        buffer: Bytes,
        at: &KeyPath,
        problems: &mut Problems,
    ) -> Option<RouterSetup> {
        match protocol.parameters(&self.keys) {
            Ok(parameters) => return Some(RouterSetup { protocol: protocol.name.into(), parameters, buffer }),
            Err(ParameterError::Unknown { name, known }) => {
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                problems.add(at.key(&name), wording::unknown("parameter", &name, &known));
            }
            Err(ParameterError::Bad { name, problem }) => {
                problems.add(at.key(&name), wording::of_serde(&problem).message);
            }
            Err(ParameterError::Together { problem }) => problems.add(at.clone(), problem),
        }
        None
    }
}

/// What to say of a parameter that a discipline with the parameters `known` does not have.
fn no_parameter(key: &str, known: &[&str]) -> String {
    if registry::all().iter().all(|other| !other.parameters().contains(&key)) {
        return wording::unknown("key", key, known);
    }
    let list = known.iter().map(|k| format!("`{k}`")).collect::<Vec<_>>().join(", ");
    let remedy = if known.is_empty() { String::from("remove it") } else { format!("it has {list}") };
    format!("this kind of queue has no `{key}`; {remedy}")
}

/// All kinds that a queue can be of.
fn kinds() -> Vec<&'static str> {
    let disciplines = registry::all().iter().map(|discipline| discipline.name);
    disciplines.chain(routers::all().iter().map(|router| router.name)).chain([MATCHING]).collect()
}

impl<'de> Deserialize<'de> for Queue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Queue, D::Error> {
        struct Either;
        impl<'de> de::Visitor<'de> for Either {
            type Value = Queue;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a queue like \"codel\" or { kind = \"codel\", target = \"5 ms\" }")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Queue, E> {
                Ok(Queue { kind: Some(text.into()), keys: Map::new() })
            }
            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<Queue, A::Error> {
                let mut keys: Map<String, Value> = Map::deserialize(MapAccessDeserializer::new(map))?;
                Ok(Queue { kind: keys.shift_remove("kind"), keys })
            }
        }
        deserializer.deserialize_any(Either)
    }
}

impl JsonSchema for Queue {
    fn schema_name() -> Cow<'static, str> {
        "Queue".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let disciplines = registry::all().iter().map(|d| (d.name, d.summary, d.schema()));
        let routers = routers::all().iter().map(|router| (router.name, router.summary, router.schema()));
        let mut forms = vec![json_schema!({"enum": kinds()})];
        for (name, summary, schema) in disciplines.chain(routers) {
            let mut schema = schema.clone();
            let object = schema.ensure_object();
            object.remove("$schema");
            object.insert("required".into(), serde_json::json!(["kind"]));
            let keys = object.entry("properties").or_insert_with(|| serde_json::json!({}));
            keys["kind"] = serde_json::json!({"description": summary, "const": name});
            object.insert("additionalProperties".into(), false.into());
            if let Some(Value::Object(definitions)) = object.remove("$defs") {
                for (name, definition) in definitions {
                    generator.definitions_mut().entry(name).or_insert(definition);
                }
            }
            forms.push(schema);
        }
        json_schema!({
            "description": "what happens to packets that wait, like \"red\" or { kind = \"codel\", target = \"5 ms\" }",
            "anyOf": forms,
        })
    }
}
