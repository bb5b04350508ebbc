//! The arguments that say where results go.

use clap::{ValueEnum, ValueHint};
use std::path::PathBuf;

/// Where results go.
#[derive(Debug, clap::Args)]
pub struct Output {
    /// Write report.html, summary.json and the time series (Parquet) into this folder, replacing earlier results in it.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out: Option<PathBuf>,
    /// How to print the results.
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Print nothing but results and errors, and show no progress.
    #[arg(long, short)]
    pub quiet: bool,
}

/// How to print results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A table, for people.
    #[default]
    Table,
    /// JSON, for programs.
    Json,
}
