//! The size of a buffer: `"1 bdp"`, `"20 ms"`, `"750 packets"` or `"9 MB"`.

use control::{Bytes, Duration};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// The size of a buffer as a scenario gives it; never zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BufferSize {
    /// A multiple of the bandwidth-delay product, which is the link's rate times the mean RTT of the flows that cross
    /// it.
    Bdp(f64),
    /// As much as the link sends in this time.
    Time(Duration),
    /// A number of packets.
    Packets(u64),
    /// A number of bytes.
    Bytes(Bytes),
}

const HELP: &str = "write one like \"1 bdp\", \"20 ms\", \"750 packets\" or \"9 MB\"";

impl FromStr for BufferSize {
    type Err = String;

    fn from_str(text: &str) -> Result<BufferSize, String> {
        let text = text.trim();
        let strip = |units: [&str; 2]| units.into_iter().find_map(|unit| text.strip_suffix(unit)).map(str::trim);
        let number = |n: &str| match n.parse::<f64>() {
            Ok(n) if n < 0.0 => Err(format!("a buffer of `{text}` is negative; {HELP}")),
            Ok(n) if n.is_finite() => Ok(n),
            _ => Err(format!("`{text}` does not start with a number; {HELP}")),
        };
        let size = if let Some(n) = strip(["bdp", "BDP"]) {
            BufferSize::Bdp(number(n)?)
        } else if let Some(n) = strip(["packets", "packet"]) {
            let packets = number(n)?;
            if packets.fract() != 0.0 {
                return Err(format!("`{text}` is not a whole number of packets; {HELP}"));
            }
            BufferSize::Packets(packets as u64)
        } else if let Ok(time) = text.parse() {
            BufferSize::Time(time)
        } else {
            let bytes = text.parse();
            BufferSize::Bytes(bytes.map_err(|why: String| {
                // The remedy for a size is left out: it does not mention the other notations of a buffer.
                format!("{}; {HELP}", why.split("; ").next().unwrap_or(&why))
            })?)
        };
        match size {
            BufferSize::Bdp(0.0)
            | BufferSize::Time(Duration::ZERO)
            | BufferSize::Packets(0)
            | BufferSize::Bytes(Bytes(0)) => {
                Err(format!("a buffer of `{text}` would drop every packet that has to wait; {HELP}"))
            }
            size => Ok(size),
        }
    }
}

impl<'de> Deserialize<'de> for BufferSize {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<BufferSize, D::Error> {
        struct Text;
        impl de::Visitor<'_> for Text {
            type Value = BufferSize;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a buffer with its unit in quotes, like \"1 bdp\", \"20 ms\", \"750 packets\" or \"9 MB\"")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<BufferSize, E> {
                text.parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_any(Text)
    }
}

impl JsonSchema for BufferSize {
    fn schema_name() -> Cow<'static, str> {
        "BufferSize".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "how much may wait at a link, like \"1 bdp\" (rate x mean RTT), \"20 ms\" (at the link's rate), \"750 packets\" or \"9 MB\"",
            "anyOf": [
                {"type": "string", "pattern": "^\\s*\\+?[0-9]+(\\.[0-9]+)?([eE][+-]?[0-9]+)?\\s*(bdp|BDP|packets?)\\s*$"},
                generator.subschema_for::<Duration>(),
                generator.subschema_for::<Bytes>(),
            ],
            "examples": ["1 bdp", "20 ms", "750 packets", "9 MB"],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_has_four_notations() {
        for (text, size) in [
            ("1 bdp", BufferSize::Bdp(1.0)),
            ("0.5bdp", BufferSize::Bdp(0.5)),
            ("20 ms", BufferSize::Time(Duration::from_millis(20))),
            ("750 packets", BufferSize::Packets(750)),
            ("1 packet", BufferSize::Packets(1)),
            ("9 MB", BufferSize::Bytes(Bytes(9_000_000))),
        ] {
            assert_eq!(text.parse(), Ok(size));
        }
    }

    #[test]
    fn a_wrong_buffer_is_answered_with_an_example() {
        for (text, part) in [
            ("0 packets", "would drop"),
            ("0 bdp", "would drop"),
            ("0 B", "would drop"),
            ("0 s", "would drop"),
            ("0.5 packets", "whole number"),
            ("-1 bdp", "negative"),
            ("-1 MB", "negative"),
            ("nan bdp", "does not start with a number"),
            ("750", "needs a unit"),
            ("9 Mbit", "has the unit `Mbit`"),
            ("big", "does not start with a number"),
        ] {
            let error = text.parse::<BufferSize>().unwrap_err();
            assert!(error.contains(part) && error.ends_with(HELP), "{text}: {error}");
        }
    }
}
