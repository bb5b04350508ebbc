//! `--set path.rate=10Gbps`: a value that takes the place of the file's.

use super::key_path::{KeyPath, Step};
use super::plain::plain;
use super::wording;
use serde_json::{Map, Value};
use std::str::FromStr;

/// A key, and the value that takes the place of the file's.
#[derive(Clone, Debug, PartialEq)]
pub struct Set {
    /// The key.
    pub path: KeyPath,
    /// Its new value.
    pub value: Value,
}

impl FromStr for Set {
    type Err = String;

    /// Reads `KEY=VALUE`. A value that is not TOML is taken as a string, so that `10Gbps` needs no quotes.
    fn from_str(text: &str) -> Result<Set, String> {
        let (key, value) = text
            .split_once('=')
            .ok_or_else(|| format!("`{text}` has no `=`; write KEY=VALUE, like path.rate=10Gbps"))?;
        let path = KeyPath::parse(key)?;
        let value = match toml::de::DeValue::parse(value.trim()) {
            Ok(toml) => plain(toml.get_ref()).map_err(|(_, why)| format!("{path}: {why}; write another number"))?,
            Err(_) => value.trim().into(),
        };
        Ok(Set { path, value })
    }
}

/// Puts `value` at `path` below `root`. Tables on the way that do not exist are made; an index that equals a list's
/// length appends an element.
pub(super) fn put(root: &mut Value, path: &KeyPath, value: Value) -> Result<(), String> {
    let mut here = root;
    for step in &path.0 {
        here = match step {
            Step::Key(key) => {
                if here.is_null() {
                    *here = Value::Object(Map::new());
                }
                let table = here
                    .as_object_mut()
                    .ok_or_else(|| format!("`{key}` is a key below a value that is not a table"))?;
                table.entry(key.clone()).or_insert(Value::Null)
            }
            Step::Index(index) => {
                if here.is_null() {
                    *here = Value::Array(Vec::new());
                }
                let list = here
                    .as_array_mut()
                    .ok_or_else(|| format!("[{index}] is an index into a value that is not a list"))?;
                if *index == list.len() {
                    list.push(Value::Null);
                }
                let len = list.len();
                list.get_mut(*index).ok_or_else(|| {
                    format!(
                        "there is no element {index}; the list has {}, counted from 0",
                        wording::count(len, "element")
                    )
                })?
            }
        };
    }
    *here = value;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_value_is_toml_or_else_a_string() {
        for (text, value) in [
            ("path.rate=10Gbps", json!("10Gbps")),
            ("path.rate = \"10 Gbps\"", json!("10 Gbps")),
            ("seed=7", json!(7)),
            ("path.packet-error=1e-3", json!(1e-3)),
            ("compare.controllers=[\"bic\", 'reno']", json!(["bic", "reno"])),
            ("title=a = b", json!("a = b")),
            ("title=", json!("")),
            ("flow[0].start={ uniform = [\"0 s\", \"1 s\"] }", json!({"uniform": ["0 s", "1 s"]})),
        ] {
            assert_eq!(text.parse::<Set>().unwrap().value, value, "{text}");
        }
        assert!("path.rate".parse::<Set>().unwrap_err().contains("KEY=VALUE"));
        assert!("=1".parse::<Set>().is_err());
        for (text, said) in
            [("seed=99999999999999999999", "too large"), ("path.packet-error=nan", "not a finite number")]
        {
            assert!(text.parse::<Set>().unwrap_err().contains(said), "{text}");
        }
    }

    #[test]
    fn an_index_one_past_the_end_appends_to_a_list() {
        let mut tree = json!({});
        put(&mut tree, &KeyPath::parse("flow[0].count").unwrap(), json!(2)).unwrap();
        put(&mut tree, &KeyPath::parse("flow[1].count").unwrap(), json!(3)).unwrap();
        assert_eq!(tree, json!({"flow": [{"count": 2}, {"count": 3}]}));
        let error = put(&mut tree, &KeyPath::parse("flow[5].count").unwrap(), json!(4)).unwrap_err();
        assert!(error.contains("2 elements"), "{error}");
        assert!(put(&mut tree, &KeyPath::parse("flow.count").unwrap(), json!(4)).is_err());
    }
}
