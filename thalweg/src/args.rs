//! What the command line accepts.

use clap::{Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;
use control::{Bytes, Duration, Rate};
#[cfg(target_os = "linux")]
use real::Contestant;
use scenario::Set;
#[cfg(unix)]
use std::ffi::OsString;
use std::num::NonZero;
#[cfg(unix)]
use std::ops::RangeInclusive;
use std::path::PathBuf;

/// Congestion control: simulate and compare controllers.
#[derive(Debug, Parser)]
#[command(name = "thalweg", version, max_term_width = 100, after_help = EXAMPLES)]
pub struct Args {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const EXAMPLES: &str = "\
Examples:
  thalweg run scenarios/gigabit.toml                    compare controllers, print a table
  thalweg run scenarios/gigabit.toml --out results/gigabit
                                                        the same, with a report and the data behind it
  thalweg controllers rapid                             its parameters, their defaults and units
  thalweg check my.toml                                 is this scenario right?";

const RUN_EXAMPLES: &str = "\
Examples:
  thalweg run scenarios/gigabit.toml --set path.rate=10Gbps --set duration=60s
  thalweg run my.toml --set 'flow[0].start=2 s' --set 'compare.controllers=[\"bic\", \"rapid\"]'
  thalweg run my.toml --format json | jq '.runs[] | {name, jain}'
  thalweg run my.toml --out results/my && xdg-open results/my/report.html
  thalweg run my.toml --set path.rate=100Mbps --real --beside quinn-cubic,quinn-bbr
                                                        the same, for real, and whether it agrees

Exit codes: 0 done, 1 failed, 2 the scenario or the command line is wrong, 130 interrupted.";

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Simulate a scenario and print what came out.
    Run(Run),
    /// List the papers' tables and figures, or run some and say claim by claim whether they come out.
    Reproduce(Reproduce),
    /// Say what is wrong with a scenario, or what it would run.
    Check(Check),
    /// Let real packets cross a scenario's path in real time: datagrams through a relay, or all of a command's traffic.
    #[cfg(target_os = "linux")]
    Emulate(Emulate),
    /// Copy files to or from another host, over QUIC.
    #[cfg(unix)]
    Cp(Cp),
    /// Let somebody copy files from a folder, or into it, without ssh.
    #[cfg(unix)]
    Serve(Serve),
    /// List the congestion controllers, or describe one.
    Controllers {
        /// The one to describe: its source, its parameters, their defaults and units.
        name: Option<String>,
        /// Describe all of them in Markdown: write a page per family, and one that lists them, into this folder.
        #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with = "name")]
        markdown: Option<PathBuf>,
    },
    /// Write a synthetic mix of TCP connections as Tmix connection vectors, for scenarios and for ns-2.
    Vectors(Vectors),
    /// Measure what this machine does with packets.
    #[command(subcommand)]
    Bench(Bench),
    /// Print the JSON Schema of scenario files, for editors.
    Schema,
    /// Print a script that completes commands and options in a shell.
    #[command(after_help = "Example, for bash:\n  source <(thalweg completions bash)")]
    Completions {
        /// Which shell.
        shell: Shell,
    },
}

/// Which scenario, with what changed.
#[derive(Debug, clap::Args)]
pub struct Scenario {
    /// The scenario, a TOML file.
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// Give a key of the scenario another value; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub sets: Vec<Set>,
    /// How many runs to make at the same time [default: one per core].
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZero<usize>>,
}

/// Arguments of `thalweg run`.
#[derive(Debug, clap::Args)]
#[command(after_help = RUN_EXAMPLES)]
pub struct Run {
    #[command(flatten)]
    pub scenario: Scenario,
    /// After simulating, make each run for real: the path in real time, and QUIC across it. All packets have the size of QUIC's.
    #[cfg(target_os = "linux")]
    #[arg(long)]
    pub real: bool,
    /// Who else is to carry the flows in real runs: quinn-cubic, quinn-bbr or quinn-newreno, and, as root, kernel-cubic and what else
    /// the kernel's TCP has.
    #[cfg(target_os = "linux")]
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', requires = "real")]
    pub beside: Vec<Contestant>,
    #[command(flatten)]
    pub output: Output,
}

/// Where results go.
#[derive(Debug, clap::Args)]
pub struct Output {
    /// Write report.html, summary.json and the time series (Parquet) into this folder, replacing earlier results in it.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out: Option<PathBuf>,
    /// How to print the results.
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Show no progress and say nothing but results and errors.
    #[arg(long, short)]
    pub quiet: bool,
}

#[cfg(target_os = "linux")]
const EMULATE_EXAMPLES: &str = "\
Examples:
  thalweg emulate scenarios/cable.toml --listen 127.0.0.1:4434 --to 127.0.0.1:4433
      whatever speaks UDP: the server is at port 4433, clients talk to port 4434
  sudo thalweg emulate scenarios/cable.toml -- iperf3 -c 198.18.0.1
      the kernel's own TCP through the path's queue, to an `iperf3 -s` on this host
  sudo thalweg emulate my.toml --set path.rate=50Mbps --out results/real -- sh -c 'curl -O http://$THALWEG_HOST:8000/file'

Exit codes: 0 done, 1 failed, 2 the scenario or the command line is wrong; of a command, its own.";

/// Arguments of `thalweg emulate`.
#[cfg(target_os = "linux")]
#[derive(Debug, clap::Args)]
#[command(after_help = EMULATE_EXAMPLES)]
pub struct Emulate {
    /// The scenario, a TOML file: packets take its first flow's way. Nothing that sends is simulated, and neither it nor
    /// `duration` need be there.
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
    /// How many clients at most; one that is silent for two minutes makes room.
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u16).range(1..))]
    pub clients: u16,
    /// For how long; until Ctrl-C, or until the command ends, if not given.
    #[arg(long = "for", value_name = "TIME")]
    pub duration: Option<Duration>,
    #[command(flatten)]
    pub output: Output,
    /// Say each second what crosses, even if standard error is no terminal.
    #[arg(long, short, conflicts_with = "quiet")]
    pub verbose: bool,
    /// Run this command in a network namespace whose only way out is the path, to this host. Takes root.
    #[arg(last = true, value_hint = ValueHint::CommandWithArguments)]
    pub command: Vec<OsString>,
}

