//! The results of a scenario's runs, for Python.

use crate::problem::run_error;
use crate::table::Table;
use experiment::Finished;
use lab::results::{self, Summary, table};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use scenario::Swept;
use std::io;
use std::path::PathBuf;
use thalweg::{Failure, Folder};

/// Results of runs, complete.
#[pyclass(frozen, module = "thalweg._thalweg")]
pub struct Results {
    #[pyo3(get)]
    title: String,
    #[pyo3(get)]
    seed: u64,
    runs: Vec<Finished>,
    summary: Summary,
    sweep: Vec<Swept>,
}

impl Results {
    /// The results of the runs of `plan`.
    pub fn new(plan: &scenario::Plan, runs: Vec<Finished>) -> Results {
        let summary = results::summary(&plan.title, plan.seed, &runs);
        Results { title: plan.title.clone(), seed: plan.seed, runs, summary, sweep: plan.sweep.clone() }
    }

    /// The table that `write` writes as Parquet.
    fn table(&self, py: Python, write: impl Fn(&mut Vec<u8>) -> io::Result<()> + Sync) -> PyResult<Table> {
        py.detach(|| {
            let mut parquet = Vec::new();
            write(&mut parquet)?;
            Table::from_parquet(parquet)
        })
        .map_err(|e: io::Error| run_error(py, e.to_string()))
    }
}

#[pymethods]
impl Results {
    /// One row per run.
    fn summary(&self, py: Python) -> PyResult<Table> {
        self.table(py, |out| results::runs(out, &self.summary.runs, &self.sweep))
    }

    /// One row per flow and sample, as in `flows.parquet`.
    fn flows(&self, py: Python) -> PyResult<Table> {
        self.table(py, |out| results::flows(out, &self.runs))
    }

    /// One row per link and sample, as in `links.parquet`.
    fn links(&self, py: Python) -> PyResult<Table> {
        self.table(py, |out| results::links(out, &self.runs))
    }

    /// One row per transfer of connections that come and go, as in `transfers.parquet`.
    fn transfers(&self, py: Python) -> PyResult<Table> {
        self.table(py, |out| results::transfers(out, &self.runs))
    }

    /// One row per size of transfers, as in `completion.parquet`.
    fn completion(&self, py: Python) -> PyResult<Table> {
        self.table(py, |out| results::completion(out, &self.runs))
    }

    /// All metrics, as `thalweg run --format json` prints them.
    fn json(&self) -> String {
        serde_json::to_string(&self.summary).unwrap_or_default()
    }

    /// The tables that `thalweg run` prints.
    fn text(&self) -> String {
        table::table(&self.summary)
    }

    /// The headings and the rows of the table of runs.
    fn cells(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let table = table::runs(&self.summary);
        let (heads, rows) = table.shown();
        let owned = |texts: Vec<&str>| texts.into_iter().map(str::to_string).collect();
        (owned(heads), rows.into_iter().map(owned).collect())
    }

    /// The figures of the report, as JSON.
    fn figures(&self, py: Python) -> String {
        py.detach(|| serde_json::to_string(&report::page(&self.runs)).unwrap_or_default())
    }

    /// Writes the files of `thalweg run --out` into the folder `dir`, which must not be there or hold earlier results.
    /// It appears complete or not at all.
    fn write(&self, py: Python, dir: PathBuf) -> PyResult<()> {
        let done = py.detach(|| {
            let folder = Folder::prepare(&dir)?;
            report::write(folder.path(), &self.title, self.seed, &self.runs)
                .map_err(|e| Failure::Failed(format!("{}: cannot be written ({e})", dir.display())))?;
            folder.publish()
        });
        done.map_err(|failure| {
            let lines = match failure {
                Failure::Wrong(lines) => lines.join("\n"),
                Failure::Failed(line) => line,
                other => format!("{other:?}"),
            };
            PyOSError::new_err(lines.replace("--out ", ""))
        })
    }
}
