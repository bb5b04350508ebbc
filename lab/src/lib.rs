//! Scenarios, runs, results.
//!
//! What lives here: [scenario] reads a TOML file and makes it a [`Plan`], runs with every choice made; [runner] makes the runs
//! on all cores; [results] makes figures and Parquet files of what came out, [report] a page with plots; [vectors] reads and
//! writes files of Tmix connection vectors; [reproduce] has the catalogue of the papers' figures; [theory] has the equations of the papers, for tests to hold the simulator against.
//! What does not: simulating (`sim`), and terminals, signals and the folder for results, which are the command line's.
//!
//! Rules of the room: whatever is wrong with a scenario is found before anything runs, and said in a line that names place,
//! key and remedy; no input may cause a panic. The same scenario and seed give the same bytes in every file, on any number
//! of cores. A new key is a field in [`scenario::keys`], whose description is also the schema's, and a line in
//! `docs/scenarios.md`; a new figure is a field in `results/summary.rs` and a line in `docs/results.md`.

pub mod plan;
pub mod processor_sharing;
pub mod report;
pub mod reproduce;
pub mod results;
pub mod runner;
pub mod scenario;
pub mod theory;
pub mod vectors;

pub use plan::{Finished, Plan, Run};

/// What the system says of an error, in its words but without its number.
pub fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
}