/// Which controller drives what is sent.
#[cfg(unix)]
#[derive(Debug, clap::Args)]
pub struct Drive {
    /// The congestion controller of what is sent [default: thalweg-hybrid].
    #[arg(long, value_name = "NAME")]
    pub controller: Option<String>,
    /// Give a parameter of the controller another value; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub sets: Vec<Set>,
}

#[cfg(unix)]
const CP_EXAMPLES: &str = "\
Examples:
  thalweg cp a.iso b.iso host:images/               over ssh: thalweg must be installed there, too
  thalweg cp -rp me@host:photos .                   a folder, with permissions and times
  thalweg cp thalweg://KEY@192.0.2.1:4433/a.iso .   from a thalweg serve, without ssh

Again after an interruption, the same command continues.

Exit codes: 0 done, 1 not all was copied, 2 the command line is wrong, 130 interrupted.";

/// Arguments of `thalweg cp`.
#[cfg(unix)]
#[derive(Debug, clap::Args)]
#[command(after_help = CP_EXAMPLES)]
pub struct Cp {
    /// Sources and destination; HOST:PATH is on another host, and so is what thalweg serve prints.
    #[arg(value_name = "PATH", required_unless_present = "server", value_hint = ValueHint::AnyPath)]
    pub paths: Vec<OsString>,
    /// Copy folders with all that is in them; links are followed.
    #[arg(short, long)]
    pub recursive: bool,
    /// Keep permissions and times.
    #[arg(short, long)]
    pub preserve: bool,
    #[command(flatten)]
    pub drive: Drive,
    /// The port of ssh.
    #[arg(short = 'P', long, value_name = "PORT")]
    pub port: Option<u16>,
    /// The program to use for ssh, with options [default: $THALWEG_SSH, or ssh].
    #[arg(long, value_name = "COMMAND")]
    pub ssh: Option<String>,
    /// What thalweg is called on the other host.
    #[arg(long, value_name = "COMMAND", default_value = "thalweg")]
    pub remote_program: String,
    /// UDP ports that the other host may use, for firewalls: LOW-HIGH [default: any].
    #[arg(long, value_name = "PORTS", value_parser = ports)]
    pub ports: Option<RangeInclusive<u16>>,
    /// A connection on which nothing is heard for so long is lost.
    #[arg(long, value_name = "TIME", default_value = "30s")]
    pub timeout: Duration,
    /// For how long to try again when a connection was lost.
    #[arg(long, value_name = "TIME", default_value = "120s")]
    pub patience: Duration,
    /// Show no progress and say nothing but errors.
    #[arg(long, short, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Say which files are complete, and how packets sent here are paced.
    #[arg(long, short)]
    pub verbose: bool,
    /// What ssh runs on the other host.
    #[arg(long, hide = true)]
    pub server: bool,
}

#[cfg(unix)]
fn ports(text: &str) -> Result<RangeInclusive<u16>, String> {
    let (low, high) = text.split_once('-').unwrap_or((text, text));
    match (low.parse(), high.parse()) {
        (Ok(low @ 1..), Ok(high)) if low <= high => Ok(low..=high),
        _ => Err("write a port, or a range like 4433-4443".into()),
    }
}

