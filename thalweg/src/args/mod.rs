//! What the command line accepts: a variant per command here, and a file for the arguments of each.

#[cfg(any(feature = "lab", feature = "wire"))]
mod bench;
#[cfg(all(feature = "copy", unix))]
mod cp;
#[cfg(feature = "lab")]
mod draw;
#[cfg(all(feature = "copy", unix))]
mod drive;
#[cfg(all(feature = "real", target_os = "linux"))]
mod emulate;
#[cfg(feature = "lab")]
mod evaluate;
#[cfg(feature = "lab")]
mod merge;
#[cfg(feature = "lab")]
mod output;
#[cfg(feature = "lab")]
mod reproduce;
#[cfg(feature = "lab")]
mod run;
#[cfg(feature = "lab")]
mod scenario;
#[cfg(feature = "lab")]
mod score;
#[cfg(all(feature = "copy", unix))]
mod serve;
#[cfg(feature = "lab")]
mod show;
#[cfg(feature = "lab")]
mod vectors;

#[cfg(any(feature = "lab", feature = "wire"))]
pub use bench::Bench;
#[cfg(all(feature = "real", target_os = "linux"))]
pub use emulate::Emulate;
#[cfg(feature = "lab")]
pub use {
    bench::BenchEstimators,
    draw::Draw,
    evaluate::Evaluate,
    merge::Merge,
    output::{Format, Output},
    reproduce::Reproduce,
    run::Run,
    scenario::{Check, Scenario},
    score::Score,
    show::Show,
    vectors::Vectors,
};
#[cfg(all(feature = "copy", unix))]
pub use {cp::Cp, drive::Drive, serve::Serve};

use clap::{Parser, Subcommand, ValueHint};
use clap_complete::Shell;
use std::path::PathBuf;

/// Congestion control: simulate, emulate and compare controllers, and copy files with them.
#[derive(Debug, Parser)]
#[command(name = "thalweg", version, max_term_width = 100, after_help = EXAMPLES)]
pub struct Args {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

#[cfg(feature = "lab")]
const EXAMPLES: &str = "\
Examples:
  thalweg run scenarios/gigabit.toml                    compare controllers, print a table
  thalweg run scenarios/gigabit.toml --out results/gigabit
                                                        the same, with a report and the data behind it
  thalweg controllers rapid                             its parameters, their defaults and units
  thalweg check my.toml                                 is this scenario right?";
#[cfg(not(feature = "lab"))]
const EXAMPLES: &str = "\
Example:
  thalweg controllers rapid                             its parameters, their defaults and units";

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Simulate a scenario and print the results.
    #[cfg(feature = "lab")]
    Run(Run),
    /// Join the results of all shards of a scenario (`thalweg run --shard`) to one file.
    #[cfg(feature = "lab")]
    Merge(Merge),
    /// List the papers' tables and figures, or run some and say for each claim whether it comes out.
    #[cfg(feature = "lab")]
    Reproduce(Reproduce),
    /// Draw scenarios at random: paths of all kinds, the same for the same seed.
    #[cfg(feature = "lab")]
    Draw(Draw),
    /// Score controllers on drawn paths: use, fairness, delay, loss and harm, and the paths on which they do worst.
    #[cfg(feature = "lab")]
    Score(Score),
    /// Compare a controller with a baseline by the criteria of RFC 9743, and say for each: better, like, worse, broken.
    #[cfg(feature = "lab")]
    Evaluate(Evaluate),
    /// Draw logs of connections in the format qlog, of any implementation of QUIC.
    #[cfg(feature = "lab")]
    Show(Show),
    /// Say what is wrong with a scenario, or what it would run.
    #[cfg(feature = "lab")]
    Check(Check),
    /// Let real packets cross a scenario's path in real time: datagrams through a relay, or all of a command's traffic.
    #[cfg(all(feature = "real", target_os = "linux"))]
    Emulate(Emulate),
    /// Copy files to or from another host, over QUIC.
    #[cfg(all(feature = "copy", unix))]
    Cp(Cp),
    /// Let others copy files from a folder, or into it, without ssh.
    #[cfg(all(feature = "copy", unix))]
    Serve(Serve),
    /// List the congestion controllers, or describe one.
    Controllers {
        /// The controller to describe: its source, and its parameters with their defaults and units.
        name: Option<String>,
        /// Describe all controllers in Markdown: write a page per family, and an index, into this folder.
        #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with = "name")]
        markdown: Option<PathBuf>,
    },
    /// Write a synthetic mix of TCP connections as Tmix connection vectors, for scenarios and for ns-2.
    #[cfg(feature = "lab")]
    Vectors(Vectors),
    /// Measure how this machine sends packets, or how well estimators find the available bandwidth.
    #[cfg(any(feature = "lab", feature = "wire"))]
    #[command(subcommand)]
    Bench(Bench),
    /// Print the JSON Schema of scenario files, for editors.
    #[cfg(feature = "lab")]
    Schema,
    /// Print a script that completes commands and options in a shell.
    #[command(after_help = "Example, for bash:\n  source <(thalweg completions bash)")]
    Completions {
        /// Which shell.
        shell: Shell,
    },
}
