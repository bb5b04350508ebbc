//! Makes a plan's runs, several at a time.

use control::{Duration, Time};
use experiment::Outcome;
use experiment::{Finished, Run};
use scenario::Plan;
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

/// Progress of the runs of a plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Time simulated so far, over all runs, in seconds.
    pub simulated_seconds: f64,
    /// How many runs are complete.
    pub runs: usize,
}

/// Why there are no results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// The caller asked to stop.
    Cancelled,
    /// The simulator refused a run, for this reason, or what was to be kept of one could not be kept. The simulator
    /// does not refuse runs that [`scenario`](scenario) planned.
    Refused(String),
}

/// A cache of runs: keeps the outcomes of complete runs, so that the same runs need not be made again, and makes those
/// that it does not have.
pub trait RunCache: Sync {
    /// The outcome of `run`, if it is in the cache, and how many seconds of real time the run took.
    fn find(&self, run: &Run) -> Option<(Outcome, f64)>;
    /// Keeps the outcome of `run`, which took `wall_seconds` of real time.
    fn keep(&self, run: &Run, outcome: &Outcome, wall_seconds: f64);
    /// Makes `run`, as [`sim::run`] does.
    fn make(&self, run: &Run, progress: &mut dyn FnMut(Time) -> bool) -> Result<Option<Outcome>, String> {
        sim::run(&run.experiment, progress)
    }
}

/// A cache that keeps nothing.
impl RunCache for () {
    fn find(&self, _: &Run) -> Option<(Outcome, f64)> {
        None
    }

    fn keep(&self, _: &Run, _: &Outcome, _: f64) {}
}

/// The sum of the durations of a plan's runs: the time to be simulated, in seconds.
pub fn total_seconds(plan: &Plan) -> f64 {
    plan.runs.iter().map(|run| run.experiment.duration.as_secs()).sum()
}

/// Makes all runs of `plan`, up to `jobs` at a time, and returns them in the plan's order, which they do not depend on.
/// Runs that will probably take longest are made first, so that no core waits long for the last one.
/// Runs that are in `cache` are not made again (`&()` is an empty cache). Calls `go_on` several times per second, from
/// several threads; when it returns false, stops.
pub fn run(
    plan: &Plan,
    jobs: NonZero<usize>,
    cache: &dyn RunCache,
    go_on: &(dyn Fn(Progress) -> bool + Sync),
) -> Result<Vec<Finished>, Stopped> {
    map(plan, jobs, cache, go_on, &Ok)
}

