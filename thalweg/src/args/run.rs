//! The arguments of `thalweg run`.

use super::{Output, Scenario};
#[cfg(all(feature = "real", target_os = "linux"))]
use real::Contestant;

const EXAMPLES: &str = "\
Examples:
  thalweg run scenarios/gigabit.toml --set path.rate=10Gbps --set duration=60s
  thalweg run my.toml --set 'flow[0].start=2 s' --set 'compare.controllers=[\"bic\", \"rapid\"]'
  thalweg run my.toml --format json | jq '.runs[] | {name, jain}'
  thalweg run my.toml --out results/my && xdg-open results/my/report.html
  thalweg run my.toml --set path.rate=100Mbps --real --beside quinn-cubic,quinn-bbr
                                                        simulate, run in real time, and compare the two

Exit codes: 0 done, 1 failed, 2 the scenario or the command line is wrong, 130 interrupted.";

/// Arguments of `thalweg run`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Run {
    #[command(flatten)]
    pub scenario: Scenario,
    /// After the simulation, make each run in real time, too: over an emulated path, with QUIC at its ends. All packets
    /// have the size of QUIC's.
    #[cfg(all(feature = "real", target_os = "linux"))]
    #[arg(long)]
    pub real: bool,
    /// Which other senders carry the flows in further real runs: quinn-cubic, quinn-bbr or quinn-newreno, and, as root,
    /// kernel-cubic and whatever else the kernel's TCP has.
    #[cfg(all(feature = "real", target_os = "linux"))]
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', requires = "real")]
    pub beside: Vec<Contestant>,
    #[command(flatten)]
    pub output: Output,
}
