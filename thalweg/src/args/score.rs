//! The arguments of `thalweg score`.

use super::Format;
use clap::ValueHint;
use scenario::Set;
use std::num::NonZero;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  thalweg score thalweg cubic bbr                       on 300 paths of seed 1
  thalweg score thalweg --seed 7 --count 1000
  thalweg score thalweg --set controller.thalweg.tau=0.02
  thalweg score thalweg cubic --format json | jq '.controllers[] | {controller, mark}'

The first call runs CUBIC, too, with which harm and completion are compared. docs/score.md defines the measures.

Exit codes: 0 done, 1 failed, or a controller fails on a path, 2 the command line is wrong, 130 interrupted.";

/// Arguments of `thalweg score`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Score {
    /// The controllers to score.
    #[arg(required = true, value_name = "CONTROLLER")]
    pub controllers: Vec<String>,
    /// The seed of the paths; 1 to 1000 are for tuning.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// How many paths, from number 1 on.
    #[arg(long, value_name = "M", default_value = "300")]
    pub count: NonZero<u64>,
    /// How many runs to make at the same time [default: one per core].
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZero<usize>>,
    /// Give a key of all scenarios another value, such as a parameter of a controller; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub sets: Vec<Set>,
    /// The folder for score.json, paths.parquet, and the cache of runs, which are not made again.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, default_value = "results/score")]
    pub out: PathBuf,
    /// How to print the score.
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Print nothing but the score and errors, and show no progress.
    #[arg(long, short)]
    pub quiet: bool,
}
