//! The command line.
//!
//! What lives here: arguments, the progress bar, the folder for results, and exit codes. What does not: anything that a
//! program might want to do without a terminal; that is in `lab`.
//!
//! Rules of the room: results go to standard output, everything else to standard error. What the user got wrong is a line
//! per problem and exit code 2; what could not be done, a line and exit code 1. A folder of results appears complete or not
//! at all. A command is a variant in `args.rs`, with its help, and a file of its own.

mod args;
mod bench;
mod check;
mod controllers;
#[cfg(unix)]
mod cp;
#[cfg(target_os = "linux")]
mod emulate;
mod failure;
mod folder;
mod interrupt;
mod output;
mod print;
mod progress;
#[cfg(target_os = "linux")]
mod real;
mod reproduce;
mod run;
#[cfg(target_os = "linux")]
mod status;
mod vectors;

use args::{Args, Command};
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use failure::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    // Runs in network namespaces start this program again, for what they need there.
    #[cfg(target_os = "linux")]
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

/// Clap's paragraphs as a line, as all other errors are.
fn one_line(message: &str) -> String {
    let lines = message.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("For more"));
    lines.collect::<Vec<_>>().join("; ").replace(":; ", ": ").trim_start_matches("error: ").to_string()
}

fn command(command: Command) -> Result<(), Failure> {
    match command {
        Command::Run(args) => run::run(&args),
        Command::Reproduce(args) => reproduce::reproduce(&args),
        Command::Check(args) => check::check(&args),
        #[cfg(target_os = "linux")]
        Command::Emulate(args) => emulate::emulate(&args),
        #[cfg(unix)]
        Command::Cp(args) => cp::cp(&args),
        #[cfg(unix)]
        Command::Serve(args) => cp::serve(&args),
        Command::Controllers { markdown: Some(folder), .. } => controllers::markdown(&folder),
        Command::Controllers { name: None, .. } => controllers::list(),
        Command::Controllers { name: Some(name), .. } => controllers::describe(&name),
        Command::Vectors(args) => vectors::vectors(&args),
        Command::Bench(args) => bench::bench(&args),
        Command::Schema => print::json(&scenario::schema()),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Args::command(), "thalweg", &mut script);
            print::bytes(&script)
        }
    }
}
