//! The arguments of `thalweg merge`.

use clap::ValueHint;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Example:
  for k in 1 2 3; do thalweg run sweep.toml --shard $k/3 --out results/sweep; done
  thalweg merge results/sweep";

/// Arguments of `thalweg merge`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Merge {
    /// The folder with the files of all shards, in which summary.parquet is written, and flows.parquet and
    /// links.parquet if all shards have time series; s3://BUCKET/PREFIX for those in an object store.
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub folder: PathBuf,
}
