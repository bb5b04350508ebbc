//! A score: of each controller, medians, worst tenths, the worst paths and the failures.

use super::{Failure, Measure, Row, Task, command};
use experiment::{mean, median, quantile};
use serde::Serialize;
use serde_json::{Map, Value};

/// The score of several controllers on the same paths.
#[derive(Clone, Debug, Serialize)]
pub struct Score {
    /// The seed of the paths.
    pub seed: u64,
    /// The paths are those from 1 to this number.
    pub paths: usize,
    /// The controllers, in the order in which they were asked for.
    pub controllers: Vec<Scored>,
}

/// One controller.
#[derive(Clone, Debug, Serialize)]
pub struct Scored {
    /// Its name.
    pub controller: String,
    /// The mean of its marks. A path on which it fails has the mark 0.
    pub mark: f64,
    /// For each measure, its spread over the paths that have it.
    #[serde(serialize_with = "by_name")]
    pub measures: Vec<(Measure, Spread)>,
    /// The ten paths with the lowest marks, the lowest first, of those on which it does not fail.
    pub worst: Vec<WorstPath>,
    /// The paths on which it fails.
    pub failures: Vec<FailedPath>,
}

/// The spread of a measure over paths.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// How many paths have the measure.
    pub paths: usize,
    /// The median.
    pub median: f64,
    /// The value that a tenth of the paths does not surpass: the 10th percentile, or the 90th of a measure of which
    /// less is better.
    pub worst_tenth: f64,
}

/// One of the worst paths.
#[derive(Clone, Debug, Serialize)]
pub struct WorstPath {
    /// The number of the path.
    pub path: u64,
    /// Its mark.
    pub mark: f64,
    /// The measure that lowers the mark most.
    pub weakest: &'static str,
    /// The value of that measure.
    pub value: f64,
    /// What was drawn.
    pub title: String,
    /// The command that shows it.
    pub command: String,
}

/// A path on which a controller fails.
#[derive(Clone, Debug, Serialize)]
pub struct FailedPath {
    /// The number of the path.
    pub path: u64,
    /// What happened.
    pub failures: Vec<Failure>,
    /// What was drawn.
    pub title: String,
    /// The command that shows it.
    pub command: String,
}

/// How many of the worst paths are listed.
const WORST: usize = 10;

/// The score in the `rows` of `task`.
pub fn summary(seed: u64, task: &Task, rows: &[Row]) -> Score {
    let scored = |controller: &String| {
        let own: Vec<&Row> = rows.iter().filter(|row| row.controller == *controller).collect();
        scored(task, controller, &own)
    };
    Score { seed, paths: task.paths.len(), controllers: task.controllers.iter().map(scored).collect() }
}

/// The mark of a row.
fn mark(row: &Row) -> f64 {
    let mark = row.measures.as_ref().and_then(|it| it.get(Measure::Mark)).unwrap_or(0.0);
    if row.failures.is_empty() { mark } else { 0.0 }
}

fn scored(task: &Task, controller: &str, rows: &[&Row]) -> Scored {
    let spread = |measure: Measure| {
        let mut values: Vec<f64> = rows.iter().filter_map(|row| row.measures.as_ref()?.get(measure)).collect();
        let tenth = if measure.more_is_better() { 0.1 } else { 0.9 };
        let spread =
            Spread { paths: values.len(), median: median(&mut values), worst_tenth: quantile(&mut values, tenth) };
        (spread.paths > 0).then_some((measure, spread))
    };
    let shown = |row: &Row| {
        let path = &task.paths[row.path];
        (path.id.number, path.title(), command(path.id, controller, &task.sets))
    };
    let passed = rows.iter().filter(|row| row.failures.is_empty());
    let mut worst: Vec<(&Row, f64)> = passed.map(|row| (*row, mark(row))).collect();
    worst.sort_by(|a, b| a.1.total_cmp(&b.1));
    let worst = worst.into_iter().take(WORST).filter_map(|(row, mark)| {
        let (path, title, command) = shown(row);
        let measures = row.measures.as_ref()?;
        let weakest = measures.weakest(task.paths[row.path].base.rtt);
        let value = measures.get(weakest).unwrap_or(f64::NAN);
        Some(WorstPath { path, mark, weakest: weakest.name(), value, title, command })
    });
    let failed = rows.iter().filter(|row| !row.failures.is_empty()).map(|row| {
        let (path, title, command) = shown(row);
        FailedPath { path, failures: row.failures.clone(), title, command }
    });
    Scored {
        controller: controller.to_string(),
        mark: mean(&rows.iter().map(|row| mark(row)).collect::<Vec<f64>>()),
        measures: Measure::ALL.into_iter().filter_map(spread).collect(),
        worst: worst.collect(),
        failures: failed.collect(),
    }
}

/// An object with a key for each measure.
fn by_name<S: serde::Serializer>(measures: &[(Measure, Spread)], serializer: S) -> Result<S::Ok, S::Error> {
    let entry =
        |(measure, spread): &(Measure, Spread)| Some((measure.name().to_string(), serde_json::to_value(spread).ok()?));
    measures.iter().filter_map(entry).collect::<Map<String, Value>>().serialize(serializer)
}
