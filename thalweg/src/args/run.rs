//! The arguments of `thalweg run`.

use super::{Output, Scenario};
use clap::ValueHint;
#[cfg(all(feature = "real", target_os = "linux"))]
use real::Contestant;
use scenario::Shard;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  thalweg run scenarios/gigabit.toml --set path.rate=10Gbps --set duration=60s
  thalweg run my.toml --set 'flow[0].start=2 s' --set 'compare.controllers=[\"bic\", \"rapid\"]'
  thalweg run my.toml --format json | jq '.runs[] | {name, jain}'
  thalweg run my.toml --out results/my && xdg-open results/my/report.html
  thalweg run my.toml --set path.rate=100Mbps --real --beside quinn-cubic,quinn-bbr
                                                        simulate, run in real time, and compare the two
  thalweg run my.toml --qlog results/logs && thalweg show results/logs/*.sqlog
                                                        a log of each flow, and the page that draws them
  thalweg run sweep.toml --shard 3/10 --out results/sweep
                                                        the third of ten commands that divide the runs

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
    #[arg(long, conflicts_with = "shard")]
    pub real: bool,
    /// Which other senders carry the flows in further real runs: quinn-cubic, quinn-bbr or quinn-newreno, which are
    /// simulated, too, and, as root, kernel-cubic and whatever else the kernel's TCP has.
    #[cfg(all(feature = "real", target_os = "linux"))]
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', requires = "real")]
    pub beside: Vec<Contestant>,
    /// Make every N-th run only, beginning with run K, and write a row of metrics per run into a Parquet file in the
    /// folder of --out, which all N commands share. If the file is there, make none. `thalweg merge` joins the files.
    /// With --out s3://BUCKET/PREFIX, they are in an object store.
    #[arg(long, value_name = "K/N", requires = "out", conflicts_with = "format")]
    pub shard: Option<Shard>,
    /// With --shard: also write the time series of the runs, as two more Parquet files per shard. `thalweg merge` joins
    /// them to flows.parquet and links.parquet.
    #[arg(long, requires = "shard")]
    pub series: bool,
    /// Write a log of each flow into this folder, in the format qlog: what its congestion control measured and did.
    /// docs/qlog.md describes the files, and `thalweg show` draws them.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with = "shard")]
    pub qlog: Option<PathBuf>,
    /// Write the packets of each real run into two files in this folder, as captured on either side of the path: in the
    /// format pcapng, with the secrets that decrypt them, so that Wireshark shows QUIC's frames. Each file is as large
    /// as all packets together. docs/qlog.md describes them.
    #[cfg(all(feature = "real", target_os = "linux"))]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, requires = "real")]
    pub pcapng: Option<PathBuf>,
    #[command(flatten)]
    pub output: Output,
}
