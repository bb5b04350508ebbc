//! Shards of a plan, made here for `thalweg.sweep`.

use crate::plan::{self, UNNAMED};
use crate::problem::scenario_error;
use crate::table::Table;
use lab::results::summarize;
use lab::shards::{self, Part, Refusal};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use scenario::{Machine, Plan};
use std::num::NonZero;
use std::path::PathBuf;

/// The text of the scenario in the file `path`.
#[pyfunction]
pub fn text_of(py: Python, path: PathBuf) -> PyResult<String> {
    py.detach(|| scenario::text_of(&path)).map_err(|problems| scenario_error(py, &problems))
}

/// The table of the metrics of all shards, in their order. Its rows are in the order of the scenario's runs.
#[pyfunction]
pub fn join(py: Python, parts: Vec<Vec<u8>>) -> PyResult<Table> {
    py.detach(|| Ok(Table::from_parquet(shards::join(parts).map_err(os_error)?)?))
}

/// The runs of one shard of a scenario.
#[pyclass(frozen, module = "thalweg._thalweg")]
pub struct Shard {
    plan: Plan,
    shard: scenario::Shard,
    machine: Machine,
}

#[pymethods]
impl Shard {
    /// Plans the runs of shard `number` of `of`. `text`: that of a scenario file if `is_file`, or else a JSON object
    /// with the keys of one. `name` is what problems call it, `folder` that of the files that it names. `sets` and
    /// `jobs`: see `Plan.load`.
    #[staticmethod]
    #[pyo3(signature = (name, folder, text, is_file, sets, jobs, number, of))]
    #[allow(clippy::too_many_arguments)]
    fn read(
        py: Python,
        name: &str,
        folder: PathBuf,
        text: &str,
        is_file: bool,
        sets: &str,
        jobs: Option<NonZero<usize>>,
        number: usize,
        of: usize,
    ) -> PyResult<Shard> {
        let shard = scenario::Shard::new(number, of)
            .ok_or_else(|| PyValueError::new_err(format!("{number}/{of} is no shard")))?;
        let (sets, machine) = (plan::settings(py, name, sets)?, Machine::this(jobs));
        let text = if is_file { text.to_string() } else { plan::toml(py, text)? };
        // The folder of the name is where files are looked for, and the last part of it is the title.
        let path = folder.join(PathBuf::from(name).file_name().unwrap_or(UNNAMED.as_ref()));
        let plan = py.detach(|| scenario::read_shard(&path.to_string_lossy(), &text, &sets, &machine, shard));
        let plan = plan.map_err(|mut problems| {
            for problem in &mut problems {
                problem.file = name.to_string();
                if !is_file {
                    plan::without_place(problem);
                }
            }
            scenario_error(py, &problems)
        })?;
        Ok(Shard { plan, shard, machine })
    }

    /// How many runs the scenario has.
    #[getter]
    fn total(&self) -> usize {
        self.plan.total
    }

    /// How many runs the shard has.
    #[getter]
    fn runs(&self) -> usize {
        self.plan.runs.len()
    }

    /// A hash of the scenario, its settings and the code: results with different ones must not be mixed.
    #[getter]
    fn plan(&self) -> String {
        shards::plan_name(&self.plan)
    }

    /// Makes the runs, and returns their metrics as a Parquet file; see `Plan.run`.
    fn make<'py>(&self, py: Python<'py>, progress: Option<Py<PyAny>>) -> PyResult<Bound<'py, PyBytes>> {
        let made = py.detach(|| {
            let runs = plan::make(&self.plan, &self.machine, progress.as_ref(), &|run| Ok(summarize(&run)))?;
            shards::metrics(&self.plan, runs).map_err(os_error)
        })?;
        Ok(PyBytes::new(py, &made))
    }

    /// A Parquet file with the columns of `make`, without rows.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &shards::metrics(&self.plan, Vec::new()).map_err(os_error)?))
    }

    /// The metrics in the folder `out` if they are there, or else of runs that are made now, as `make` does, and kept
    /// there. With `series`, the same holds for their time series. Makes the folder if that is not there. Fails if it
    /// cannot be written, or has shards of another plan.
    fn make_in<'py>(
        &self,
        py: Python<'py>,
        out: PathBuf,
        series: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let made = py.detach(|| {
            let part = Part::prepare(&out, &self.plan, self.shard, series).map_err(os_error)?;
            if part.is_there()
                && let Some(metrics) = part.read().map_err(os_error)?
            {
                return Ok(metrics);
            }
            let kept = part.begin().map_err(os_error)?;
            let runs = plan::make(&self.plan, &self.machine, progress.as_ref(), &|run| kept.add(&run))?;
            let metrics = shards::metrics(&self.plan, runs).map_err(os_error)?;
            part.write(&self.plan, &kept, metrics.clone()).map_err(os_error)?;
            PyResult::Ok(metrics)
        })?;
        Ok(PyBytes::new(py, &made))
    }
}

/// The exception `OSError`.
fn os_error(refusal: Refusal) -> PyErr {
    let (Refusal::Wrong(line) | Refusal::Failed(line)) = refusal;
    PyOSError::new_err(line)
}
