//! The program: the command line of the library beside it.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os();
    let called = arguments.next();
    // If the system does not say which program this is, the shell's name for it is the best one known.
    let program = std::env::current_exe().ok().map(Into::into).or(called);
    ExitCode::from(thalweg::main(program.into_iter().collect(), arguments.collect()))
}
