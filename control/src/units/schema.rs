//! JSON Schemas of times, rates and sizes: texts with a unit.

use super::text::{RATES, SIZES, TIMES};
use super::{Bytes, Duration, Rate};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use std::borrow::Cow;

macro_rules! described {
    ($($unit:ident in $units:ident;)*) => {$(
        impl JsonSchema for $unit {
            fn schema_name() -> Cow<'static, str> {
                stringify!($unit).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                let units: Vec<&str> = $units.iter().map(|(name, _)| *name).collect();
                json_schema!({
                    "type": "string",
                    "description": format!("{} with its unit, like \"{}\"", $unit::WHAT, $unit::EXAMPLE),
                    "pattern": format!("^\\s*\\+?[0-9][0-9_]*(\\.[0-9]+)?([eE][+-]?[0-9]+)?\\s*({})\\s*$", units.join("|")),
                    "examples": [$unit::EXAMPLE],
                })
            }
        }
    )*};
}
described! {
    Duration in TIMES;
    Rate in RATES;
    Bytes in SIZES;
}
