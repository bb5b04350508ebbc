//! The arguments of `thalweg draw`.

use clap::ValueHint;
use std::num::NonZero;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  thalweg draw --seed 17 --path 203 > path.toml         one path, as a scenario
  thalweg draw --seed 17 --count 50 --out paths         fifty of them, a file each
  thalweg run draw:17/203 --set 'compare.controllers=[\"thalweg\", \"cubic\"]'
                                                        the same path, without a file

docs/score.md has the distribution. The seeds 1 to 1000 are for tuning.";

/// Arguments of `thalweg draw`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Draw {
    /// The seed. A path follows from its seed and its number alone.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Draw the paths 1 to M.
    #[arg(long, value_name = "M", default_value = "1", conflicts_with = "path")]
    pub count: NonZero<u64>,
    /// Draw this path only.
    #[arg(long, value_name = "K")]
    pub path: Option<NonZero<u64>>,
    /// Write a file for each path into this folder [default: standard output, one path only].
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out: Option<PathBuf>,
}
