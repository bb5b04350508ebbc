//! Runs of scenarios, for the other tests.

use experiment::Finished;
use scenario::Plan;
use scenario::{Machine, Set, load, read};
use std::num::NonZero;
use std::path::Path;
use thalweg_lab::results::{RunSummary, summary};
use thalweg_lab::runner;

/// All runs of `plan`, on two cores.
fn make(plan: &Plan) -> Vec<Finished> {
    runner::run(plan, NonZero::new(2).unwrap(), &(), &|_| true).unwrap()
}

/// The runs of the scenario `text`.
pub fn runs(text: &str) -> Vec<Finished> {
    let plan = read("scenario", text, &[], &Machine::this(None));
    make(&plan.unwrap_or_else(|problems| panic!("{problems:?}")))
}

/// The one run of the scenario `text`.
pub fn run(text: &str) -> Finished {
    let mut runs = runs(text);
    assert_eq!(runs.len(), 1);
    runs.remove(0)
}

/// The runs of `scenarios/NAME` with `sets`, each like `seed=2`, laid over it.
pub fn shipped(name: &str, sets: &[&str]) -> Vec<Finished> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios").join(name);
    let sets: Vec<Set> = sets.iter().map(|set| set.parse().unwrap()).collect();
    let plan = load(&file, &sets, &Machine::this(None));
    make(&plan.unwrap_or_else(|problems| panic!("{problems:?}")))
}

/// The metrics of one run.
pub fn figures(run: &Finished) -> RunSummary {
    summary("", 0, std::slice::from_ref(run)).runs.remove(0)
}

/// The time series of one run's flow or link, between two times in seconds.
pub fn between<T: Copy>(run: &Finished, series: &[T], from: f64, to: f64) -> Vec<T> {
    let within = |&(time, _): &(&control::Time, &T)| time.as_secs() > from + 1e-9 && time.as_secs() <= to + 1e-9;
    run.outcome.sampled.iter().zip(series).filter(within).map(|(_, &value)| value).collect()
}
