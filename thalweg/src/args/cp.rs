//! The arguments of `thalweg cp`.

use super::Drive;
use clap::ValueHint;
use control::Duration;
use std::ffi::OsString;
use std::ops::RangeInclusive;

const EXAMPLES: &str = "\
Examples:
  thalweg cp a.iso b.iso host:images/               over ssh: thalweg must be installed there, too
  thalweg cp -rp me@host:photos .                   a folder, with permissions and times
  thalweg cp thalweg://KEY@192.0.2.1:4433/a.iso .   from a thalweg serve, without ssh

After an interruption, the same command continues the copy.

Exit codes: 0 done, 1 not all was copied, 2 the command line is wrong, 130 interrupted.";

/// Arguments of `thalweg cp`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Cp {
    /// Sources and destination. HOST:PATH is on another host, and so is a connection string of thalweg serve.
    #[arg(value_name = "PATH", required_unless_present = "server", value_hint = ValueHint::AnyPath)]
    pub paths: Vec<OsString>,
    /// Copy folders with everything in them; links are followed.
    #[arg(short, long)]
    pub recursive: bool,
    /// Keep permissions and times.
    #[arg(short, long)]
    pub preserve: bool,
    /// Do not wait until files are on the disk: a power failure can then undo or damage a complete copy.
    #[arg(long)]
    pub no_sync: bool,
    #[command(flatten)]
    pub drive: Drive,
    /// The port of ssh.
    #[arg(short = 'P', long, value_name = "PORT")]
    pub port: Option<u16>,
    /// The program to use for ssh, with options [default: $THALWEG_SSH, or ssh].
    #[arg(long, value_name = "COMMAND")]
    pub ssh: Option<String>,
    /// The name of the thalweg program on the other host.
    #[arg(long, value_name = "COMMAND", default_value = "thalweg")]
    pub remote_program: String,
    /// UDP ports that the other host may use, for firewalls: LOW-HIGH [default: any].
    #[arg(long, value_name = "PORTS", value_parser = ports)]
    pub ports: Option<RangeInclusive<u16>>,
    /// A connection over which nothing arrives for this long counts as lost.
    #[arg(long, value_name = "TIME", default_value = "30s")]
    pub timeout: Duration,
    /// For how long to try again after a connection was lost.
    #[arg(long, value_name = "TIME", default_value = "120s")]
    pub patience: Duration,
    /// Print nothing but errors, and show no progress.
    #[arg(long, short, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Say which files are complete, and how packets sent from here are paced.
    #[arg(long, short)]
    pub verbose: bool,
    /// What ssh runs on the other host.
    #[arg(long, hide = true)]
    pub server: bool,
}

fn ports(text: &str) -> Result<RangeInclusive<u16>, String> {
    let (low, high) = text.split_once('-').unwrap_or((text, text));
    match (low.parse(), high.parse()) {
        (Ok(low @ 1..), Ok(high)) if low <= high => Ok(low..=high),
        _ => Err("write a port, or a range like 4433-4443".into()),
    }
}