/// Makes runs as [`run`] does, and returns what `keep` makes of each, so that the time series of all runs are not in
/// memory together. If `keep` fails, for a reason that it gives, stops.
pub fn map<T: Send>(
    plan: &Plan,
    jobs: NonZero<usize>,
    cache: &dyn RunCache,
    go_on: &(dyn Fn(Progress) -> bool + Sync),
    keep: &(dyn Fn(Finished) -> Result<T, String> + Sync),
) -> Result<Vec<T>, Stopped> {
    let mut order: Vec<usize> = (0..plan.runs.len()).collect();
    order.sort_by(|&a, &b| most_bits(&plan.runs[b]).total_cmp(&most_bits(&plan.runs[a])));
    let shared = Shared {
        order,
        next: AtomicUsize::new(0),
        complete: AtomicUsize::new(0),
        simulated_us: AtomicU64::new(0),
        stopped: AtomicBool::new(false),
        cache,
        go_on,
    };
    let finished: Mutex<Vec<_>> = Mutex::new(plan.runs.iter().map(|_| Err(Stopped::Cancelled)).collect());
    let work = || {
        while let Some((i, run)) = shared.take(&plan.runs) {
            let one = shared.make(run).and_then(|run| keep(run).map_err(|why| shared.refuse(why)));
            if let Ok(mut finished) = finished.lock() {
                finished[i] = one;
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..jobs.get().min(plan.runs.len()) {
            // The system may refuse a thread; the others then make all runs.
            if thread::Builder::new().spawn_scoped(scope, work).is_err() {
                break;
            }
        }
        work();
    });
    let finished = finished.into_inner().unwrap_or_else(PoisonError::into_inner);
    // A refusal cancels the other runs, also ones before it in the plan's order.
    match finished.iter().find_map(|one| one.as_ref().err().filter(|why| matches!(why, Stopped::Refused(_)))) {
        Some(refused) => Err(refused.clone()),
        None => finished.into_iter().collect(),
    }
}

/// How many bits the links of `run` can carry while it lasts. The time that a run takes is about proportional to it, if
/// runs have packets of the same size. Links without a finite rate cause no work of their own.
fn most_bits(run: &Run) -> f64 {
    let fastest =
        run.experiment.links.iter().map(|link| link.each().map(|it| it.capacity().as_bps()).fold(0.0, f64::max));
    let rates = fastest.filter(|rate| rate.is_finite());
    rates.sum::<f64>() * run.experiment.duration.as_secs()
}

/// State that all threads use.
struct Shared<'a> {
    /// The places of runs in the plan, in the order in which they are made.
    order: Vec<usize>,
    next: AtomicUsize,
    complete: AtomicUsize,
    simulated_us: AtomicU64,
    stopped: AtomicBool,
    cache: &'a dyn RunCache,
    go_on: &'a (dyn Fn(Progress) -> bool + Sync),
}

impl Shared<'_> {
    /// The next run to make and its place in the plan, if there is one and nobody asked to stop.
    fn take<'r>(&self, runs: &'r [Run]) -> Option<(usize, &'r Run)> {
        if self.stopped.load(Ordering::Relaxed) {
            return None;
        }
        let &i = self.order.get(self.next.fetch_add(1, Ordering::Relaxed))?;
        Some((i, runs.get(i)?))
    }

    /// Makes one run, or finds it in the cache.
    fn make(&self, run: &Run) -> Result<Finished, Stopped> {
        if let Some((outcome, wall_seconds)) = self.cache.find(run) {
            self.complete.fetch_add(1, Ordering::Relaxed);
            self.advance(run.experiment.duration);
            return Ok(Finished { run: run.clone(), outcome, wall_seconds, emulator: None });
        }
        let begin = Instant::now();
        let mut before = Time::ZERO;
        let outcome = self.cache.make(run, &mut |now| {
            let go_on = self.advance(now.since(before));
            before = now;
            go_on
        });
        let outcome = outcome.map_err(|why| self.refuse(format!("{}: {why}", run.name())))?;
        let outcome = outcome.ok_or(Stopped::Cancelled)?;
        let wall_seconds = begin.elapsed().as_secs_f64();
        self.cache.keep(run, &outcome, wall_seconds);
        self.complete.fetch_add(1, Ordering::Relaxed);
        let end = Time::ZERO + run.experiment.duration;
        self.advance(end.since(before));
        Ok(Finished { run: run.clone(), outcome, wall_seconds, emulator: None })
    }

    /// Stops all runs, for this reason.
    fn refuse(&self, why: String) -> Stopped {
        self.stopped.store(true, Ordering::Relaxed);
        Stopped::Refused(why)
    }

    /// Counts `time` as simulated; returns whether to go on.
    fn advance(&self, time: Duration) -> bool {
        // In microseconds, because a sum of picoseconds over all runs of a plan may overflow.
        let us = time.0 / 1_000_000;
        let simulated_us = self.simulated_us.fetch_add(us, Ordering::Relaxed) + us;
        let runs = self.complete.load(Ordering::Relaxed);
        let progress = Progress { simulated_seconds: simulated_us as f64 / 1e6, runs };
        let go_on = !self.stopped.load(Ordering::Relaxed) && (self.go_on)(progress);
        if !go_on {
            self.stopped.store(true, Ordering::Relaxed);
        }
        go_on
    }
}
