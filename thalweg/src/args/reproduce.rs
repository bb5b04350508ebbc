//! The arguments of `thalweg reproduce`.

use clap::ValueHint;
use std::num::NonZero;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  thalweg reproduce                                     the catalogue, with the last verdicts
  thalweg reproduce rapid/table2 'rrr/*'                some artefacts
  thalweg reproduce --all --scale full                  all, with the papers' own durations and speeds";

/// Arguments of `thalweg reproduce`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Reproduce {
    /// Which artefacts, by their ids; PAPER/* are all artefacts of a paper.
    pub ids: Vec<String>,
    /// Reproduce all artefacts.
    #[arg(long, conflicts_with = "ids")]
    pub all: bool,
    /// How much of the papers' experiments to run [default: quick].
    #[arg(long, value_name = "SCALE", value_parser = ["quick", "full"])]
    scale: Option<String>,
    /// The folder for the gallery, claims.json, and the cache of runs, which are not made again.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, default_value = "results/reproduce")]
    pub out: PathBuf,
    /// Write all verdicts that are there as a page of documentation into this file, with date, commit and time taken.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub markdown: Option<PathBuf>,
    /// How many runs to make at the same time [default: one per core].
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZero<usize>>,
    /// Print nothing but verdicts and errors, and show no progress.
    #[arg(long, short)]
    pub quiet: bool,
}

impl Reproduce {
    /// How much to run.
    pub fn scale(&self) -> lab::reproduce::Scale {
        match self.scale.as_deref() {
            Some("full") => lab::reproduce::Scale::Full,
            _ => lab::reproduce::Scale::Quick,
        }
    }
}
