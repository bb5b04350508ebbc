//! A scenario as TOML, in the order in which people write one.

use std::fmt::Write;
use toml::{Table, Value};

/// A scenario that is being written.
#[derive(Default)]
pub struct Document {
    /// The keys above all tables.
    pub top: Table,
    /// `[path]`.
    pub path: Table,
    /// Each `[[flow]]`.
    pub flows: Vec<Table>,
    /// Each `[[traffic]]`.
    pub traffic: Vec<Table>,
    /// `[compare]`.
    pub compare: Table,
}

impl Document {
    /// The text, below the comment `head`.
    pub fn text(&self, head: &str) -> String {
        let mut text = format!("# {head}\n{}", keys(&self.top));
        let one = [("[path]", &self.path), ("[compare]", &self.compare)];
        let flows = self.flows.iter().map(|flow| ("[[flow]]", flow));
        let traffic = self.traffic.iter().map(|traffic| ("[[traffic]]", traffic));
        for (name, table) in one.into_iter().chain(flows).chain(traffic) {
            let _ = write!(text, "\n{name}\n{}", keys(table));
        }
        text
    }
}

/// A line for each key of `table`. Tables below it stand on one line.
fn keys(table: &Table) -> String {
    table.iter().map(|(key, value)| format!("{key} = {value}\n")).collect()
}

/// A table of these keys.
pub fn table<const N: usize>(keys: [(&str, Value); N]) -> Table {
    keys.into_iter().map(|(key, value)| (key.to_string(), value)).collect()
}

/// A quantity, as a text with its unit.
pub fn text(quantity: impl ToString) -> Value {
    Value::String(quantity.to_string())
}

/// A whole number.
pub fn count(n: u64) -> Value {
    Value::Integer(n as i64)
}
