//! Transmission errors: `1e-6`, or bursts as `{ p = 0.001, r = 0.1 }`.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::{Deserialize, Deserializer, de};
use std::borrow::Cow;
use std::fmt;

/// How a link loses packets to transmission errors, as a scenario gives it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PacketError {
    /// Each packet is lost with this probability, independently of the others.
    Uniform(f64),
    /// Packets are lost in bursts.
    Bursts(Bursts),
}

/// Errors in bursts, by the Gilbert-Elliott model: the channel is in a good or in a bad state, and may change it at
/// each packet.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bursts {
    /// Probability that the channel turns from good to bad, per packet.
    pub p: f64,
    /// Probability that the channel turns from bad to good, per packet: it stays bad for 1/r packets on average.
    pub r: f64,
    /// Probability that a packet is lost while the channel is good, 0 if not given.
    #[serde(default)]
    pub good: f64,
    /// Probability that a packet is lost while the channel is bad, 1 if not given.
    #[serde(default = "one")]
    pub bad: f64,
}

fn one() -> f64 {
    1.0
}

impl Default for PacketError {
    fn default() -> PacketError {
        PacketError::Uniform(0.0)
    }
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
