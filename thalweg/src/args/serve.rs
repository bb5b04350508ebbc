//! The arguments of `thalweg serve`.

use super::Drive;
use clap::ValueHint;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  thalweg serve photos                              prints a connection string, good for one copy:
  thalweg cp -r thalweg://KEY@192.0.2.1:34567/ .    what to run on the other host
  thalweg serve inbox --writable --keep --listen 4433 --key-file ~/.thalweg-inbox
                                                    a standing service, the same string each time";

/// Arguments of `thalweg serve`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Serve {
    /// The folder. Nothing outside of it can be read or written.
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub folder: PathBuf,
    /// Let clients write into the folder, too, and replace files in it.
    #[arg(long)]
    pub writable: bool,
    /// Keep serving after the first copy, with several clients at a time.
    #[arg(long)]
    pub keep: bool,
    /// With --keep: how many clients to serve at a time.
    #[arg(long, value_name = "NUMBER", default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..))]
    pub max_clients: u16,
    /// Where to listen: [ADDRESS:]PORT, UDP; 0 is any port that is free.
    #[arg(long, value_name = "ADDRESS", default_value = "0")]
    pub listen: String,
    /// The name or address that goes into the connection string [default: this host's].
    #[arg(long, value_name = "HOST")]
    pub host: Option<String>,
    /// Keep the certificate and the secret in this file, which is made if it is missing: the connection string stays
    /// the same.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub key_file: Option<PathBuf>,
    #[command(flatten)]
    pub drive: Drive,
    /// Print nothing but the connection string and errors, and show no progress.
    #[arg(long, short, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Say which files are complete, and how packets sent from here are paced.
    #[arg(long, short)]
    pub verbose: bool,
}
