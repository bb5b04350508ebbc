//! Scenarios: TOML files that say what to run, and how they become a [`Plan`].
//!
//! The way of a scenario through this crate:
//!
//! 1. `document` parses the text into a tree of values, and knows the line and column of each. `--set` (`set`),
//!    `[sweep]` and `[compare]` (`grid`) change the tree.
//! 2. `keys` has the structs that the tree is read into, and `values` the values with a notation of their own, such
//!    as buffer sizes.
//! 3. `resolve` checks the keys and completes them to one [`experiment::Experiment`] per run. `files` reads the
//!    files that a scenario names.
//!
//! All mistakes in a scenario are found before anything runs. Each is a [`Problem`]: a line that names the place, the
//! key and the remedy.

mod checks;
mod document;
mod files;
mod grid;
mod key_path;
mod keys;
mod machine;
mod plain;
mod plan;
mod problem;
mod problems;
mod queue;
mod resolve;
mod schema;
mod set;
mod shard;
#[cfg(test)]
mod tests;
mod values;
mod wording;

use document::Document;
use std::path::Path;

pub use files::vectors;
pub use key_path::KeyPath;
pub use machine::Machine;
pub use plan::{Plan, Swept};
pub use problem::{Location, Problem, reason};
pub use resolve::find as controller;
pub use schema::schema;
pub use set::Set;
pub use shard::Shard;
pub use wording::nearest;

/// Reads the scenario in `file`, in which `sets` replace values, and plans its runs. The runs must fit into the memory
/// of `machine`.
///
/// # Errors
/// The problems with the scenario; at least one.
pub fn load(file: &Path, sets: &[Set], machine: &Machine) -> Result<Plan, Vec<Problem>> {
    let name = file.display().to_string();
    grid::plan(&parse_with(&name, &text_of(file)?, sets)?, machine, &|_| None, None)
}

/// Reads the scenario in `file` as [`load`] does, and plans the runs of `shard` alone. The runs of other shards take
/// neither time nor memory, and mistakes in them are not found. The time series of a run may be in memory while it is
/// made and until they are written, but not those of all runs.
///
/// # Errors
/// The problems with the scenario; at least one.
pub fn load_shard(file: &Path, sets: &[Set], machine: &Machine, shard: Shard) -> Result<Plan, Vec<Problem>> {
    let name = file.display().to_string();
    grid::plan(&parse_with(&name, &text_of(file)?, sets)?, machine, &|_| None, Some(shard))
}

/// Plans the runs of `shard` of the scenario `text` as [`load_shard`] does, for programs that hand scenarios to other
/// machines. `name` is what problems call it; the files that it names are looked for in the folder of `name`.
///
/// # Errors
/// The problems with the scenario; at least one.
pub fn read_shard(name: &str, text: &str, sets: &[Set], machine: &Machine, shard: Shard) -> Result<Plan, Vec<Problem>> {
    grid::plan(&parse_with(name, text, sets)?, machine, &|_| None, Some(shard))
}

/// The text of the scenario in `file`.
///
/// # Errors
/// That it cannot be read.
pub fn text_of(file: &Path) -> Result<String, Vec<Problem>> {
    let problem = |message: &str| vec![Problem::of_file(&file.display().to_string(), message)];
    match std::fs::read(file) {
        Ok(bytes) => String::from_utf8(bytes).map_err(|_| problem("is not UTF-8 text; name a scenario, a TOML file")),
        Err(e) => Err(problem(&format!("cannot be read ({}); check its name and permissions", reason(&e)))),
    }
}

/// Reads the scenario in `file` as [`load`] does, for its network alone: it may lack `duration`, flows and traffic.
///
/// # Errors
/// The problems with the scenario; at least one.
pub fn load_path(file: &Path, sets: &[Set], machine: &Machine) -> Result<Plan, Vec<Problem>> {
    let name = file.display().to_string();
    let text = text_of(file)?;
    let mut document = parse_with(&name, &text, sets)?;
    let sends = ["flow", "traffic", "compare"].iter().any(|key| document.get(key).is_some());
    let assumed = [(!sends, "compare.controllers=[\"reno\"]"), (document.get("duration").is_none(), "duration=1 min")];
    for (_, set) in assumed.iter().filter(|(missing, _)| *missing) {
        document.set(&set.parse().expect("KEY=VALUE"))?;
    }
    grid::plan(&document, machine, &|_| None, None)
}

/// Reads the scenario `text`, which problems call `name`, as [`load`] does.
///
/// # Errors
/// The problems with the scenario; at least one.
pub fn read(name: &str, text: &str, sets: &[Set], machine: &Machine) -> Result<Plan, Vec<Problem>> {
    read_beside(name, text, sets, machine, &|_| None)
}

/// Reads the scenario `text` as [`read`] does. Traces whose texts `beside` has are not read from files.
///
/// # Errors
/// The problems with the scenario; at least one.
pub fn read_beside(
    name: &str,
    text: &str,
    sets: &[Set],
    machine: &Machine,
    beside: &dyn Fn(&str) -> Option<String>,
) -> Result<Plan, Vec<Problem>> {
    grid::plan(&parse_with(name, text, sets)?, machine, beside, None)
}

/// Parses the scenario `text`, and replaces the values that `sets` name.
fn parse_with<'t>(name: &'t str, text: &'t str, sets: &[Set]) -> Result<Document<'t>, Vec<Problem>> {
    let mut document = Document::parse(name, text)?;
    for set in sets {
        document.set(set)?;
    }
    Ok(document)
}

/// What reads bytes from outside, for the fuzz targets. No part of the interface.
#[cfg(feature = "fuzzing")]
pub mod fuzzing {
    /// The distribution of sizes in a file of these `bytes`, or what is wrong with it.
    ///
    /// # Errors
    /// What is wrong with the first line that is wrong.
    pub fn sizes(bytes: &[u8]) -> Result<experiment::traffic::Sizes, String> {
        crate::files::size_distribution::read(bytes).map_err(|error| error.message)
    }
}
