//! Scores of controllers over [drawn paths](crate::draw). `docs/score.md` defines the measures.
//!
//! Every controller and CUBIC, the reference, runs on each path. `observe` measures a run alone, `measure` compares it
//! with the reference, and `summary` has the medians, the worst tenths and the worst paths.

mod files;
mod measure;
mod observe;
mod summary;
mod table;

pub use files::write;
pub use measure::{Measure, Measures};
pub use summary::{Score, Scored, Spread, WorstPath, summary};
pub use table::table;

use crate::draw::{Path, PathId};
use crate::runner::{self, Progress, RunCache, Stopped};
use experiment::Run;
use observe::{Observed, observe};
use scenario::{KeyPath, Machine, Plan, Problem, Set, Shard};
use serde::Serialize;
use std::collections::BTreeMap;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;

/// The controller with which every other is compared.
pub const REFERENCE: &str = "cubic";
/// More loss than this is a failure, unless the path or other flows cause it.
const MOST_LOSS: f64 = 0.2;

/// What to score.
pub struct Task {
    /// The paths.
    pub paths: Vec<Path>,
    /// The controllers.
    pub controllers: Vec<String>,
    /// Values that replace those of the paths' scenarios, such as parameters of controllers.
    pub sets: Vec<Set>,
}

/// One controller on one path.
#[derive(Clone, Debug)]
pub struct Row {
    /// The position of the path in the task.
    pub path: usize,
    /// The controller.
    pub controller: String,
    /// What was measured; none if the run panicked.
    pub measures: Option<Measures>,
    /// What must not happen on any path, and happened.
    pub failures: Vec<Failure>,
}

/// What must not happen on any path.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Failure {
    /// The controller or the simulator panicked.
    Panicked,
    /// So many flows got nothing in the second half of the measured interval.
    Stopped(usize),
    /// The queue dropped this share of the packets.
    Loss(f64),
}

/// Why there is no score.
#[derive(Debug)]
pub enum Trouble {
    /// A scenario is wrong with the task's sets.
    Wrong(Vec<Problem>),
    /// The runs were stopped.
    Stopped(Stopped),
}

/// A path's rows, one for each controller.
type Judged = Result<Vec<Row>, Trouble>;

impl Task {
    /// How many runs it takes, with those of the reference.
    pub fn runs(&self) -> usize {
        self.paths.len() * self.names().len()
    }

    /// The time to be simulated, in seconds.
    pub fn seconds(&self) -> f64 {
        self.paths.iter().map(|path| path.base.duration.as_secs()).sum::<f64>() * self.names().len() as f64
    }

    /// The controllers to run: those to score, and the reference.
    fn names(&self) -> Vec<&str> {
        let reference = Some(REFERENCE).filter(|name| !self.controllers.iter().any(|other| other == name));
        self.controllers.iter().map(String::as_str).chain(reference).collect()
    }

    /// Makes all runs, several paths at a time, and returns a row for each path and controller, in the order of the
    /// task. Calls `go_on` often; when it returns false, stops.
    ///
    /// # Errors
    /// If the scenarios are wrong, or the runs were stopped.
    pub fn run(
        &self,
        machine: &Machine,
        cache: &dyn RunCache,
        go_on: &(dyn Fn(Progress) -> bool + Sync),
    ) -> Result<Vec<Row>, Trouble> {
        let work = Work { task: self, machine, cache, go_on, runs: AtomicUsize::new(0), ms: AtomicU64::new(0) };
        let next = AtomicUsize::new(0);
        let stop = AtomicBool::new(false);
        let done: Mutex<BTreeMap<usize, Judged>> = Mutex::default();
        let judge = || {
            while !stop.load(Ordering::Relaxed)
                && let i = next.fetch_add(1, Ordering::Relaxed)
                && i < self.paths.len()
            {
                let rows = work.judge(i);
                if rows.is_err() {
                    stop.store(true, Ordering::Relaxed);
                }
                if let Ok(mut done) = done.lock() {
                    done.insert(i, rows);
                }
            }
        };
        thread::scope(|scope| {
            for _ in 1..machine.jobs.get().min(self.paths.len()) {
                // The system may refuse a thread; the others then make all runs.
                if thread::Builder::new().spawn_scoped(scope, judge).is_err() {
                    break;
                }
            }
            judge();
        });
        // Threads take paths in their order, so that all paths before a wrong one are complete: the first trouble is
        // the same each time.
        let done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        let rows: Vec<Vec<Row>> = done.into_values().collect::<Result<_, _>>()?;
        Ok(rows.into_iter().flatten().collect())
    }
}

