//! A table `[[traffic]]`, of which each kind has keys of its own.

use crate::key_path::KeyPath;
use crate::keys::Scenario;
use crate::keys::traffic::{KINDS, TrafficKind, key_names};
use crate::problems::Problems;
use crate::wording;
use schemars::{JsonSchema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// A `[[traffic]]` whose kind is known.
pub(super) struct TrafficTable<'s> {
    /// Its path in the scenario.
    pub at: KeyPath,
    /// Its position among all traffic, from 0.
    pub index: usize,
    /// The name of its kind.
    pub kind: &'static str,
    /// All its keys.
    pub keys: &'s Map<String, Value>,
}

impl TrafficTable<'_> {
    /// Reads its keys that are a `T`'s. None if it adds to `problems`.
    pub fn read<T: DeserializeOwned + JsonSchema>(&self, problems: &mut Problems) -> Option<T> {
        let own = key_names(&T::json_schema(&mut SchemaGenerator::default()));
        let keys = self.keys.iter().filter(|(key, _)| own.contains(key));
        let keys: Map<String, Value> = keys.map(|(key, value)| (key.clone(), value.clone())).collect();
        match serde_path_to_error::deserialize(Value::Object(keys)) {
            Ok(keys) => Some(keys),
            Err(error) => {
                let mut at = self.at.clone();
                at.0.extend(KeyPath::from(error.path()).0);
                let said = wording::of_serde(&error.inner().to_string());
                problems.add(said.missing.map_or(at.clone(), |key| at.key(&key)), said.message);
                None
            }
        }
    }
}

/// The scenario's traffic of the kinds called `wanted`.
pub(super) fn tables<'s>(scenario: &'s Scenario, wanted: &[&str]) -> Vec<TrafficTable<'s>> {
    let tables = scenario.traffic.iter().enumerate().filter_map(|(index, keys)| {
        let kind = kind_of(keys).ok()?.name;
        Some(TrafficTable { at: KeyPath::of("traffic").index(index), index, kind, keys })
    });
    tables.filter(|table| wanted.contains(&table.kind)).collect()
}

/// Checks that all traffic is of a known kind and has only the keys of its kind.
pub(super) fn check_kinds(scenario: &Scenario, problems: &mut Problems) {
    for (index, keys) in scenario.traffic.iter().enumerate() {
        let at = KeyPath::of("traffic").index(index);
        match kind_of(keys) {
            Ok(kind) => {
                let known = kind.key_names();
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                for key in keys.keys().filter(|key| !known.contains(&key.as_str())) {
                    problems.add(at.key(key), wording::unknown("key", key, &known));
                }
            }
            Err(message) => problems.add(at.key("kind"), message),
        }
    }
}

/// The kind of the traffic with these `keys`, or what is wrong with its key `kind`.
fn kind_of(keys: &Map<String, Value>) -> Result<&'static TrafficKind, String> {
    let example = wording::example("kind");
    match keys.get("kind").map(Value::as_str) {
        None => Err(format!("is missing; write {example}")),
        Some(None) => Err(format!("is not a string in quotes; write {example}")),
        Some(Some(name)) => KINDS
            .iter()
            .find(|kind| kind.name == name)
            .ok_or_else(|| wording::unknown("choice", name, &KINDS.each_ref().map(|kind| kind.name))),
    }
}
