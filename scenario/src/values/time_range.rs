//! A time that is the same for all copies of a flow, or drawn for each.

use control::Duration;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::{Deserialize, Deserializer, de};
use std::borrow::Cow;
use std::fmt;

/// `"100 ms"`, or `{ uniform = ["60 ms", "165 ms"] }`: the same for all copies of a flow, or drawn for each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spread {
    /// The least it can be.
    pub low: Duration,
    /// The most it can be; not less than `low`.
    pub high: Duration,
}

impl Spread {
    /// Always the same.
    pub fn fixed(value: Duration) -> Spread {
        Spread { low: value, high: value }
    }

    /// Its expectation, in seconds.
    pub fn mean_secs(self) -> f64 {
        (self.low.as_secs() + self.high.as_secs()) / 2.0
    }
}

impl Default for Spread {
    fn default() -> Spread {
        Spread::fixed(Duration::ZERO)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    uniform: [Duration; 2],
}

impl<'de> Deserialize<'de> for Spread {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Spread, D::Error> {
        struct Either;
        impl<'de> de::Visitor<'de> for Either {
            type Value = Spread;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a time like \"100 ms\" or { uniform = [\"60 ms\", \"165 ms\"] }")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Spread, E> {
                text.parse().map(Spread::fixed).map_err(E::custom)
            }
            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<Spread, A::Error> {
                let Table { uniform: [low, high] } = Table::deserialize(MapAccessDeserializer::new(map))?;
                if low > high {
                    return Err(de::Error::custom(format!("{low} is more than {high}; put the smaller time first")));
                }
                Ok(Spread { low, high })
            }
        }
        deserializer.deserialize_any(Either)
    }
}

impl JsonSchema for Spread {
    fn schema_name() -> Cow<'static, str> {
        "Spread".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let time = generator.subschema_for::<Duration>();
        json_schema!({
            "description": "a time like \"100 ms\" or, drawn for each copy, { uniform = [\"60 ms\", \"165 ms\"] }",
            "anyOf": [
                time,
                {
                    "type": "object",
                    "properties": {"uniform": {"type": "array", "items": time, "minItems": 2, "maxItems": 2}},
                    "required": ["uniform"],
                    "additionalProperties": false,
                },
            ],
        })
    }
}
