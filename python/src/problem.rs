//! Errors of the engine as exceptions of Python.

use pyo3::prelude::*;
use scenario::{Location, Problem};

/// The exception `thalweg.ScenarioError` of `problems`.
pub fn scenario_error(py: Python, problems: &[Problem]) -> PyErr {
    let row = |problem: &Problem| {
        let (line, column) = match problem.location {
            Location::At { line, column } => (Some(line), Some(column)),
            Location::Set | Location::File => (None, None),
        };
        let Problem { file, key, message, .. } = problem;
        (file.clone(), line, column, key.clone(), message.clone(), problem.to_string())
    };
    let rows: Vec<_> = problems.iter().map(row).collect();
    exception(py, "ScenarioError", rows)
}

/// The exception `thalweg.RunError` with this message.
pub fn run_error(py: Python, message: String) -> PyErr {
    exception(py, "RunError", message)
}

/// The exception of the package that is called `name`. If it cannot be made, the reason why.
fn exception<'py>(py: Python<'py>, name: &str, argument: impl IntoPyObject<'py>) -> PyErr {
    let made = py.import("thalweg._errors").and_then(|module| module.getattr(name)?.call1((argument,)));
    made.map_or_else(|why| why, PyErr::from_value)
}
