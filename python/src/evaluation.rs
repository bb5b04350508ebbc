//! Evaluations of a controller beside a baseline, for Python.

use crate::controller;
use crate::plan::{Watch, settings, stopped};
use crate::problem::run_error;
use crate::table::Table;
use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use lab::evaluate::{self, RowResult, Task, Verdict};
use lab::reproduce::Scale;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use scenario::Machine;
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::Arc;

/// What to evaluate, checked.
#[pyclass(frozen, module = "thalweg._thalweg")]
pub struct EvaluationTask {
    task: Task,
    machine: Machine,
    /// Whether a controller is one in Python.
    is_python: bool,
    #[pyo3(get)]
    runs: usize,
    #[pyo3(get)]
    seconds: f64,
}

#[pymethods]
impl EvaluationTask {
    /// Plans the evaluation of a controller beside a baseline, `names`, in these blocks, all if there are none. `sets`:
    /// a JSON object of scenario keys and values. `jobs`: how many runs to make at the same time; one per core if not
    /// given.
    #[staticmethod]
    fn plan(
        py: Python,
        names: (String, String),
        blocks: Vec<String>,
        full: bool,
        sets: &str,
        jobs: Option<NonZero<usize>>,
    ) -> PyResult<EvaluationTask> {
        let (subject, baseline) = names;
        let sets = settings(py, "evaluation", sets)?;
        let known = evaluate::blocks().map_err(PyValueError::new_err)?;
        let mut wrong: Vec<String> =
            [&subject, &baseline].into_iter().filter_map(|name| scenario::controller(name).err()).collect();
        for key in sets.iter().map(|set| set.path.to_string()) {
            wrong.extend(evaluate::unsettable(&key, &baseline).map(|why| format!("{key}: {why}")));
        }
        let mut chosen: Vec<evaluate::Block> = Vec::new();
        for name in &blocks {
            match evaluate::block(name, &known) {
                Ok(block) if chosen.iter().any(|other| other.id == block.id) => {
                    wrong.push(format!("there are two blocks `{}`; remove or rename one", block.id));
                }
                Ok(block) => chosen.push(block),
                Err(why) => wrong.push(why),
            }
        }
        if !wrong.is_empty() {
            return Err(PyValueError::new_err(wrong.join("\n")));
        }
        let blocks = if blocks.is_empty() { known } else { chosen };
        let scale = if full { Scale::Full } else { Scale::Quick };
        let (task, machine) = (Task { subject, baseline, blocks, scale, sets }, Machine::this(jobs));
        let (runs, seconds, is_python) = {
            let planned = task.plan(&machine).map_err(|lines| PyValueError::new_err(lines.join("\n")))?;
            (planned.runs(), planned.seconds(), planned.plans().any(controller::is_in))
        };
        Ok(EvaluationTask { task, machine, is_python, runs, seconds })
    }

    /// Makes the runs; see `Plan.run`.
    fn make(&self, py: Python, progress: Option<Py<PyAny>>) -> PyResult<Evaluation> {
        py.detach(|| {
            let failed = |lines: Vec<String>| Python::attach(|py| run_error(py, lines.join("\n")));
            let planned = self.task.plan(&self.machine).map_err(failed)?;
            let made = Watch::default().over(progress.as_ref(), |go_on| match self.is_python {
                false => Ok(planned.make(&self.machine, &(), go_on)),
                // One thread, as in `plan::make`.
                true => Python::attach(|_| {
                    let go_on = |now| Python::attach(|py| py.detach(|| go_on(now))) && !controller::has_raised();
                    let made = planned.make(&Machine::this(Some(NonZero::<usize>::MIN)), &(), &go_on);
                    controller::raised().map_or(Ok(made), Err)
                }),
            })??;
            Ok(Evaluation(made.map_err(stopped)?))
        })
    }
}

/// The result of an evaluation.
#[pyclass(frozen, module = "thalweg._thalweg")]
pub struct Evaluation(evaluate::Evaluation);

#[pymethods]
impl Evaluation {
    /// One row per row of the report.
    fn rows(&self, py: Python) -> PyResult<Table> {
        let words = |of: &dyn Fn(&RowResult) -> String| -> ArrayRef {
            Arc::new(StringArray::from_iter_values(self.0.rows.iter().map(of)))
        };
        let numbers = |of: &dyn Fn(&RowResult) -> Option<f64>| -> ArrayRef {
            Arc::new(Float64Array::from_iter(self.0.rows.iter().map(of)))
        };
        let worst = |row: &RowResult| row.worst.map_or(String::new(), |worst| row.cases[worst].name());
        let batch = RecordBatch::try_from_iter([
            ("criterion", words(&|row| row.criterion.clone())),
            ("block", words(&|row| row.block.clone())),
            ("row", words(&|row| row.says.clone())),
            ("measure", words(&|row| row.measure.clone())),
            ("compared_by", words(&|row| if row.by_ratio { "ratio" } else { "difference" }.into())),
            ("subject", numbers(&|row| row.subject)),
            ("baseline", numbers(&|row| row.baseline)),
            ("difference", numbers(&|row| row.difference)),
            ("interval_low", numbers(&|row| row.interval.map(|[low, _]| low))),
            ("interval_high", numbers(&|row| row.interval.map(|[_, high]| high))),
            ("verdict", words(&|row| row.verdict.name().into())),
            ("worst_case", words(&worst)),
        ]);
        batch.map(Table::from).map_err(|e| run_error(py, e.to_string()))
    }

    /// One row per row of the report, case, controller and seed, as in `NAME.parquet`.
    fn cases(&self, py: Python) -> PyResult<Table> {
        let made = py.detach(|| {
            let mut parquet = Vec::new();
            evaluate::cases(&mut parquet, &self.0)?;
            Table::from_parquet(parquet)
        });
        made.map_err(|e| run_error(py, e.to_string()))
    }

    /// All of it, as `thalweg evaluate --format json` prints it.
    fn json(&self) -> String {
        serde_json::to_string(&self.0).unwrap_or_default()
    }

    /// The table that `thalweg evaluate` prints.
    fn text(&self) -> String {
        evaluate::table(&self.0)
    }

    /// How many rows have each verdict, in words.
    #[getter]
    fn tally(&self) -> String {
        self.0.tally()
    }

    /// Whether the subject is broken in a row.
    #[getter]
    fn is_broken(&self) -> bool {
        self.0.rows.iter().any(|row| row.verdict == Verdict::Broken)
    }

    /// Writes the files of `thalweg evaluate --out` into the folder `dir`, which is made if it is not there. Returns
    /// the page.
    fn write(&self, py: Python, dir: PathBuf) -> PyResult<PathBuf> {
        let page = dir.join(format!("{}.html", self.0.subject));
        let written = py.detach(|| {
            std::fs::create_dir_all(&dir)?;
            evaluate::write(&dir, &self.0)?;
            lab::files::write(&page, |out| out.write_all(report::evaluation(&self.0).as_bytes()))
        });
        written.map_err(|e| PyOSError::new_err(format!("{}: cannot be written ({e})", dir.display())))?;
        Ok(page)
    }
}
