//! Which run of a scenario a claim measures.

use experiment::{Identity, describe};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::fmt;

/// Parts of the identity of one run, enough to tell it from the scenario's other runs. In TOML a controller's name, or
/// a table of `controller` (one, or a list of those of a run without a comparison) and of settings by their keys: `{
/// controller = "rapid", "path.rate" = "10 Gbps" }`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "Written")]
pub struct Selector {
    /// Empty if any will do.
    controllers: Vec<String>,
    settings: Map<String, Value>,
}

/// A selector as the catalogue has it.
#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Controller(String),
    Parts(Map<String, Value>),
}

impl TryFrom<Written> for Selector {
    type Error = String;

    fn try_from(written: Written) -> Result<Selector, String> {
        let mut settings = match written {
            Written::Controller(name) => return Ok(Selector { controllers: vec![name], settings: Map::new() }),
            Written::Parts(parts) => parts,
        };
        let controllers = match settings.shift_remove("controller") {
            None => vec![],
            Some(Value::String(name)) => vec![name],
            Some(names) => serde_json::from_value(names).map_err(|e| format!("controller: {e}"))?,
        };
        Ok(Selector { controllers, settings })
    }
}

impl Selector {
    /// Whether `identity` has all parts that are named.
    pub fn selects(&self, identity: &Identity) -> bool {
        (self.controllers.is_empty() || self.controllers == identity.controllers)
            && self.settings.iter().all(|(key, value)| identity.settings.get(key) == Some(value))
    }

    /// The one among `runs` that it selects.
    ///
    /// # Errors
    /// In a line, that it selects none or several, and which runs there are.
    pub fn find<'r, R>(&self, runs: &'r [R], identity: impl Fn(&R) -> &Identity) -> Result<&'r R, String> {
        let list = |runs: &[&R]| {
            let names: Vec<String> = runs.iter().take(SHOWN).map(|run| format!("`{}`", identity(run))).collect();
            names.join(", ") + if runs.len() > SHOWN { ", ..." } else { "" }
        };
        let selected: Vec<&R> = runs.iter().filter(|run| self.selects(identity(run))).collect();
        match selected[..] {
            [one] => Ok(one),
            [] => Err(format!("no run `{self}`; the scenario has {}", list(&runs.iter().collect::<Vec<_>>()))),
            _ => Err(format!(
                "`{self}` is {} runs, {}; add a setting that tells them apart",
                selected.len(),
                list(&selected)
            )),
        }
    }
}

/// How many runs an error lists.
const SHOWN: usize = 5;

/// As an identity that consists of these parts alone.
impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&describe(&self.controllers, &self.settings))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::Place;
    use serde_json::json;

    fn selector(written: Value) -> Selector {
        serde_json::from_value(written).unwrap()
    }

    fn runs() -> Vec<Identity> {
        let run = |controller: &str, rate: &str| Identity {
            controllers: controller.split('+').map(str::to_string).collect(),
            settings: json!({"path.rate": rate}).as_object().unwrap().clone(),
            seed: 1,
            place: Place::Simulated,
        };
        vec![run("rapid", "1 Gbps"), run("rapid", "10 Gbps"), run("cubic", "1 Gbps"), run("reno+bic", "1 Gbps")]
    }

    #[test]
    fn parts_that_tell_one_run_from_the_others_are_enough() {
        let runs = runs();
        for (written, place) in [
            (json!({"controller": "rapid", "path.rate": "10 Gbps"}), 1),
            (json!({"path.rate": "10 Gbps"}), 1),
            (json!("cubic"), 2),
            (json!({"controller": ["reno", "bic"]}), 3),
        ] {
            let found = selector(written.clone()).find(&runs, |run| run).unwrap();
            assert!(std::ptr::eq(found, &runs[place]), "{written}: {found}");
        }
    }

    #[test]
    fn none_and_several_are_errors_that_list_runs() {
        let error = |written| selector(written).find(&runs(), |run| run).unwrap_err();
        assert!(error(json!("vegas")).starts_with("no run `vegas`; the scenario has `rapid, path.rate = 1 Gbps`, `"));
        let several = error(json!("rapid"));
        assert!(several.contains("is 2 runs") && several.ends_with("add a setting that tells them apart"), "{several}");
    }

    #[test]
    fn a_selector_reads_as_the_run_that_it_selects() {
        let text = selector(json!({"controller": ["reno", "bic"], "path.rate": "1 Gbps"})).to_string();
        assert_eq!(text, runs()[3].to_string());
        assert_eq!(selector(json!({"path.rate": "1 Gbps"})).to_string(), "path.rate = 1 Gbps");
    }
}
