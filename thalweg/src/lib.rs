//! The command line.
//!
//! What lives here: arguments, the progress bar, the folder for results, and exit codes. What does not: anything that a
//! program might want to do without a terminal.
//!
//! Rules of the room: results go to standard output, everything else to standard error. What the user got wrong is a
//! line per problem and exit code 2; what could not be done is a line and exit code 1. A folder of results appears
//! complete or not at all. A command is a variant in `args/mod.rs`, a file in `args` with its help, and a file of its
//! own.
//!
//! It is a library, so that the Python package has the same command line; the program is `main.rs`.

mod args;
#[cfg(any(feature = "lab", feature = "wire"))]
mod bench;
#[cfg(feature = "lab")]
mod check;
mod controllers;
#[cfg(all(feature = "copy", unix))]
mod cp;
#[cfg(feature = "lab")]
mod draw;
#[cfg(all(feature = "real", target_os = "linux"))]
mod emulate;
#[cfg(feature = "lab")]
mod evaluate;
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
#[cfg(feature = "lab")]
mod score;
#[cfg(feature = "lab")]
mod shard;
#[cfg(feature = "lab")]
mod show;
#[cfg(feature = "lab")]
mod source;
#[cfg(all(feature = "real", target_os = "linux"))]
mod status;
#[cfg(feature = "lab")]
mod vectors;

use args::{Args, Command};
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use std::ffi::OsString;

pub use failure::Failure;
#[cfg(feature = "lab")]
pub use folder::Folder;

/// Does what the command line asks for, and returns the exit code. `program` begins a command that calls this function
/// again with the arguments behind it: runs in network namespaces start it. `arguments` are without the program's name.
pub fn main(program: Vec<OsString>, arguments: Vec<OsString>) -> u8 {
    #[cfg(all(feature = "real", target_os = "linux"))]
    if let Some(code) = ::real::answer(arguments.iter().cloned()) {
        return code;
    }
    #[cfg(feature = "lab")]
    add_controllers();
    let name = OsString::from("thalweg");
    let done = match Args::try_parse_from(std::iter::once(name).chain(arguments)) {
        Ok(args) => command(args.command, &program),
        Err(e) if e.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand || !e.use_stderr() => {
            // Whoever reads it may have closed it.
            let _ = e.print();
            return e.exit_code() as u8;
        }
        Err(e) => Err(Failure::Wrong(vec![one_line(&e.to_string())])),
    };
    match done {
        Ok(()) => 0,
        Err(failure) => report(failure),
    }
}

/// Adds the controllers that are not of the crate `control` to its registry. More than once does no harm.
#[cfg(feature = "lab")]
pub fn add_controllers() {
    // There are no other controllers of these names.
    let _ = thalweg_quinn::simulated::add();
    #[cfg(feature = "noq")]
    let _ = thalweg_quinn::noq::add();
}

/// Writes the lines of `failure` to standard error, and returns the exit code.
fn report(failure: Failure) -> u8 {
    match failure {
        Failure::Wrong(lines) => {
            lines.iter().for_each(|line| print::note(line));
            2
        }
        Failure::Failed(line) => {
            print::note(&line);
            1
        }
        // The exit code that shells use for a process that SIGINT ended.
        #[cfg(any(feature = "lab", feature = "copy"))]
        Failure::Interrupted => 130,
        #[cfg(all(feature = "real", target_os = "linux"))]
        Failure::Command(code) => code,
        Failure::Unread => 0,
    }
}

/// The paragraphs of an error of `clap` in one line, as all other errors are.
fn one_line(message: &str) -> String {
    let lines = message.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("For more"));
    lines.collect::<Vec<_>>().join("; ").replace(":; ", ": ").trim_start_matches("error: ").to_string()
}

/// Runs `command`. `program` begins a command that starts this program again.
#[cfg_attr(not(all(feature = "real", target_os = "linux")), allow(unused_variables))]
fn command(command: Command, program: &[OsString]) -> Result<(), Failure> {
    match command {
        #[cfg(feature = "lab")]
        Command::Run(args) => match (args.shard, &args.output.out) {
            (Some(shard), Some(out)) => shard::run(&args, shard, out),
            _ => run::run(&args, program),
        },
        #[cfg(feature = "lab")]
        Command::Merge(args) => shard::merge(&args),
        #[cfg(feature = "lab")]
        Command::Reproduce(args) => reproduce::reproduce(&args),
        #[cfg(feature = "lab")]
        Command::Draw(args) => draw::draw(&args),
        #[cfg(feature = "lab")]
        Command::Score(args) => score::score(&args),
        #[cfg(feature = "lab")]
        Command::Evaluate(args) => evaluate::evaluate(&args),
        #[cfg(feature = "lab")]
        Command::Show(args) => show::show(&args),
        #[cfg(feature = "lab")]
        Command::Check(args) => check::check(&args),
        #[cfg(all(feature = "real", target_os = "linux"))]
        Command::Emulate(args) => emulate::emulate(&args, program),
        #[cfg(all(feature = "copy", unix))]
        Command::Cp(args) => cp::cp(&args),
        #[cfg(all(feature = "copy", unix))]
        Command::Serve(args) => cp::serve(&args),
        Command::Controllers { markdown: Some(folder), .. } => controllers::markdown(&folder),
        Command::Controllers { name: None, .. } => controllers::list(),
        Command::Controllers { name: Some(name), .. } => controllers::describe(&name),
        #[cfg(feature = "lab")]
        Command::Vectors(args) => vectors::vectors(&args),
        #[cfg(any(feature = "lab", feature = "wire"))]
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
