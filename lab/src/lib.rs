//! Makes the runs of a plan, and says what came out.
//!
//! What lives here: [runner] makes the runs of a [plan](scenario::Plan) on all cores; [results] makes summaries, tables and Parquet
//! files of what came out; [reproduce] has the catalogue of the papers' figures and judges what they claim; [theory] has the equations
//! of the papers, for claims and tests to hold the simulator against. What does not: simulating (`sim`), reading scenarios
//! (`scenario`), drawing (`report`), and terminals, signals and the folder for results, which are the command line's.
//!
//! Rules of the room: the same plan gives the same bytes in every file, on any number of cores. A new figure of a run is a field
//! in `results/summary.rs` and a line in `docs/results.md`.

pub mod cache;
pub mod code;
pub mod files;
pub mod processor_sharing;
pub mod reproduce;
pub mod results;
pub mod runner;
pub mod theory;