#[cfg(unix)]
const SERVE_EXAMPLES: &str = "\
Examples:
  thalweg serve photos                              prints a connection string, good for one copy:
  thalweg cp -r thalweg://KEY@192.0.2.1:34567/ .    what the other one does with it
  thalweg serve inbox --writable --keep --listen 4433 --key-file ~/.thalweg-inbox
                                                    a standing service, the same string each time";

/// Arguments of `thalweg serve`.
#[cfg(unix)]
#[derive(Debug, clap::Args)]
#[command(after_help = SERVE_EXAMPLES)]
pub struct Serve {
    /// The folder. Nothing outside of it can be read or written.
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub folder: PathBuf,
    /// Let clients write there, too, over what is there.
    #[arg(long)]
    pub writable: bool,
    /// Go on after a copy, with several clients at a time.
    #[arg(long)]
    pub keep: bool,
    /// Where to listen: [ADDRESS:]PORT, UDP; 0 is any that is free.
    #[arg(long, value_name = "ADDRESS", default_value = "0")]
    pub listen: String,
    /// The name or address that goes into the connection string [default: this host's].
    #[arg(long, value_name = "HOST")]
    pub host: Option<String>,
    /// Keep certificate and secret in this file, made if it is not there: the connection string stays the same.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub key_file: Option<PathBuf>,
    #[command(flatten)]
    pub drive: Drive,
    /// Show no progress and say nothing but the connection string and errors.
    #[arg(long, short, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Say which files are complete, and how packets sent here are paced.
    #[arg(long, short)]
    pub verbose: bool,
}

/// Arguments of `thalweg check`.
#[derive(Debug, clap::Args)]
pub struct Check {
    #[command(flatten)]
    pub scenario: Scenario,
}

const REPRODUCE_EXAMPLES: &str = "\
Examples:
  thalweg reproduce                                     the catalogue, with the last verdicts
  thalweg reproduce rapid/table2 'rrr/*'                some artefacts
  thalweg reproduce --all --scale full                  all, with the papers' own durations and speeds";

/// Arguments of `thalweg reproduce`.
#[derive(Debug, clap::Args)]
#[command(after_help = REPRODUCE_EXAMPLES)]
pub struct Reproduce {
    /// Which artefacts, by their ids; PAPER/* are all of a paper.
    pub ids: Vec<String>,
    /// All of them.
    #[arg(long, conflicts_with = "ids")]
    pub all: bool,
    /// How much of the papers' experiments to run [default: quick].
    #[arg(long, value_name = "SCALE", value_parser = ["quick", "full"])]
    scale: Option<String>,
    /// The folder for the gallery, claims.json, and what is kept so that it is not run again.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, default_value = "results/reproduce")]
    pub out: PathBuf,
    /// Write all verdicts that are there as a page of documentation into this file, with date, commit and time taken.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub markdown: Option<PathBuf>,
    /// How many runs to make at the same time [default: one per core].
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZero<usize>>,
    /// Show no progress and say nothing but verdicts and errors.
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

const VECTORS_EXAMPLES: &str = "\
Examples:
  thalweg vectors --load 70Mbps --duration 30min --seed 1 --out mix.cvec
  thalweg vectors --load 5Mbps --duration 10s | head

In a scenario:
  [[traffic]]
  kind = \"tmix\"
  file = \"mix.cvec\"";

/// Arguments of `thalweg vectors`.
#[derive(Debug, clap::Args)]
#[command(after_help = VECTORS_EXAMPLES)]
pub struct Vectors {
    /// Mean load in the direction of the responses, headers and acknowledgments included.
    #[arg(long, value_name = "RATE")]
    pub load: Rate,
    /// For how long connections arrive.
    #[arg(long, value_name = "TIME")]
    pub duration: Duration,
    /// Everything random follows from it.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Size of a full packet on the wire.
    #[arg(long, value_name = "SIZE", default_value = "1000 B")]
    pub packet: Bytes,
    /// How much of each packet is a header, and how large an acknowledgment is.
    #[arg(long, value_name = "SIZE", default_value = "40 B")]
    pub header: Bytes,
    /// The file to write, replacing what was there; standard output if not given.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,
}

/// What to measure.
#[derive(Debug, Subcommand)]
pub enum Bench {
    /// How exactly packets leave at constant rates: by how much the gaps between them miss the plan, on loopback.
    #[command(after_help = "Example:\n  thalweg bench pacing --rate 2Gbps --duration 200ms")]
    Pacing {
        /// Rate of the packets, without UDP's and IP's headers; may be repeated [default: 100 Mbps, 500 Mbps and 1 Gbps].
        #[arg(long = "rate", value_name = "RATE")]
        rates: Vec<Rate>,
        /// How long to send at each.
        #[arg(long, value_name = "TIME", default_value = "500ms")]
        duration: Duration,
    },
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
