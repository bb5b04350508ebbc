//! Thalweg as a Python package: the native part.
//!
//! What lives here: scenarios and settings in, runs on threads of their own with Python's signals heeded, results out
//! as Arrow. What does not: progress bars, plots, typed scenarios and documentation for users, which are Python, in
//! `python/thalweg`. Everything else is in the crates below, as for the command line.
//!
//! Rules of the room: what is exported here is called from `python/thalweg` and described in `_thalweg.pyi`. Python's
//! lock is not held while the engine works, unless a controller in Python needs it.

mod controller;
mod envs;
mod evaluation;
mod plan;
mod problem;
mod results;
mod shard;
mod table;

use pyo3::prelude::*;

/// The native part of the package `thalweg`.
#[pymodule]
mod _thalweg {
    use super::*;
    use std::ffi::OsString;

    #[pymodule_export]
    use super::controller::{HostAck, HostConditions, HostPipe, register};
    #[pymodule_export]
    use super::envs::Envs;
    #[pymodule_export]
    use super::evaluation::{Evaluation, EvaluationTask};
    #[pymodule_export]
    use super::plan::Plan;
    #[pymodule_export]
    use super::results::Results;
    #[pymodule_export]
    use super::shard::{Shard, join, text_of};
    #[pymodule_export]
    use super::table::Table;

    /// quinn's own controllers are those of scenarios, too, as for the command line.
    #[pymodule_init]
    fn init(_module: &Bound<'_, PyModule>) -> PyResult<()> {
        thalweg::add_controllers();
        Ok(())
    }

    /// The command line: does what `arguments` ask for, and returns the exit code. `program` begins a command that
    /// calls this function again.
    #[pyfunction]
    fn main(py: Python, program: Vec<OsString>, arguments: Vec<OsString>) -> u8 {
        py.detach(|| thalweg::main(program, arguments))
    }

    /// The JSON Schema of scenarios, as text.
    #[pyfunction]
    fn schema() -> String {
        serde_json::to_value(scenario::schema()).unwrap_or_default().to_string()
    }

    /// The colours and dashes of figures, as JSON.
    #[pyfunction]
    fn styles() -> String {
        serde_json::to_value(report::figure::style::STYLES).unwrap_or_default().to_string()
    }
}
