//! The size of what connections send: `"30 kB"`, or a distribution that sizes are drawn from.

use control::Bytes;
use experiment::traffic::Sizes;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::{Deserialize, Deserializer, de};
use std::borrow::Cow;
use std::fmt;

/// A size, or a distribution of sizes, as a scenario gives it.
#[derive(Clone, Debug, PartialEq)]
pub enum Size {
    /// This distribution.
    Distribution(Sizes),
    /// The distribution in the file of this name, beside the scenario.
    File(String),
}

/// The table that a distribution is written as. Which keys belong together is for [`DistributionTable::size`] to say.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DistributionTable {
    uniform: Option<[Bytes; 2]>,
    exponential: Option<Bytes>,
    lognormal: Option<Bytes>,
    sigma: Option<f64>,
    pareto: Option<Bytes>,
    shape: Option<f64>,
    file: Option<String>,
}

const HELP: &str = "write one like \"30 kB\", { pareto = \"30 kB\", shape = 1.2 }, { lognormal = \"30 kB\", sigma = 1.0 }, \
                    { exponential = \"30 kB\" }, { uniform = [\"1 kB\", \"9 kB\"] } or { file = \"sizes.cdf\" }";

impl DistributionTable {
    /// The distribution that the keys describe.
    fn size(self) -> Result<Size, String> {
        let DistributionTable { uniform, exponential, lognormal, sigma, pareto, shape, file } = self;
        let sizes = match (uniform, exponential, lognormal, sigma, pareto, shape, file) {
            (Some([low, high]), None, None, None, None, None, None) => {
                if low > high {
                    return Err(format!("{low} is more than {high}; put the smaller size first"));
                }
                Sizes::Uniform(low.0 as f64, high.0 as f64)
            }
            (None, Some(mean), None, None, None, None, None) => Sizes::Exponential(positive(mean)?),
            (None, None, Some(mean), Some(sigma), None, None, None) => {
                if !(0.0..=5.0).contains(&sigma) {
                    return Err(format!("{sigma} is not a sigma of a lognormal distribution; write 0 to 5, like 1.0"));
                }
                Sizes::Lognormal { mean: positive(mean)?, sigma }
            }
            (None, None, None, None, Some(mean), Some(shape), None) => {
                if !(1.01..=10.0).contains(&shape) {
                    return Err(not_a_shape(shape));
                }
                Sizes::Pareto { mean: positive(mean)?, shape }
            }
            (None, None, None, None, None, None, Some(file)) => return Ok(Size::File(file)),
            _ => return Err(format!("this is not a distribution of sizes; {HELP}")),
        };
        Ok(Size::Distribution(sizes))
    }
}

/// The message for a `shape` that no Pareto distribution with a finite mean has.
pub(crate) fn not_a_shape(shape: f64) -> String {
    format!("{shape} is not a shape of a Pareto distribution with a mean; write 1.01 to 10, like 1.5")
}

/// `mean` as a number of bytes, which must not be zero.
fn positive(mean: Bytes) -> Result<f64, String> {
    if mean == Bytes(0) {
        Err("a mean size of zero is nothing to send; write one like \"30 kB\"".into())
    } else {
        Ok(mean.0 as f64)
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Size, D::Error> {
        struct Either;
        impl<'de> de::Visitor<'de> for Either {
            type Value = Size;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a size like \"30 kB\" or a distribution like { pareto = \"30 kB\", shape = 1.2 }")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Size, E> {
                let size: Bytes = text.parse().map_err(E::custom)?;
                positive(size).map(|size| Size::Distribution(Sizes::Fixed(size))).map_err(E::custom)
            }
            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<Size, A::Error> {
                DistributionTable::deserialize(MapAccessDeserializer::new(map))?.size().map_err(de::Error::custom)
            }
        }
        deserializer.deserialize_any(Either)
    }
}

impl JsonSchema for Size {
    fn schema_name() -> Cow<'static, str> {
        "Size".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let size = generator.subschema_for::<Bytes>();
        json_schema!({
            "description": "a size like \"30 kB\", or a distribution by its mean, or by a file of sizes and cumulative shares",
            "anyOf": [
                size,
                {"type": "object", "properties": {"uniform": {"type": "array", "items": size, "minItems": 2, "maxItems": 2}},
                 "required": ["uniform"], "additionalProperties": false},
                {"type": "object", "properties": {"exponential": size}, "required": ["exponential"], "additionalProperties": false},
                {"type": "object", "properties": {"lognormal": size, "sigma": {"type": "number", "minimum": 0, "maximum": 5}},
                 "required": ["lognormal", "sigma"], "additionalProperties": false},
                {"type": "object", "properties": {"pareto": size, "shape": {"type": "number", "minimum": 1.01, "maximum": 10}},
                 "required": ["pareto", "shape"], "additionalProperties": false},
                {"type": "object", "properties": {"file": {"type": "string"}}, "required": ["file"], "additionalProperties": false},
            ],
        })
    }
}
