//! A scenario's runs: planned, and made on a thread of their own.

use crate::controller;
use crate::problem::{run_error, scenario_error};
use crate::results::Results;
use lab::runner::{self, Progress, Stopped};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use scenario::{KeyPath, Location, Machine, Problem, Set};
use serde_json::{Map, Value};
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How often Python's signals are looked at, and the caller is told of progress.
const HEED: Duration = Duration::from_millis(50);

/// What problems call a scenario that is no file.
const UNNAMED: &str = "scenario";

/// The runs of a scenario, each with every choice made.
#[pyclass(frozen, module = "thalweg._thalweg")]
pub struct Plan {
    plan: scenario::Plan,
    machine: Machine,
}

#[pymethods]
impl Plan {
    /// Plans the runs of the scenario in the file `path`. `sets`: a JSON object of scenario keys and the values that
    /// replace the file's. `jobs`: how many runs to make at the same time; one per core if not given.
    #[staticmethod]
    fn load(py: Python, path: PathBuf, sets: &str, jobs: Option<NonZero<usize>>) -> PyResult<Plan> {
        let (sets, machine) = (settings(sets)?, Machine::this(jobs));
        let plan = scenario::load(&path, &sets, &machine).map_err(|problems| scenario_error(py, &problems))?;
        Ok(Plan { plan, machine })
    }

    /// Plans the runs of `scenario`, a JSON object with the keys of a scenario file; see [`Plan::load`].
    #[staticmethod]
    fn read(py: Python, scenario: &str, sets: &str, jobs: Option<NonZero<usize>>) -> PyResult<Plan> {
        let (sets, machine) = (settings(sets)?, Machine::this(jobs));
        let plan = scenario::read(UNNAMED, &toml(scenario)?, &sets, &machine).map_err(|mut problems| {
            problems.iter_mut().for_each(without_place);
            scenario_error(py, &problems)
        })?;
        Ok(Plan { plan, machine })
    }

    /// What the runs are called, in order.
    #[getter]
    fn runs(&self) -> Vec<String> {
        self.plan.runs.iter().map(experiment::Run::name).collect()
    }

    /// How much time the runs simulate, in seconds.
    #[getter]
    fn seconds(&self) -> f64 {
        runner::total_seconds(&self.plan)
    }

    /// Makes the runs. Calls `progress` several times per second with the seconds simulated and the number of complete
    /// runs. A signal whose handler raises, such as Ctrl-C, and an exception of `progress` end the runs.
    fn run(&self, py: Python, progress: Option<Py<PyAny>>) -> PyResult<Results> {
        py.detach(|| {
            let watch = Watch::default();
            let python = controller::is_in(&self.plan);
            let finished = watch.over(progress.as_ref(), |go_on| match python {
                false => Ok(runner::run(&self.plan, self.machine.jobs, &(), go_on)),
                // One thread: others would only wait for Python's lock, which this one keeps.
                true => Python::attach(|_| {
                    let go_on = |now| go_on(now) && !controller::has_raised();
                    let finished = runner::run(&self.plan, NonZero::<usize>::MIN, &(), &go_on);
                    controller::raised().map_or(Ok(finished), Err)
                }),
            })??;
            let finished = finished.map_err(|stopped| match stopped {
                Stopped::Cancelled => "cancelled".to_string(),
                Stopped::Refused(why) => why,
            });
            let finished = finished.map_err(|why| Python::attach(|py| run_error(py, why)))?;
            Ok(Results::new(&self.plan, finished))
        })
    }
}

/// Lets work on another thread know of signals, and the caller of its progress.
#[derive(Default)]
struct Watch {
    stop: AtomicBool,
    progress: Mutex<Option<Progress>>,
}

impl Watch {
    /// Does `work` on a thread of its own, and returns its result when it has ended. Fails if it was interrupted by a
    /// signal or by an exception of `progress`. The calling thread must not hold Python's lock.
    fn over<T: Send>(
        &self,
        progress: Option<&Py<PyAny>>,
        work: impl FnOnce(&(dyn Fn(Progress) -> bool + Sync)) -> T + Send,
    ) -> PyResult<T> {
        let (done, result) = mpsc::channel();
        thread::scope(|scope| {
            let worker = scope.spawn(move || {
                // If the receiver is gone, nobody waits for the result.
                let _ = done.send(work(&|now| self.note(now)));
            });
            let mut raised = None;
            loop {
                match result.recv_timeout(HEED) {
                    Ok(result) => return raised.map_or(Ok(result), Err),
                    Err(RecvTimeoutError::Timeout) => {
                        if raised.is_none() {
                            raised = Python::attach(|py| self.heed(py, progress)).err();
                            self.stop.store(raised.is_some(), Ordering::Relaxed);
                        }
                    }
                    Err(RecvTimeoutError::Disconnected) => {
                        // It has panicked. Joined, it does not take this thread with it.
                        let _ = worker.join();
                        return Err(Python::attach(|py| run_error(py, "a run has failed unexpectedly".into())));
                    }
                }
            }
        })
    }

    /// Notes the progress of the work; returns whether to go on.
    fn note(&self, now: Progress) -> bool {
        *self.progress.lock().unwrap_or_else(PoisonError::into_inner) = Some(now);
        !self.stop.load(Ordering::Relaxed)
    }

    /// Calls the handlers of signals that came, and tells `progress` what was noted last.
    fn heed(&self, py: Python, progress: Option<&Py<PyAny>>) -> PyResult<()> {
        py.check_signals()?;
        let now = *self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some(tell), Some(Progress { simulated_seconds, runs })) = (progress, now) {
            tell.call1(py, (simulated_seconds, runs))?;
        }
        Ok(())
    }
}

/// The settings in a JSON object.
fn settings(json: &str) -> PyResult<Vec<Set>> {
    let values: Map<String, Value> = serde_json::from_str(json).map_err(wrong)?;
    let set = |(key, value): (String, Value)| Ok(Set { path: KeyPath::parse(&key).map_err(wrong)?, value });
    values.into_iter().map(set).collect()
}

/// A JSON object as TOML.
fn toml(json: &str) -> PyResult<String> {
    let values: Map<String, Value> = serde_json::from_str(json).map_err(wrong)?;
    toml::to_string(&values).map_err(wrong)
}

fn wrong(why: impl ToString) -> PyErr {
    PyValueError::new_err(why.to_string())
}

/// The lines of a text that the user has not written tell them nothing.
fn without_place(problem: &mut Problem) {
    if let Location::At { .. } = problem.location {
        problem.location = Location::File;
    }
}
