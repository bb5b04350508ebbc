//! Parameters of protocols: their derives, and checks of their values.

use crate::units::Duration;
use alloc::{format, string::String};
use core::ops::RangeInclusive;

/// Declares a protocol's parameters, a struct of named fields or an enum of unit variants.
///
/// The type becomes `Clone` and `Debug`. With the feature `serde`, it can be serialized and deserialized, by names in
/// kebab-case, and unknown names are refused; with the feature `registry`, it has a JSON Schema, in which the first
/// paragraph of each field's comment is the parameter's description. A crate that uses the macro depends on `serde` and
/// `schemars` itself if these features are on.
#[cfg(feature = "registry")]
#[macro_export]
macro_rules! parameters {
    ($($item:tt)*) => {
        #[derive(Clone, Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(deny_unknown_fields, rename_all = "kebab-case")]
        $($item)*
    };
}

/// As with the feature `registry`, but without a JSON Schema.
#[cfg(all(feature = "serde", not(feature = "registry")))]
#[macro_export]
macro_rules! parameters {
    ($($item:tt)*) => {
        #[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields, rename_all = "kebab-case")]
        $($item)*
    };
}

/// As with the feature `registry`, but a plain type.
#[cfg(not(feature = "serde"))]
#[macro_export]
macro_rules! parameters {
    ($($item:tt)*) => {
        #[derive(Clone, Debug)]
        $($item)*
    };
}

/// Checks that a parameter's `value` lies in `range`. The error gives `name`, the value and the range.
pub fn within(name: &str, value: f64, range: RangeInclusive<f64>) -> Result<(), String> {
    if range.contains(&value) {
        Ok(())
    } else {
        Err(format!("{name} = {value} is out of range; write {} to {}", range.start(), range.end()))
    }
}

/// Checks that a parameter's `time` lies between a microsecond and a minute. The error gives `name`, the time and the
/// range.
pub(crate) fn seconds(name: &str, time: Duration) -> Result<(), String> {
    let fine = time >= Duration::from_micros(1) && time.as_secs() <= 60.0;
    if fine { Ok(()) } else { Err(format!("{name} = {time} is out of range; write \"1 us\" to \"60 s\"")) }
}
