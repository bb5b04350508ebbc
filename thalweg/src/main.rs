//! The command line.
//!
//! What lives here: arguments, the progress bar, the folder for results, and exit codes. What does not: anything that a
//! program might want to do without a terminal.
//!
//! Rules of the room: results go to standard output, everything else to standard error. What the user got wrong is a
//! line per problem and exit code 2; what could not be done is a line and exit code 1. A folder of results appears
//! complete or not at all. A command is a variant in `args/mod.rs`, a file in `args` with its help, and a file of its
//! own.

mod args;
#[cfg(feature = "wire")]
mod bench;
#[cfg(feature = "lab")]
mod check;
mod controllers;
#[cfg(all(feature = "copy", unix))]
mod cp;
#[cfg(all(feature = "real", target_os = "linux"))]
mod emulate;
mod failure;
#[cfg(feature = "lab")]
mod folder;
#[cfg(any(feature = "lab", feature = "copy"))]
mod interrupt;
#[cfg(feature = "lab")]
mod output;
mod print;
#[cfg(feature = "lab")]
mod progress;
#[cfg(all(feature = "real", target_os = "linux"))]
mod real;
#[cfg(feature = "lab")]
mod reproduce;
#[cfg(feature = "lab")]
mod run;
#[cfg(all(feature = "real", target_os = "linux"))]
mod status;
#[cfg(feature = "lab")]
mod vectors;

use args::{Args, Command};
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use failure::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    // Runs in network namespaces start this program again, for what they need there.
    #[cfg(all(feature = "real", target_os = "linux"))]
    if let Some(code) = ::real::answer(std::env::args_os().skip(1)) {
        return code;
    }
    let done = match Args::try_parse() {
        Ok(args) => command(args.command),
        Err(e) if e.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand || !e.use_stderr() => e.exit(),
        Err(e) => Err(Failure::Wrong(vec![one_line(&e.to_string())])),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

/// The paragraphs of an error of `clap` in one line, as all other errors are.
fn one_line(message: &str) -> String {
    let lines = message.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("For more"));
    lines.collect::<Vec<_>>().join("; ").replace(":; ", ": ").trim_start_matches("error: ").to_string()
}

fn command(command: Command) -> Result<(), Failure> {
    match command {
        #[cfg(feature = "lab")]
        Command::Run(args) => run::run(&args),
        #[cfg(feature = "lab")]
        Command::Reproduce(args) => reproduce::reproduce(&args),
        #[cfg(feature = "lab")]
        Command::Check(args) => check::check(&args),
        #[cfg(all(feature = "real", target_os = "linux"))]
        Command::Emulate(args) => emulate::emulate(&args),
        #[cfg(all(feature = "copy", unix))]
        Command::Cp(args) => cp::cp(&args),
        #[cfg(all(feature = "copy", unix))]
        Command::Serve(args) => cp::serve(&args),
        Command::Controllers { markdown: Some(folder), .. } => controllers::markdown(&folder),
        Command::Controllers { name: None, .. } => controllers::list(),
        Command::Controllers { name: Some(name), .. } => controllers::describe(&name),
        #[cfg(feature = "lab")]
        Command::Vectors(args) => vectors::vectors(&args),
        #[cfg(feature = "wire")]
        Command::Bench(args) => bench::bench(&args),
        #[cfg(feature = "lab")]
        Command::Schema => print::json(&scenario::schema()),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Args::command(), "thalweg", &mut script);
            print::bytes(&script)
        }
    }
}
