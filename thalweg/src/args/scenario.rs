//! The arguments that name a scenario.

use clap::ValueHint;
use scenario::Set;
use std::num::NonZero;
use std::path::PathBuf;

/// A scenario, with changes to it.
#[derive(Debug, clap::Args)]
pub struct Scenario {
    /// The scenario: a TOML file, or draw:SEED/PATH for one that `thalweg draw` draws.
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// Give a key of the scenario another value; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub sets: Vec<Set>,
    /// How many runs to make at the same time [default: one per core].
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZero<usize>>,
}

/// Arguments of `thalweg check`.
#[derive(Debug, clap::Args)]
pub struct Check {
    #[command(flatten)]
    pub scenario: Scenario,
}
