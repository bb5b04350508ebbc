//! How a scenario writes the load that traffic shall make.

use control::Rate;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// `"90 Mbps"`, or `"20 %"` of the narrowest link on its route.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Load {
    /// So much.
    Rate(Rate),
    /// This share of the narrowest link's rate, 1 for all of it.
    Share(f64),
}

const HELP: &str = "write one like \"90 Mbps\", or \"20 %\" of the narrowest link";

impl Load {
    /// How much that is where the narrowest link has a rate of `narrowest`.
    pub fn rate(self, narrowest: Rate) -> Rate {
        match self {
            Load::Rate(rate) => rate,
            Load::Share(share) => narrowest * share,
        }
    }
}

impl FromStr for Load {
    type Err = String;

    fn from_str(text: &str) -> Result<Load, String> {
        let Some(percent) = text.trim().strip_suffix('%') else {
            return text.parse().map(Load::Rate);
        };
        match percent.trim().parse::<f64>() {
            Ok(percent) if (0.0..=1000.0).contains(&percent) => Ok(Load::Share(percent / 100.0)),
            _ => Err(format!("`{text}` is no share from 0 to 1000 %; {HELP}")),
        }
    }
}

impl<'de> Deserialize<'de> for Load {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Load, D::Error> {
        struct Text;
        impl de::Visitor<'_> for Text {
            type Value = Load;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a load in quotes, like \"90 Mbps\" or \"20 %\"")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Load, E> {
                text.parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_any(Text)
    }
}

impl JsonSchema for Load {
    fn schema_name() -> Cow<'static, str> {
        "Load".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "a mean load, like \"90 Mbps\", or \"20 %\" of the narrowest link on the route",
            "anyOf": [
                {"type": "string", "pattern": "^\\s*\\+?[0-9]+(\\.[0-9]+)?([eE][+-]?[0-9]+)?\\s*%\\s*$"},
                generator.subschema_for::<Rate>(),
            ],
            "examples": ["90 Mbps", "20 %"],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_ways_to_write_a_load() {
        let link = Rate::from_mbps(500.0);
        for (text, mbps) in [("90 Mbps", 90.0), ("20 %", 100.0), ("0.5%", 2.5), ("100 %", 500.0)] {
            assert_eq!(text.parse::<Load>().unwrap().rate(link), Rate::from_mbps(mbps), "{text}");
        }
        for text in ["-1 %", "nan %", "%", "2000 %"] {
            assert!(text.parse::<Load>().unwrap_err().ends_with(HELP), "{text}");
        }
        assert!("20".parse::<Load>().unwrap_err().contains("needs a unit"));
    }
}
