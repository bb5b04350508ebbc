//! How a scenario writes what happens to packets that wait.

use super::key_path::KeyPath;
use super::problems::Problems;
use super::wording;
use control::registry::ParameterError;
use control::routers::{self, RouterProtocol};
use control::{Bytes, Duration, Rate};
use experiment::Router;
use path::{Discipline, codel, fq_codel, red};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::{Deserialize, Deserializer, de};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::fmt;

/// Of a discipline, those parameters that are not the usual ones.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "QueueTable")]
struct Table {
    /// Which discipline.
    #[serde(skip)]
    kind: Kind,
    /// RED: average queue, in packets, below which nothing is dropped; by default half of what the link sends in 5 ms, at
    /// least 5.
    min: Option<f64>,
    /// RED: average queue, in packets, at which the probability of a drop is `max-p`; by default 3 times `min`.
    max: Option<f64>,
    /// RED: the probability of a drop at `max`, 0.1 if not given; adaptive RED starts from it.
    max_p: Option<f64>,
    /// RED: weight of each new length in the average; by default, the average has a time constant of one second at full rate.
    weight: Option<f64>,
    /// RED: above `max`, the probability rises to 1 at twice `max`, rather than at once; true if not given.
    gentle: Option<bool>,
    /// Adaptive RED: `max-p` stays at this or more; 0.01 if not given.
    bottom: Option<f64>,
    /// CoDel: the delay that may stand, "5 ms" if not given.
    target: Option<Duration>,
    /// CoDel: how long it may be exceeded, "100 ms" if not given. Adaptive RED: how often `max-p` is adapted, "500 ms".
    interval: Option<Duration>,
    /// FQ-CoDel: how much a queue sends in its turn, "1514 B" if not given.
    quantum: Option<Bytes>,
    /// FQ-CoDel: how many queues flows are hashed to, 1024 if not given.
    queues: Option<u32>,
}

/// The disciplines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    /// First in, first out; what finds the buffer full is dropped.
    #[default]
    #[serde(rename = "droptail")]
    DropTail,
    /// Random early detection (Floyd and Jacobson 1993), gentle.
    Red,
    /// Adaptive RED (Floyd, Gummadi and Shenker 2001).
    Ared,
    /// Controlled delay (RFC 8289).
    #[serde(rename = "codel")]
    CoDel,
    /// Flow queues that take turns, with CoDel in each (RFC 8290).
    #[serde(rename = "fq-codel")]
    FqCoDel,
}

/// Flow queues beyond which there is no use in more, and no memory for them.
const MOST_QUEUES: u32 = 1 << 16;

/// A queue as a scenario writes it: `"codel"`, or `{ kind = "codel", target = "5 ms" }`. Its kind is a discipline's, or a router
/// protocol's: then it is first in, first out, and a router of that protocol sits at it.
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

/// The kind that is what the flows' controllers want.
const MATCHING: &str = "matching";

/// The link that the queue is at, as far as it matters to parameters.
pub(super) struct Site<'s> {
    /// Its capacity.
    pub rate: Rate,
    /// Size of full packets on it.
    pub packet: Bytes,
    /// What it holds.
    pub buffer: Bytes,
    /// The controllers of the flows that cross it.
    pub controllers: Vec<&'s str>,
}

impl Queue {
    /// The discipline at `site`, and the router; what is wrong with it goes to `problems`.
    pub(super) fn read(&self, site: &Site, at: KeyPath, problems: &mut Problems) -> (Discipline, Option<Router>) {
        let nothing = (Discipline::DropTail, None);
        let kind = match self.kind.as_ref().map(Value::as_str) {
            Some(Some(kind)) => kind,
            Some(None) => {
                problems.add(at.key("kind"), "is no text in quotes; write kind = \"codel\"");
                return nothing;
            }
            None => {
                problems.add(at.key("kind"), "is missing; write kind = \"codel\"");
                return nothing;
            }
        };
        if kind == MATCHING {
            problems.unless(self.keys.is_empty(), at.clone(), "this kind of queue has no parameters; remove them");
            let mut wanted = site.controllers.iter().filter_map(|controller| routers::find(controller));
            let first = wanted.next();
            let several = wanted.any(|other| Some(other.name) != first.map(|first| first.name));
            problems.unless(!several, at.clone(), "flows of several router protocols cross it; write one of them");
            let router = first.and_then(|protocol| self.router(protocol, site.buffer, &at, problems));
            return (Discipline::DropTail, router);
        }
        if let Some(protocol) = routers::find(kind) {
            return (Discipline::DropTail, self.router(protocol, site.buffer, &at, problems));
        }
        let Ok(kind) = Kind::deserialize(StrDeserializer::<de::value::Error>::new(kind)) else {
            problems.add(at, wording::unknown("choice", kind, &kinds()));
            return nothing;
        };
        match serde_path_to_error::deserialize::<_, Table>(Value::Object(self.keys.clone())) {
            Ok(table) => (Table { kind, ..table }.discipline(site.rate, site.packet, at, problems), None),
            Err(error) => {
                let mut at = at;
                at.0.extend(KeyPath::from(error.path()).0);
                problems.add(at, wording::of_serde(&error.inner().to_string()).message);
                nothing
            }
        }
    }

