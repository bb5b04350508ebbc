//! The command line.
//!
//! What lives here: arguments, the progress bar, the folder for results, and exit codes. What does not: anything that a
//! program might want to do without a terminal; that is in `lab`.

mod args;
mod check;
mod controllers;
mod failure;
mod folder;
mod interrupt;
mod print;
mod progress;
mod run;

use args::{Args, Command};
use clap::{CommandFactory, Parser};
use failure::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    match command(Args::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn command(command: Command) -> Result<(), Failure> {
    match command {
        Command::Run(args) => run::run(&args),
        Command::Check(args) => check::check(&args),
        Command::Controllers { name: None } => controllers::list(),
        Command::Controllers { name: Some(name) } => controllers::describe(&name),
        Command::Schema => print::json(&lab::scenario::schema()),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Args::command(), "thalweg", &mut script);
            print::bytes(&script)
        }
    }
}
