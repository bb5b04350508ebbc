//! The load that traffic offers to its route: `"90 Mbps"` or `"20 %"`.

use control::Rate;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// The mean load that traffic offers, as a scenario gives it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OfferedLoad {
    /// This rate.
    Rate(Rate),
    /// This share of the rate of the narrowest link on the route, 1 for all of it.
    Share(f64),
}

const HELP: &str = "write one like \"90 Mbps\", or \"20 %\" of the narrowest link";

impl OfferedLoad {
    /// The load as a rate, on a route whose narrowest link has the rate `narrowest`.
    pub fn rate(self, narrowest: Rate) -> Rate {
        match self {
            OfferedLoad::Rate(rate) => rate,
            OfferedLoad::Share(share) => narrowest * share,
        }
    }
}

impl FromStr for OfferedLoad {
    type Err = String;

    fn from_str(text: &str) -> Result<OfferedLoad, String> {
        let Some(percent) = text.trim().strip_suffix('%') else {
            return text.parse().map(OfferedLoad::Rate);
        };
        match percent.trim().parse::<f64>() {
            Ok(percent) if (0.0..=1000.0).contains(&percent) => Ok(OfferedLoad::Share(percent / 100.0)),
            _ => Err(format!("`{text}` is not a share from 0 to 1000 %; {HELP}")),
        }
    }
}

impl<'de> Deserialize<'de> for OfferedLoad {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<OfferedLoad, D::Error> {
        struct Text;
        impl de::Visitor<'_> for Text {
            type Value = OfferedLoad;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a load in quotes, like \"90 Mbps\" or \"20 %\"")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<OfferedLoad, E> {
                text.parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_any(Text)
    }
}

impl JsonSchema for OfferedLoad {
    fn schema_name() -> Cow<'static, str> {
        "OfferedLoad".into()
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
    fn a_load_is_a_rate_or_a_share_of_the_narrowest_link() {
        let link = Rate::from_mbps(500.0);
        for (text, mbps) in [("90 Mbps", 90.0), ("20 %", 100.0), ("0.5%", 2.5), ("100 %", 500.0)] {
            assert_eq!(text.parse::<OfferedLoad>().unwrap().rate(link), Rate::from_mbps(mbps), "{text}");
        }
        for text in ["-1 %", "nan %", "%", "2000 %"] {
            assert!(text.parse::<OfferedLoad>().unwrap_err().ends_with(HELP), "{text}");
        }
        assert!("20".parse::<OfferedLoad>().unwrap_err().contains("needs a unit"));
    }
}
