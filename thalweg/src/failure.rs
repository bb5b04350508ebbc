//! Why a command ends early, and with which exit code.

use crate::print;
use scenario::Problem;
use std::process::ExitCode;

/// Why a command ends early.
#[derive(Debug)]
pub enum Failure {
    /// The command line or a scenario is wrong: a line for each problem.
    Wrong(Vec<String>),
    /// The command failed: a line that says why.
    Failed(String),
    /// Ctrl-C was pressed.
    #[cfg(any(feature = "lab", feature = "copy"))]
    Interrupted,
    /// A command that was run behind a path ended with this exit code.
    #[cfg(all(feature = "real", target_os = "linux"))]
    Command(u8),
    /// The reader of standard output closed it, as `| head` does. This is no error.
    Unread,
}

impl Failure {
    /// The same failure, with lines that begin with the name of `what` failed.
    #[cfg(all(feature = "real", target_os = "linux"))]
    fn of(self, what: &str) -> Failure {
        match self {
            Failure::Wrong(lines) => Failure::Wrong(lines.iter().map(|line| format!("{what}: {line}")).collect()),
            Failure::Failed(line) => Failure::Failed(format!("{what}: {line}")),
            other => other,
        }
    }

    /// Writes the lines to standard error, and returns the exit code.
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
            // The exit code that shells use for a process that SIGINT ended.
            #[cfg(any(feature = "lab", feature = "copy"))]
            Failure::Interrupted => ExitCode::from(130),
            #[cfg(all(feature = "real", target_os = "linux"))]
            Failure::Command(code) => ExitCode::from(code),
            Failure::Unread => ExitCode::SUCCESS,
        }
    }
}

/// One line with the error, its cause and the remedy.
#[cfg(all(feature = "real", target_os = "linux"))]
impl From<real::Error> for Failure {
    fn from(error: real::Error) -> Failure {
        use std::error::Error;
        match error {
            real::Error::Interrupted => Failure::Interrupted,
            real::Error::Unsupported(why) => Failure::Wrong(vec![why]),
            real::Error::Run { name, source } => Failure::from(*source).of(&name),
            error => {
                let cause = error.source().map_or(String::new(), |cause| match cause.downcast_ref() {
                    Some(cause) => format!(" ({})", scenario::reason(cause)),
                    None => format!(" ({cause})"),
                });
                let remedy = error.remedy().map_or(String::new(), |remedy| format!("; {remedy}"));
                Failure::Failed(format!("{error}{cause}{remedy}"))
            }
        }
    }
}

impl From<Vec<Problem>> for Failure {
    fn from(problems: Vec<Problem>) -> Failure {
        Failure::Wrong(problems.iter().map(Problem::to_string).collect())
    }
}
