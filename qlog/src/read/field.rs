//! Fields of JSON objects.

use serde_json::Value;

/// What is wrong, in words.
#[derive(Debug, PartialEq)]
pub struct Wrong(pub String);

impl Wrong {
    /// `key` has a value that it cannot have. `wanted` is what it should be.
    pub fn value(key: &str, value: &Value, wanted: &str) -> Wrong {
        let mut shown = value.to_string();
        if shown.len() > 40 {
            let end = (0..=40).rev().find(|&end| shown.is_char_boundary(end)).unwrap_or(0);
            shown.truncate(end);
            shown.push_str("...");
        }
        Wrong(format!("{key} is {shown}, which is no {wanted}"))
    }
}

/// The number in the field `key`, if it is there. Numbers may be written as texts (main schema, section 11.3).
pub fn number(object: &Value, key: &str) -> Result<Option<f64>, Wrong> {
    match object.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => as_number(value).map(Some).ok_or_else(|| Wrong::value(key, value, "number")),
    }
}

/// `value` as a number.
pub fn as_number(value: &Value) -> Option<f64> {
    let number = match value {
        Value::String(text) => text.trim().parse().ok()?,
        value => value.as_f64()?,
    };
    number.is_finite().then_some(number)
}

/// The text in the field `key`, if it is there.
pub fn text(object: &Value, key: &str) -> Result<Option<String>, Wrong> {
    match object.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(value) => Err(Wrong::value(key, value, "text")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_may_be_texts_but_must_be_finite() {
        let object = json!({ "a": 1.5, "b": "18446744073709551615", "c": "NaN", "d": null, "e": [1] });
        assert_eq!(number(&object, "a"), Ok(Some(1.5)));
        assert_eq!(number(&object, "b"), Ok(Some(18446744073709551615.0)));
        assert_eq!(number(&object, "c"), Err(Wrong("c is \"NaN\", which is no number".into())));
        assert_eq!(number(&object, "d"), Ok(None));
        assert!(number(&object, "e").is_err());
    }

    #[test]
    fn a_long_value_is_cut() {
        let object = json!({ "a": "ä".repeat(1000) });
        let Err(Wrong(wrong)) = number(&object, "a") else { panic!() };
        assert!(wrong.len() < 80 && wrong.contains("..."), "{wrong}");
    }
}
