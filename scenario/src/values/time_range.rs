//! A time that is the same for all copies of a flow, or drawn for each of them: `"100 ms"` or `{ uniform = ["60 ms",
//! "165 ms"] }`.

use control::Duration;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::{Deserialize, Deserializer, de};
use std::borrow::Cow;
use std::fmt;

/// The range that a time is drawn from, uniformly; for a time that is given, both ends are that time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeRange {
    /// The least time.
    pub low: Duration,
    /// The greatest time; not less than `low`.
    pub high: Duration,
}

impl TimeRange {
    /// The range of a time that is not drawn.
    pub fn fixed(value: Duration) -> TimeRange {
        TimeRange { low: value, high: value }
    }

    /// The mean of the times drawn from the range, in seconds.
    pub fn mean_secs(self) -> f64 {
        (self.low.as_secs() + self.high.as_secs()) / 2.0
    }
}

impl Default for TimeRange {
    fn default() -> TimeRange {
        TimeRange::fixed(Duration::ZERO)
    }
}

/// The table that a range is written as.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RangeTable {
    uniform: [Duration; 2],
}

impl<'de> Deserialize<'de> for TimeRange {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<TimeRange, D::Error> {
        struct Either;
        impl<'de> de::Visitor<'de> for Either {
            type Value = TimeRange;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a time like \"100 ms\" or { uniform = [\"60 ms\", \"165 ms\"] }")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<TimeRange, E> {
                text.parse().map(TimeRange::fixed).map_err(E::custom)
            }
            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<TimeRange, A::Error> {
                let RangeTable { uniform: [low, high] } = RangeTable::deserialize(MapAccessDeserializer::new(map))?;
                if low > high {
                    return Err(de::Error::custom(format!("{low} is more than {high}; put the smaller time first")));
                }
                Ok(TimeRange { low, high })
            }
        }
        deserializer.deserialize_any(Either)
    }
}

impl JsonSchema for TimeRange {
    fn schema_name() -> Cow<'static, str> {
        "TimeRange".into()
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
