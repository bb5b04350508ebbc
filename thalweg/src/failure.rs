//! Why a command ends early, and with which exit code.

use crate::print;
use scenario::Problem;
use std::process::ExitCode;

/// Why a command ends early.
#[derive(Debug)]
pub enum Failure {
    /// What the user asked for is wrong: a line for each problem.
    Wrong(Vec<String>),
    /// It could not be done.
    Failed(String),
    /// The user stopped it.
    Interrupted,
    /// A command that was run ended with this exit code.
    #[cfg(target_os = "linux")]
    Command(u8),
    /// Nobody reads the output any more (`| head`).
    Unread,
}

impl Failure {
    /// Tells the user; returns the exit code.
    pub fn report(self) -> ExitCode {
        match self {
            Failure::Wrong(lines) => {
                lines.iter().for_each(|line| print::note(line));
                ExitCode::from(2)
            }
            Failure::Failed(line) => {
                print::note(&line);
                ExitCode::FAILURE
            }
            // What shells say of a process that SIGINT ended.
            Failure::Interrupted => ExitCode::from(130),
            #[cfg(target_os = "linux")]
            Failure::Command(code) => ExitCode::from(code),
            Failure::Unread => ExitCode::SUCCESS,
        }
    }
}

impl From<Vec<Problem>> for Failure {
    fn from(problems: Vec<Problem>) -> Failure {
        Failure::Wrong(problems.iter().map(Problem::to_string).collect())
    }
}
