//! How a scenario writes what befalls packets by chance.

use super::key_path::KeyPath;
use super::resolve::Problems;
use control::Duration;
use path::GilbertElliott;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::{Deserialize, Deserializer, de};
use std::borrow::Cow;
use std::fmt;

/// `1e-6`, or `{ p = 0.001, r = 0.1 }`: the probability that a packet is lost, or bursts of errors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PacketError {
    /// Each packet alone.
    Uniform(f64),
    /// In bursts.
    Bursts(Bursts),
}

/// Errors in bursts, by the Gilbert-Elliott model: a channel that is good or bad, as packets pass.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bursts {
    /// Probability that a good channel turns bad, per packet.
    p: f64,
    /// Probability that a bad channel turns good, per packet: it stays bad for 1/r packets on average.
    r: f64,
    /// Probability that a packet is lost in a good channel, 0 if not given.
    #[serde(default)]
    good: f64,
    /// Probability that a packet is lost in a bad channel, 1 if not given.
    #[serde(default = "one")]
    bad: f64,
}

fn one() -> f64 {
    1.0
}

/// Packets that take a detour, so that later ones overtake them.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reorder {
    /// Probability that a packet does.
    pub probability: f64,
    /// How much longer that takes.
    pub delay: Duration,
}

impl Default for PacketError {
    fn default() -> PacketError {
        PacketError::Uniform(0.0)
    }
}

impl PacketError {
    /// The errors; what is wrong with them goes to `problems`.
    pub(super) fn errors(&self, at: &KeyPath, problems: &mut Problems) -> experiment::Errors {
        match *self {
            PacketError::Uniform(p) => {
                let message = format!("{p} is no probability below 1; write one like 1e-6");
                problems.unless((0.0..1.0).contains(&p), at.clone(), message);
                experiment::Errors::Uniform(p)
            }
            PacketError::Bursts(Bursts { p, r, good, bad }) => {
                for (key, value) in [("p", p), ("r", r), ("good", good), ("bad", bad)] {
                    probability(value, at.key(key), problems);
                }
                let stuck = p > 0.0 && r == 0.0 && bad == 1.0;
                problems.unless(
                    !stuck,
                    at.key("r"),
                    "is zero, so that nothing would pass for ever; write one like 0.1",
                );
                experiment::Errors::Bursts(GilbertElliott { p, r, good, bad })
            }
        }
    }
}

/// Checks a probability that may be 1.
pub(super) fn probability(value: f64, at: KeyPath, problems: &mut Problems) {
    problems.unless((0.0..=1.0).contains(&value), at, format!("{value} is not within 0 and 1; write one like 0.01"));
}

impl<'de> Deserialize<'de> for PacketError {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<PacketError, D::Error> {
        struct Either;
        impl<'de> de::Visitor<'de> for Either {
            type Value = PacketError;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a probability like 1e-6, or bursts like { p = 0.001, r = 0.1 }")
            }
            fn visit_f64<E: de::Error>(self, p: f64) -> Result<PacketError, E> {
                Ok(PacketError::Uniform(p))
            }
            fn visit_i64<E: de::Error>(self, p: i64) -> Result<PacketError, E> {
                Ok(PacketError::Uniform(p as f64))
            }
            fn visit_u64<E: de::Error>(self, p: u64) -> Result<PacketError, E> {
                Ok(PacketError::Uniform(p as f64))
            }
            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<PacketError, A::Error> {
                Bursts::deserialize(MapAccessDeserializer::new(map)).map(PacketError::Bursts)
            }
        }
        deserializer.deserialize_any(Either)
    }
}

impl JsonSchema for PacketError {
    fn schema_name() -> Cow<'static, str> {
        "PacketError".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let bursts = generator.subschema_for::<Bursts>();
        json_schema!({
            "description": "a probability like 1e-6, or bursts like { p = 0.001, r = 0.1 }",
            "anyOf": [{"type": "number", "minimum": 0, "exclusiveMaximum": 1}, bursts],
        })
    }
}