/// What all threads use.
struct Work<'a> {
    task: &'a Task,
    machine: &'a Machine,
    cache: &'a dyn RunCache,
    go_on: &'a (dyn Fn(Progress) -> bool + Sync),
    /// Complete runs.
    runs: AtomicUsize,
    /// Their duration, in milliseconds.
    ms: AtomicU64,
}

impl Work<'_> {
    /// Makes the runs on path number `i` of the task, and judges them.
    fn judge(&self, i: usize) -> Judged {
        let path = &self.task.paths[i];
        let plan = plan(path, &self.task.names(), &self.task.sets, self.machine).map_err(Trouble::Wrong)?;
        let mut seen: Vec<(String, Option<Observed>)> = Vec::new();
        for run in plan.runs {
            let controller = run.identity.controllers.join("+");
            seen.push((controller, self.make(path, run).map_err(Trouble::Stopped)?));
        }
        let reference = seen.iter().find(|(name, _)| name == REFERENCE).and_then(|(_, seen)| seen.clone());
        let row = |controller: &String| {
            let own = seen.iter().find(|(name, _)| name == controller).and_then(|(_, seen)| seen.as_ref());
            Row {
                path: i,
                controller: controller.clone(),
                measures: own.map(|own| Measures::of(path, own, reference.as_ref())),
                failures: failures(path, own, reference.as_ref()),
            }
        };
        Ok(self.task.controllers.iter().map(row).collect())
    }

    /// What a run on `path` gives; none if it panicked.
    fn make(&self, path: &Path, run: Run) -> Result<Option<Observed>, Stopped> {
        let plan = Plan { runs: vec![run], total: 1, ..Plan::default() };
        let made = catch_unwind(AssertUnwindSafe(|| {
            runner::map(&plan, NonZero::<usize>::MIN, self.cache, &|_| self.report(), &|finished| {
                Ok(observe(path, &finished))
            })
        }));
        let ms = (path.base.duration.as_secs() * 1e3) as u64;
        self.ms.fetch_add(ms, Ordering::Relaxed);
        self.runs.fetch_add(1, Ordering::Relaxed);
        match made {
            Ok(Ok(mut seen)) => Ok(seen.pop()),
            Ok(Err(stopped)) => Err(stopped),
            Err(_) => Ok(None),
        }
    }

    /// Reports the progress; returns whether to go on.
    fn report(&self) -> bool {
        let simulated_seconds = self.ms.load(Ordering::Relaxed) as f64 / 1e3;
        (self.go_on)(Progress { simulated_seconds, runs: self.runs.load(Ordering::Relaxed) })
    }
}

/// The runs of `controllers` on `path`.
fn plan(path: &Path, controllers: &[&str], sets: &[Set], machine: &Machine) -> Result<Plan, Vec<Problem>> {
    let key = KeyPath::parse("compare.controllers").unwrap_or_default();
    let compared = Set { path: key, value: controllers.into() };
    let sets: Vec<Set> = sets.iter().cloned().chain([compared]).collect();
    scenario::read_shard(&path.id.as_file(), &path.scenario(), &sets, machine, Shard::ALL)
}

/// What happened that must not. Beside other traffic, which may be what takes the path's room, a loss counts only as
/// far as it exceeds that of CUBIC in the controller's place.
fn failures(path: &Path, own: Option<&Observed>, cubic: Option<&Observed>) -> Vec<Failure> {
    let Some(own) = own else { return vec![Failure::Panicked] };
    let caused_by_others = cubic.filter(|_| path.has_others()).map_or(0.0, |cubic| cubic.loss);
    let stopped = (own.stopped > 0).then_some(Failure::Stopped(own.stopped));
    let loss = (own.loss > MOST_LOSS + caused_by_others).then_some(Failure::Loss(own.loss));
    stopped.into_iter().chain(loss).collect()
}

/// The command that shows `controller` on the path `id`.
pub fn command(id: PathId, controller: &str, sets: &[Set]) -> String {
    let controllers = match controller {
        REFERENCE => format!("[\"{REFERENCE}\"]"),
        other => format!("[\"{other}\", \"{REFERENCE}\"]"),
    };
    let sets: String = sets.iter().map(|set| format!(" --set '{}={}'", set.path, set.value)).collect();
    format!("thalweg run {} --set 'compare.controllers={controllers}'{sets}", id.as_file())
}

#[cfg(test)]
mod tests;
