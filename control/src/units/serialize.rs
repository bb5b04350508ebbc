//! Times, rates and sizes in files: texts with a unit where people read them, numbers elsewhere.

use super::{Bytes, Duration, Rate};
use alloc::string::{String, ToString};
use core::fmt;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

macro_rules! serialized {
    ($($unit:ident)*) => {$(
        impl Serialize for $unit {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                if serializer.is_human_readable() { serializer.collect_str(self) } else { self.0.serialize(serializer) }
            }
        }
        impl<'de> Deserialize<'de> for $unit {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<$unit, D::Error> {
                if !deserializer.is_human_readable() {
                    return Deserialize::deserialize(deserializer).map($unit);
                }
                deserializer.deserialize_any(Text($unit::WHAT, $unit::EXAMPLE))?.parse().map_err(de::Error::custom)
            }
        }
    )*};
}
serialized! { Duration Rate Bytes }

/// Accepts a text. Its error message for any other type says what to write, with an example.
struct Text(&'static str, &'static str);

impl<'de> de::Visitor<'de> for Text {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} with its unit in quotes, like \"{}\"", self.0, self.1)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<String, E> {
        Ok(text.to_string())
    }
}
