//! `--set path.rate=10Gbps`: a value laid over the scenario's.

use super::key_path::{KeyPath, Step};
use super::wording;
use serde_json::{Map, Value};
use std::str::FromStr;

/// A key and the value it shall have instead of the file's.
#[derive(Clone, Debug, PartialEq)]
pub struct Set {
    /// Which key.
    pub path: KeyPath,
    /// Its new value.
    pub value: Value,
}

impl FromStr for Set {
    type Err = String;

    /// Reads `KEY=VALUE`. A value that is not TOML is a text, so that `10Gbps` needs no quotes.
    fn from_str(text: &str) -> Result<Set, String> {
        let (key, value) = text
            .split_once('=')
            .ok_or_else(|| format!("`{text}` has no `=`; write KEY=VALUE, like path.rate=10Gbps"))?;
        let path = KeyPath::parse(key)?;
        let value = match toml::de::DeValue::parse(value.trim()) {
            Ok(toml) => {
                super::document::plain(toml.get_ref()).map_err(|(_, why)| format!("{path}: {why}; write another"))?
            }
            Err(_) => value.trim().into(),
        };
        Ok(Set { path, value })
    }
}

/// Puts `value` at `path` below `root`. Tables on the way are made; a list grows by one if the index is its length.
pub(super) fn put(root: &mut Value, path: &KeyPath, value: Value) -> Result<(), String> {
    let mut here = root;
    for step in &path.0 {
        here = match step {
            Step::Key(key) => {
                if here.is_null() {
                    *here = Value::Object(Map::new());
                }
                let table = here.as_object_mut().ok_or_else(|| format!("`{key}` is looked for in what is no table"))?;
                table.entry(key.clone()).or_insert(Value::Null)
            }
            Step::Index(index) => {
                if here.is_null() {
                    *here = Value::Array(Vec::new());
                }
                let list = here.as_array_mut().ok_or_else(|| format!("[{index}] is looked for in what is no list"))?;
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
    fn values_are_toml_or_text() {
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
        for (text, said) in [("seed=99999999999999999999", "too large"), ("path.packet-error=nan", "no finite number")]
        {
            assert!(text.parse::<Set>().unwrap_err().contains(said), "{text}");
        }
    }

    #[test]
    fn lists_grow_by_one() {
        let mut tree = json!({});
        put(&mut tree, &KeyPath::parse("flow[0].count").unwrap(), json!(2)).unwrap();
        put(&mut tree, &KeyPath::parse("flow[1].count").unwrap(), json!(3)).unwrap();
        assert_eq!(tree, json!({"flow": [{"count": 2}, {"count": 3}]}));
        let error = put(&mut tree, &KeyPath::parse("flow[5].count").unwrap(), json!(4)).unwrap_err();
        assert!(error.contains("2 elements"), "{error}");
        assert!(put(&mut tree, &KeyPath::parse("flow.count").unwrap(), json!(4)).is_err());
    }
}
