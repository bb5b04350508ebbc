//! The arguments of `thalweg evaluate`.

use super::Format;
use clap::ValueHint;
use scenario::Set;
use std::num::NonZero;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  thalweg evaluate thalweg                              all blocks, beside CUBIC
  thalweg evaluate bbr1 scalable --blocks loss,beside
  thalweg evaluate aimd --set controller.aimd.decrease=0.2 --baseline reno
  thalweg evaluate copa --blocks my-block.toml          a block of your own
  thalweg evaluate mine --process 'mine=python3 examples/process/reno.py' --blocks loss
  thalweg evaluate --list                               the blocks and what they are for

docs/evaluate.md describes the blocks, the verdicts, and how to add a block.

Exit codes: 0 done, 1 failed, or a verdict is broken, 2 the command line is wrong, 130 interrupted.";

/// Arguments of `thalweg evaluate`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Evaluate {
    /// The controllers to evaluate, each for itself.
    #[arg(value_name = "CONTROLLER", required_unless_present = "list")]
    pub controllers: Vec<String>,
    /// The controller with which it is compared.
    #[arg(long, value_name = "CONTROLLER", default_value = "cubic")]
    pub baseline: String,
    /// The blocks to run, by their names or as files, separated by commas [default: all].
    #[arg(long, value_name = "BLOCK", value_delimiter = ',')]
    pub blocks: Vec<String>,
    /// How much is run: quick takes minutes, full an hour or more.
    #[arg(long, value_name = "SCALE", value_parser = ["quick", "full"], default_value = "quick")]
    scale: String,
    /// Give a key of all scenarios another value, such as a parameter of the controller; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub sets: Vec<Set>,
    /// Let a controller NAME be a program, which COMMAND starts; docs/processes.md has what it reads and writes.
    #[arg(long = "process", value_name = "NAME=COMMAND")]
    pub processes: Vec<String>,
    /// How many runs to make at the same time [default: one per core].
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZero<usize>>,
    /// Write the verdicts of all controllers as a table of documentation into this file.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub markdown: Option<PathBuf>,
    /// The folder for the reports, their data, and the cache of runs, which are not made again.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, default_value = "results/evaluate")]
    pub out: PathBuf,
    /// How to print the evaluation.
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// List the blocks, and run nothing.
    #[arg(long, conflicts_with = "controllers")]
    pub list: bool,
    /// Print nothing but the evaluation and errors, and show no progress.
    #[arg(long, short)]
    pub quiet: bool,
}

impl Evaluate {
    /// How much to run.
    pub fn scale(&self) -> lab::reproduce::Scale {
        match self.scale.as_str() {
            "full" => lab::reproduce::Scale::Full,
            _ => lab::reproduce::Scale::Quick,
        }
    }
}
