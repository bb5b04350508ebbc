//! The arguments of `thalweg emulate`.

use super::Output;
use clap::ValueHint;
use control::Duration;
use scenario::Set;
use std::ffi::OsString;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  thalweg emulate scenarios/cable.toml --listen 127.0.0.1:4434 --to 127.0.0.1:4433
      any protocol over UDP: the server is at port 4433, clients send to port 4434
  sudo thalweg emulate scenarios/cable.toml -- iperf3 -c 198.18.0.1
      the kernel's own TCP through the path's queue, to an `iperf3 -s` on this host
  sudo thalweg emulate my.toml --set path.rate=50Mbps --out results/real -- sh -c 'curl -O http://$THALWEG_HOST:8000/file'

Exit codes: 0 done, 1 failed, 2 the scenario or the command line is wrong; if a command was run, the command's.";

/// Arguments of `thalweg emulate`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Emulate {
    /// The scenario, a TOML file. Packets take the route of its first flow. Its flows and traffic are not simulated;
    /// they and `duration` may be missing.
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// Give a key of the scenario another value; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub sets: Vec<Set>,
    /// Relay datagrams: clients send to this address.
    #[arg(
        long,
        value_name = "HOST:PORT",
        requires = "to",
        conflicts_with = "command",
        required_unless_present = "command"
    )]
    pub listen: Option<String>,
    /// The server, which sees each client at a port of its own.
    #[arg(long, value_name = "HOST:PORT", requires = "listen")]
    pub to: Option<String>,
    /// How many clients there are at most; a client that sends nothing for two minutes makes room for another.
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u16).range(1..))]
    pub clients: u16,
    /// How long to emulate the path [default: until Ctrl-C, or until the command ends].
    #[arg(long = "for", value_name = "TIME")]
    pub duration: Option<Duration>,
    #[command(flatten)]
    pub output: Output,
    /// Print a line each second, even if standard error is no terminal.
    #[arg(long, short, conflicts_with = "quiet")]
    pub verbose: bool,
    /// Run this command in a network namespace whose only way out is the path, which leads to this host. Needs root.
    #[arg(last = true, value_hint = ValueHint::CommandWithArguments)]
    pub command: Vec<OsString>,
}
