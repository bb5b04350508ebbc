//! The arguments of `thalweg vectors`.

use clap::ValueHint;
use control::{Bytes, Duration, Rate};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  thalweg vectors --load 70Mbps --duration 30min --seed 1 --out mix.cvec
  thalweg vectors --load 5Mbps --duration 10s | head

In a scenario:
  [[traffic]]
  kind = \"tmix\"
  file = \"mix.cvec\"";

/// Arguments of `thalweg vectors`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Vectors {
    /// Mean load in the direction of the responses, headers and acknowledgments included.
    #[arg(long, value_name = "RATE")]
    pub load: Rate,
    /// For how long connections arrive.
    #[arg(long, value_name = "TIME")]
    pub duration: Duration,
    /// The seed of everything that is random in the mix.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Size of a full packet on the wire.
    #[arg(long, value_name = "SIZE", default_value = "1000 B")]
    pub packet: Bytes,
    /// Size of each packet's header, which is also the size of an acknowledgment.
    #[arg(long, value_name = "SIZE", default_value = "40 B")]
    pub header: Bytes,
    /// The file to write, replacing an earlier one [default: standard output].
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,
}
