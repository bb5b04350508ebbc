//! TOML values as plain data, without the places where they stand in the text.

use serde_json::{Map, Value};
use std::borrow::Cow;
use std::ops::Range;
use toml::Spanned;
use toml::de::DeValue;

/// The value that a scenario gives to a key, as plain data. Dates become strings.
///
/// # Errors
/// A number that is not finite or does not fit into 64 bits: where it stands (an empty range for `value` itself), and
/// what is wrong.
pub(super) fn plain(value: &DeValue) -> Result<Value, (Range<usize>, String)> {
    let inner = |value: &Spanned<DeValue>| {
        plain(value.get_ref()).map_err(|(span, message)| (if span.is_empty() { value.span() } else { span }, message))
    };
    Ok(match value {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Boolean(b) => Value::Bool(*b),
        DeValue::Datetime(date) => Value::String(date.to_string()),
        DeValue::Integer(n) => match i64::from_str_radix(n.as_str(), n.radix()) {
            Ok(n) => n.into(),
            Err(_) => return Err((0..0, format!("the number {n} is too large"))),
        },
        DeValue::Float(x) => match x.as_str().parse::<f64>().ok().and_then(serde_json::Number::from_f64) {
            Some(x) => Value::Number(x),
            None => return Err((0..0, format!("{x} is not a finite number"))),
        },
        DeValue::Array(list) => Value::Array(list.iter().map(inner).collect::<Result<_, _>>()?),
        DeValue::Table(table) => {
            let pair = |(key, value): (&Spanned<Cow<str>>, _)| Ok((key.get_ref().to_string(), inner(value)?));
            Value::Object(table.iter().map(pair).collect::<Result<Map<_, _>, _>>()?)
        }
    })
}
