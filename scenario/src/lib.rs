//! Scenarios: TOML files that say what to simulate, and how they become a [`Plan`].
//!
//! A file is parsed into a tree that remembers where each key stands (`document`); `--set`, `[compare]` and `[sweep]` change
//! the tree ([`set`], `grid`); the tree is read into plain structs ([`keys`]), which are checked and completed to one
//! [`experiment::Experiment`] per run (`resolve`). Whatever is wrong with a scenario is found before anything runs, and is a
//! [`Problem`]: one line that names the place, the key and the remedy.

pub mod buffer;
mod document;
mod draw;
mod flows;
mod grid;
pub mod impairments;
mod key_path;
pub mod keys;
pub mod load;
mod machine;
mod memory;
mod network;
mod plan;
mod problem;
pub mod queue;
mod resolve;
mod schema;
pub mod set;
pub mod size;
pub mod spread;
#[cfg(test)]
mod tests;
mod trace;
mod traffic;
pub mod vectors;
mod wording;

use document::Document;
use std::path::Path;

pub use key_path::KeyPath;
pub use machine::Machine;
pub use plan::Plan;
pub use problem::{Place, Problem, reason};
pub use resolve::find as controller;
pub use schema::schema;
pub use set::Set;
pub use wording::nearest;

/// Reads the scenario in `file`, with `sets` laid over it, as runs that `machine` has memory for.
///
/// # Errors
/// Everything that is wrong with it; at least one problem.
pub fn load(file: &Path, sets: &[Set], machine: &Machine) -> Result<Plan, Vec<Problem>> {
    read(&file.display().to_string(), &text_of(file)?, sets, machine)
}

/// The text of `file`.
fn text_of(file: &Path) -> Result<String, Vec<Problem>> {
    let problem = |message: &str| vec![Problem::of_file(&file.display().to_string(), message)];
    match std::fs::read(file) {
        Ok(bytes) => String::from_utf8(bytes).map_err(|_| problem("is not UTF-8 text; name a scenario, a TOML file")),
        Err(e) => Err(problem(&format!("cannot be read ({}); check its name and permissions", crate::reason(&e)))),
    }
}

/// Reads the scenario in `file` for its path alone, as [`load`] does: it may leave out `duration` and everything that sends.
///
/// # Errors
/// Everything that is wrong with it; at least one problem.
pub fn load_path(file: &Path, sets: &[Set], machine: &Machine) -> Result<Plan, Vec<Problem>> {
    let name = file.display().to_string();
    let text = text_of(file)?;
    let mut document = laid_over(&name, &text, sets)?;
    let sends = ["flow", "traffic", "compare"].iter().any(|key| document.get(key).is_some());
    let assumed = [(!sends, "compare.controllers=[\"reno\"]"), (document.get("duration").is_none(), "duration=1 min")];
    for (_, set) in assumed.iter().filter(|(missing, _)| *missing) {
        document.set(&set.parse().expect("KEY=VALUE"))?;
    }
    grid::plan(&document, machine, &|_| None)
}

/// Reads the scenario `text`, as [`load`] does; problems call it `name`.
///
/// # Errors
/// Everything that is wrong with it; at least one problem.
pub fn read(name: &str, text: &str, sets: &[Set], machine: &Machine) -> Result<Plan, Vec<Problem>> {
    read_beside(name, text, sets, machine, &|_| None)
}

/// As [`read`], with the traces whose texts `beside` has; others are files beside the scenario.
///
/// # Errors
/// Everything that is wrong with it; at least one problem.
pub fn read_beside(
    name: &str,
    text: &str,
    sets: &[Set],
    machine: &Machine,
    beside: &dyn Fn(&str) -> Option<String>,
) -> Result<Plan, Vec<Problem>> {
    grid::plan(&laid_over(name, text, sets)?, machine, beside)
}

/// The scenario `text` with `sets` laid over it.
fn laid_over<'t>(name: &'t str, text: &'t str, sets: &[Set]) -> Result<Document<'t>, Vec<Problem>> {
    let mut document = Document::parse(name, text)?;
    for set in sets {
        document.set(set)?;
    }
    Ok(document)
}
