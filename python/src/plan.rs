//! A scenario's runs: planned, and made on a thread of their own.

use crate::controller;
use crate::problem::{run_error, scenario_error};
use crate::results::Results;
use experiment::Finished;
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
pub const UNNAMED: &str = "scenario";

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
        let (sets, machine) = (settings(py, &path.display().to_string(), sets)?, Machine::this(jobs));
        let plan = py.detach(|| scenario::load(&path, &sets, &machine));
        let plan = plan.map_err(|problems| scenario_error(py, &problems))?;
        Ok(Plan { plan, machine })
    }

    /// Plans the runs of `scenario`, a JSON object with the keys of a scenario file; see [`Plan::load`].
    #[staticmethod]
    fn read(py: Python, scenario: &str, sets: &str, jobs: Option<NonZero<usize>>) -> PyResult<Plan> {
        let (sets, machine) = (settings(py, UNNAMED, sets)?, Machine::this(jobs));
        let text = toml(py, scenario)?;
        let plan = py.detach(|| scenario::read(UNNAMED, &text, &sets, &machine)).map_err(|mut problems| {
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
        py.detach(|| Ok(Results::new(&self.plan, make(&self.plan, &self.machine, progress.as_ref(), &Ok)?)))
    }
}

/// Makes the runs of `plan`, and returns what `keep` makes of each; see [`Plan::run`]. The calling thread must not hold
/// Python's lock.
pub fn make<T: Send>(
    plan: &scenario::Plan,
    machine: &Machine,
    progress: Option<&Py<PyAny>>,
    keep: &(dyn Fn(Finished) -> Result<T, String> + Sync),
) -> PyResult<Vec<T>> {
    let python = controller::is_in(plan);
    let kept = Watch::default().over(progress, |go_on| match python {
        false => Ok(runner::map(plan, machine.jobs, &(), go_on, keep)),
        // One thread: others would only wait for Python's lock, which this one keeps but for the moment in which it is
        // asked whether to go on.
        true => Python::attach(|_| {
            let go_on = |now| Python::attach(|py| py.detach(|| go_on(now))) && !controller::has_raised();
            let kept = runner::map(plan, NonZero::<usize>::MIN, &(), &go_on, keep);
            controller::raised().map_or(Ok(kept), Err)
        }),
    })??;
    kept.map_err(stopped)
}

/// The exception for runs that were not made. The calling thread must not hold Python's lock.
pub fn stopped(stopped: Stopped) -> PyErr {
    let why = match stopped {
        Stopped::Cancelled => "cancelled".to_string(),
        Stopped::Refused(why) => why,
    };
    Python::attach(|py| run_error(py, why))
}

/// Lets work on another thread know of signals, and the caller of its progress.
#[derive(Default)]
pub struct Watch {
    stop: AtomicBool,
    progress: Mutex<Option<Progress>>,
}

impl Watch {
    /// Does `work` on a thread of its own, and returns its result when it has ended. Fails if it was interrupted by a
    /// signal or by an exception of `progress`. The calling thread must not hold Python's lock.
    pub fn over<T: Send>(
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

/// The settings in a JSON object, for the scenario `file`.
pub fn settings(py: Python, file: &str, json: &str) -> PyResult<Vec<Set>> {
    let wrong = |message| {
        scenario_error(py, &[Problem { file: file.into(), location: Location::Set, key: String::new(), message }])
    };
    let set = |(key, value): (String, Value)| Ok(Set { path: KeyPath::parse(&key).map_err(wrong)?, value });
    object(json)?.into_iter().map(set).collect()
}

/// A JSON object as TOML, which has no null.
pub fn toml(py: Python, json: &str) -> PyResult<String> {
    toml::to_string(&object(json)?).map_err(|e| {
        let message = format!("{e}; leave out what has no value");
        scenario_error(py, &[Problem { file: UNNAMED.into(), location: Location::File, key: String::new(), message }])
    })
}

fn object(json: &str) -> PyResult<Map<String, Value>> {
    serde_json::from_str(json).map_err(|e| PyValueError::new_err(e.to_string()))
}

/// The lines of a text that the user has not written tell them nothing.
pub fn without_place(problem: &mut Problem) {
    if let Location::At { .. } = problem.location {
        problem.location = Location::File;
    }
}
