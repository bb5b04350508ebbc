//! Scenarios: TOML files that say what to simulate, and how they become a [`Plan`].
//!
//! A file is parsed into a tree that remembers where each key stands (`document`); `--set`, `[compare]` and `[sweep]` change
//! the tree ([`set`], `grid`); the tree is read into plain structs ([`keys`]), which are checked and completed to one
//! [`sim::Experiment`] per run (`experiment`). Whatever is wrong with a scenario is found before anything runs, and is a
//! [`Problem`]: one line that names the place, the key and the remedy.

pub mod buffer;
mod document;
mod draw;
mod experiment;
mod flows;
mod grid;
pub mod impairments;
mod key_path;
pub mod keys;
mod machine;
mod memory;
mod network;
mod problem;
pub mod queue;
mod schema;
pub mod set;
pub mod size;
pub mod spread;
#[cfg(test)]
mod tests;
mod trace;
mod traffic;
mod wording;

use crate::plan::Plan;
use document::Document;
use std::path::Path;

pub use experiment::find as controller;
pub use key_path::KeyPath;
pub use machine::Machine;
pub use problem::{Place, Problem};
pub use schema::schema;
pub use set::Set;

/// Reads the scenario in `file`, with `sets` laid over it, as runs that `machine` has memory for.
///
/// # Errors
/// Everything that is wrong with it; at least one problem.
pub fn load(file: &Path, sets: &[Set], machine: &Machine) -> Result<Plan, Vec<Problem>> {
    let name = file.display().to_string();
    match std::fs::read(file) {
        Ok(bytes) => match String::from_utf8(bytes) {
            Ok(text) => read(&name, &text, sets, machine),
            Err(_) => Err(vec![Problem::of_file(&name, "is not UTF-8 text; name a scenario, a TOML file")]),
        },
        Err(e) => {
            let message = format!("cannot be read ({}); check its name and permissions", crate::reason(&e));
            Err(vec![Problem::of_file(&name, &message)])
        }
    }
}

/// Reads the scenario `text`, as [`load`] does; problems call it `name`.
///
/// # Errors
/// Everything that is wrong with it; at least one problem.
pub fn read(name: &str, text: &str, sets: &[Set], machine: &Machine) -> Result<Plan, Vec<Problem>> {
    let mut document = Document::parse(name, text)?;
    for set in sets {
        document.set(set)?;
    }
    grid::plan(&document, machine)
}
