//! How a scenario writes sizes that are drawn.

use control::Bytes;
use experiment::traffic::Sizes;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::{Deserialize, Deserializer, de};
use std::borrow::Cow;
use std::fmt;
use std::io::{BufRead, Read};

/// A size, or a distribution of sizes.
#[derive(Clone, Debug, PartialEq)]
pub enum Size {
    /// One that is known.
    Drawn(Sizes),
    /// The distribution in a file: see [`empirical`].
    File(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
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

impl Table {
    fn size(self) -> Result<Size, String> {
        let Table { uniform, exponential, lognormal, sigma, pareto, shape, file } = self;
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
                    return Err(format!("{sigma} is no sigma of a lognormal distribution; write 0 to 5, like 1.0"));
                }
                Sizes::Lognormal { mean: positive(mean)?, sigma }
            }
            (None, None, None, None, Some(mean), Some(shape), None) => {
                if !(1.01..=10.0).contains(&shape) {
                    return Err(no_shape(shape));
                }
                Sizes::Pareto { mean: positive(mean)?, shape }
            }
            (None, None, None, None, None, None, Some(file)) => return Ok(Size::File(file)),
            _ => return Err(format!("this is no distribution of sizes; {HELP}")),
        };
        Ok(Size::Drawn(sizes))
    }
}

/// What is wrong with the shape of a Pareto distribution.
pub(super) fn no_shape(shape: f64) -> String {
    format!("{shape} is no shape of a Pareto distribution with a mean; write 1.01 to 10, like 1.5")
}

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
                positive(size).map(|size| Size::Drawn(Sizes::Fixed(size))).map_err(E::custom)
            }
            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<Size, A::Error> {
                Table::deserialize(MapAccessDeserializer::new(map))?.size().map_err(de::Error::custom)
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

/// Reads an empirical distribution: in each line a size in bytes and the share of sizes that are not larger, both rising,
/// the last share 1. What follows a `#` is a comment.
///
/// # Errors
/// The line, and what is wrong with it.
pub fn empirical(mut input: impl BufRead) -> Result<Sizes, (u64, String)> {
    const MOST: usize = 100_000;
    const LONGEST_LINE: u64 = 1000;
    let mut points: Vec<(f64, f64)> = Vec::new();
    for number in 1.. {
        let mut line = Vec::new();
        let flaw = |message: String| Err((number, message));
        let read = (&mut input).take(LONGEST_LINE + 1).read_until(b'\n', &mut line);
        match read {
            Err(e) => return flaw(format!("cannot be read ({}); check the file", crate::reason(&e))),
            Ok(0) => break,
            Ok(n) if n as u64 > LONGEST_LINE => {
                return flaw("is longer than a size and a share; name a file of those".into());
            }
            Ok(_) => {}
        }
        let text = String::from_utf8_lossy(&line);
        let words: Vec<&str> = text.split('#').next().unwrap_or("").split_whitespace().collect();
        let (size, share) = match words[..] {
            [] => continue,
            [size, share] => match (size.parse::<f64>(), share.parse::<f64>()) {
                (Ok(size), Ok(share)) if (0.0..=1e15).contains(&size) && (0.0..=1.0).contains(&share) => (size, share),
                _ => return flaw("is no size in bytes and a share of 0 to 1; write one like `1460 0.5`".into()),
            },
            _ => return flaw("is no size in bytes and a share of 0 to 1; write one like `1460 0.5`".into()),
        };
        if points.last().is_some_and(|&(before, up_to)| size < before || share < up_to) {
            return flaw("has a size or share less than in the line above; sort the file".into());
        }
        // Of points with the same share, the last begins what follows.
        if points.last().is_some_and(|&(before, up_to)| share == up_to && size == before) {
            continue;
        }
        points.push((size, share));
        if points.len() > MOST {
            return flaw(format!("is one of more than {MOST} points; write fewer"));
        }
    }
    match points.last() {
        Some((_, 1.0)) => Ok(Sizes::Empirical(points.into())),
        Some((_, share)) => Err((points.len() as u64, format!("the last share is {share}; write 1 there"))),
        None => Err((1, "there is nothing in it; write lines like `1460 0.5`, the last with a share of 1".into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distributions_are_read_from_files() {
        let sizes = empirical("# web\n100 0\n1000 0.5\n\n9000 1 # the end\n".as_bytes()).unwrap();
        assert_eq!(sizes, Sizes::Empirical([(100.0, 0.0), (1000.0, 0.5), (9000.0, 1.0)].into()));
        assert_eq!(sizes.mean(), 0.5 * 550.0 + 0.5 * 5000.0);
        for (text, line, part) in [
            ("", 1, "nothing in it"),
            ("100 0.5\n", 1, "the last share is 0.5"),
            ("100 0.5\n90 1\n", 2, "sort the file"),
            ("100 -0.5\n", 1, "no size in bytes and a share"),
            ("100 0.5 7\n", 1, "no size in bytes and a share"),
            ("100 nan\n", 1, "no size in bytes and a share"),
            (&"1".repeat(2000), 1, "longer than"),
        ] {
            let (at, message) = empirical(text.as_bytes()).unwrap_err();
            assert!(at == line && message.contains(part) && message.contains("; "), "{text}: {at}: {message}");
        }
    }
}
