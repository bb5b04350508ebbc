//! The metrics of all runs, as `--format json` and `summary.json` show them.

use super::agreement::{Agreement, agreement};
use super::run_summary::{RunSummary, summarize};
use experiment::Finished;
use serde::Serialize;

/// All runs of a scenario. In JSON, a value that is not a finite number is `null`.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// The title of the scenario.
    pub title: String,
    /// The seed of the scenario.
    pub seed: u64,
    /// The runs, in the plan's order.
    pub runs: Vec<RunSummary>,
    /// How far real runs agree with the simulated runs of the same scenarios.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub agreement: Vec<Agreement>,
}

impl Summary {
    /// The summary without wall times, the only values that are not reproducible.
    pub fn without_wall_time(mut self) -> Summary {
        for run in &mut self.runs {
            run.wall_seconds = None;
        }
        self
    }
}

/// The metrics of `runs`.
pub fn summary(title: &str, seed: u64, runs: &[Finished]) -> Summary {
    let runs: Vec<RunSummary> = runs.iter().map(summarize).collect();
    Summary { title: title.to_string(), seed, agreement: agreement(&runs), runs }
}
