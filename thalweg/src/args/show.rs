//! The arguments of `thalweg show`.

use clap::ValueHint;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  thalweg show client.sqlog && xdg-open results/show/logs.html
  thalweg show quiche.sqlog picoquic.qlog --out /tmp/both
                                                        two connections, one figure

docs/qlog.md says which forms and which events are read.

Exit codes: 0 done, 1 failed, 2 a file cannot be read or is no qlog.";

/// Arguments of `thalweg show`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Show {
    /// The logs, of any implementation of QUIC.
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,
    /// Write the page, logs.html, into this folder.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, default_value = "results/show")]
    pub out: PathBuf,
    /// Print nothing but errors.
    #[arg(long, short)]
    pub quiet: bool,
}