    fn router(
        &self,
        protocol: &RouterProtocol,
        buffer: Bytes,
        at: &KeyPath,
        problems: &mut Problems,
    ) -> Option<Router> {
        match protocol.parameters(&self.keys) {
            Ok(parameters) => return Some(Router { protocol: protocol.name.into(), parameters, buffer }),
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

/// All that a queue can be.
fn kinds() -> Vec<&'static str> {
    let routers = routers::all().iter().map(|router| router.name);
    ["droptail", "red", "ared", "codel", "fq-codel"].into_iter().chain(routers).chain([MATCHING]).collect()
}

impl Table {
    /// The discipline at a link of `rate` on which full packets have this size; what is wrong with it goes to `problems`.
    fn discipline(&self, rate: Rate, packet: Bytes, at: KeyPath, problems: &mut Problems) -> Discipline {
        let table = self;
        self.check_keys(&at, problems);
        let codel = codel::Parameters {
            target: table.target.unwrap_or(codel::Parameters::RFC.target),
            interval: table.interval.unwrap_or(codel::Parameters::RFC.interval),
        };
        if let Some(interval) = table.interval {
            problems.unless(interval > Duration::ZERO, at.key("interval"), "is zero; write one like \"100 ms\"");
        }
        match table.kind {
            Kind::DropTail => Discipline::DropTail,
            Kind::Red => Discipline::Red(self.red(rate, packet, &at, problems)),
            Kind::Ared => {
                let adaptive = red::Adaptive {
                    interval: table.interval.unwrap_or(red::Adaptive::PAPER.interval),
                    bottom: table.bottom.unwrap_or(red::Adaptive::PAPER.bottom),
                };
                let red = self.red(rate, packet, &at, problems);
                Discipline::Red(red::Parameters { adaptive: Some(adaptive), ..red })
            }
            Kind::CoDel => Discipline::CoDel(codel),
            Kind::FqCoDel => {
                let rfc = fq_codel::Parameters::RFC;
                let (quantum, queues) = (table.quantum.unwrap_or(rfc.quantum), table.queues.unwrap_or(rfc.queues));
                problems.unless(quantum > Bytes(0), at.key("quantum"), "is zero; write one like \"1514 B\"");
                let message = format!("{queues} is no number of queues; write 1 to {MOST_QUEUES}");
                problems.unless((1..=MOST_QUEUES).contains(&queues), at.key("queues"), message);
                Discipline::FqCoDel(fq_codel::Parameters { codel, quantum, queues })
            }
        }
    }

    fn red(&self, rate: Rate, packet: Bytes, at: &KeyPath, problems: &mut Problems) -> red::Parameters {
        let table = self;
        let automatic = red::Parameters::automatic(rate, packet);
        let min = table.min.unwrap_or(automatic.min);
        let parameters = red::Parameters {
            min,
            max: table.max.unwrap_or(3.0 * min),
            max_p: table.max_p.unwrap_or(automatic.max_p),
            weight: table.weight.unwrap_or(automatic.weight),
            gentle: table.gentle.unwrap_or(automatic.gentle),
            ..automatic
        };
        problems.unless(min >= 0.0, at.key("min"), format!("{min} is negative; write packets, like 50"));
        let message = format!("{} packets are not more than min = {min}; write more", parameters.max);
        problems.unless(parameters.max > min, at.key("max"), message);
        for (key, value) in [("max-p", Some(parameters.max_p)), ("weight", table.weight), ("bottom", table.bottom)] {
            let message = format!("{} is not within 0 and 1; write one like 0.01", value.unwrap_or(0.0));
            problems.unless(value.is_none_or(|value| value > 0.0 && value <= 1.0), at.key(key), message);
        }
        parameters
    }

    /// Each kind has parameters of its own.
    fn check_keys(&self, at: &KeyPath, problems: &mut Problems) {
        let Table { kind, min, max, max_p, weight, gentle, bottom, target, interval, quantum, queues } = self;
        const RED: &[&str] = &["min", "max", "max-p", "weight", "gentle"];
        let known = match kind {
            Kind::DropTail => &[],
            Kind::Red => RED,
            Kind::Ared => &["min", "max", "max-p", "weight", "gentle", "bottom", "interval"],
            Kind::CoDel => &["target", "interval"],
            Kind::FqCoDel => &["target", "interval", "quantum", "queues"] as &[&str],
        };
        let given = [
            ("min", min.is_some()),
            ("max", max.is_some()),
            ("max-p", max_p.is_some()),
            ("weight", weight.is_some()),
            ("gentle", gentle.is_some()),
            ("bottom", bottom.is_some()),
            ("target", target.is_some()),
            ("interval", interval.is_some()),
            ("quantum", quantum.is_some()),
            ("queues", queues.is_some()),
        ];
        for (key, _) in given.iter().filter(|(key, given)| *given && !known.contains(key)) {
            let list = known.iter().map(|k| format!("`{k}`")).collect::<Vec<_>>().join(", ");
            let remedy = if known.is_empty() { String::from("remove it") } else { format!("it has {list}") };
            problems.add(at.key(key), format!("this kind of queue has no `{key}`; {remedy}"));
        }
    }
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
        let of_kind = |schema: &mut Schema, kind: Value| {
            let table = schema.ensure_object();
            table.remove("$schema");
            table.insert("required".into(), serde_json::json!(["kind"]));
            if let Some(Value::Object(keys)) = table.get_mut("properties") {
                keys.insert("kind".into(), kind);
            }
        };
        let mut table = Table::json_schema(generator);
        of_kind(&mut table, generator.subschema_for::<Kind>().into());
        let mut forms = vec![json_schema!({"enum": kinds()}), table];
        for router in routers::all() {
            let mut schema = router.schema().clone();
            of_kind(&mut schema, serde_json::json!({"description": router.summary, "const": router.name}));
            let object = schema.ensure_object();
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
