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
    #[cfg(any(feature = "lab", feature = "copy"))]
    Interrupted,
    /// A command that was run ended with this exit code.
    #[cfg(all(feature = "real", target_os = "linux"))]
    Command(u8),
    /// Nobody reads the output any more (`| head`).
    Unread,
}

impl Failure {
    /// The failure of `what`, whose name its lines then begin with.
    #[cfg(all(feature = "real", target_os = "linux"))]
    fn of(self, what: &str) -> Failure {
        match self {
            Failure::Wrong(lines) => Failure::Wrong(lines.iter().map(|line| format!("{what}: {line}")).collect()),
            Failure::Failed(line) => Failure::Failed(format!("{what}: {line}")),
            other => other,
        }
    }

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
            // The exit code that shells use for a process that SIGINT ended.
            #[cfg(any(feature = "lab", feature = "copy"))]
            Failure::Interrupted => ExitCode::from(130),
            #[cfg(all(feature = "real", target_os = "linux"))]
            Failure::Command(code) => ExitCode::from(code),
            Failure::Unread => ExitCode::SUCCESS,
        }
    }
}

/// What happened, its cause and what to do about it, in a line.
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
