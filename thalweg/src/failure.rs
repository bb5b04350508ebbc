//! Why a command ends early, and with which exit code.

use lab::scenario::Problem;
use std::io;
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
    /// Nobody reads the output any more (`| head`).
    Unread,
}

impl Failure {
    /// Tells the user; returns the exit code.
    pub fn report(self) -> ExitCode {
        match self {
            Failure::Wrong(lines) => {
                lines.iter().for_each(|line| eprintln!("{line}"));
                ExitCode::from(2)
            }
            Failure::Failed(line) => {
                eprintln!("{line}");
                ExitCode::FAILURE
            }
            // What shells say of a process that SIGINT ended.
            Failure::Interrupted => ExitCode::from(130),
            Failure::Unread => ExitCode::SUCCESS,
        }
    }
}

impl From<Vec<Problem>> for Failure {
    fn from(problems: Vec<Problem>) -> Failure {
        Failure::Wrong(problems.iter().map(Problem::to_string).collect())
    }
}

/// What the system says of an error, in its words but without its number.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
}
