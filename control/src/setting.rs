//! A parameter whose value depends on the host unless it is given.

/// The text that stands for [`Setting::Auto`] in scenarios and on the command line.
#[cfg(feature = "serde")]
const AUTO: &str = "auto";

/// The value of a parameter that has a text form, or `"auto"`: the value that suits the host's
/// [`Conditions`](crate::roles::Conditions).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Setting<T> {
    /// The value that suits the host.
    #[default]
    Auto,
    /// This value, on every host.
    Given(T),
}

impl<T> Setting<T> {
    /// The value that was given, or else `auto`.
    pub fn or(self, auto: T) -> T {
        match self {
            Setting::Auto => auto,
            Setting::Given(value) => value,
        }
    }
}

#[cfg(feature = "serde")]
mod serialize {
    use super::{AUTO, Setting};
    use core::fmt;
    use core::marker::PhantomData;
    use serde::de::{self, IntoDeserializer};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    impl<T: Serialize> Serialize for Setting<T> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            match self {
                Setting::Auto => serializer.serialize_str(AUTO),
                Setting::Given(value) => value.serialize(serializer),
            }
        }
    }

    impl<'de, T: Deserialize<'de>> Deserialize<'de> for Setting<T> {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Setting<T>, D::Error> {
            deserializer.deserialize_any(Text(PhantomData))
        }
    }

    /// Accepts a text: `"auto"`, or what `T` accepts.
    struct Text<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> de::Visitor<'de> for Text<T> {
        type Value = Setting<T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "\"{AUTO}\" or a value in quotes")
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<Setting<T>, E> {
            if text == AUTO {
                return Ok(Setting::Auto);
            }
            let value = T::deserialize(text.into_deserializer());
            value.map(Setting::Given).map_err(|problem: E| E::custom(format_args!("{problem}; or \"{AUTO}\"")))
        }
    }
}

#[cfg(feature = "registry")]
mod schema {
    use super::{AUTO, Setting};
    use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
    use std::borrow::Cow;

    impl<T: JsonSchema> JsonSchema for Setting<T> {
        fn schema_name() -> Cow<'static, str> {
            format!("{}OrAuto", T::schema_name()).into()
        }

        fn inline_schema() -> bool {
            true
        }

        fn json_schema(generator: &mut SchemaGenerator) -> Schema {
            json_schema!({ "anyOf": [{ "const": AUTO }, generator.subschema_for::<T>()] })
        }
    }
}

#[cfg(all(test, feature = "registry"))]
mod tests {
    use super::*;
    use crate::units::Duration;
    use serde_json::{from_value, json, to_value};

    #[test]
    fn is_written_as_auto_or_as_its_value() {
        for (setting, text) in [(Setting::Auto, "auto"), (Setting::Given(Duration::from_micros(10)), "10 us")] {
            assert_eq!(to_value(setting).unwrap(), text);
            assert_eq!(from_value::<Setting<Duration>>(text.into()).unwrap(), setting);
        }
        assert_eq!((Setting::Auto.or(1), Setting::Given(2).or(1)), (1, 2));
    }

    #[test]
    fn an_error_names_auto_beside_what_else_is_accepted() {
        let error = |value| from_value::<Setting<Duration>>(value).unwrap_err().to_string();
        let unit = error(json!("10"));
        assert!(unit.contains("needs a unit") && unit.contains("or \"auto\""), "{unit}");
        let number = error(json!(10));
        assert!(number.contains("\"auto\" or a value in quotes"), "{number}");
    }
}
