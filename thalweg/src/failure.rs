//! Why a command ends early.

use scenario::Problem;

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

#[cfg(all(feature = "real", target_os = "linux"))]
impl Failure {
    /// The same failure, with lines that begin with the name of `what` failed.
    fn of(self, what: &str) -> Failure {
        match self {
            Failure::Wrong(lines) => Failure::Wrong(lines.iter().map(|line| format!("{what}: {line}")).collect()),
            Failure::Failed(line) => Failure::Failed(format!("{what}: {line}")),
            other => other,
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
                let causes = std::iter::successors(error.source(), |&cause| cause.source());
                let texts = causes.map(|cause| match cause.downcast_ref() {
                    Some(cause) => scenario::reason(cause),
                    None => cause.to_string(),
                });
                let causes = texts.map(|text| format!(" ({text})")).collect::<String>();
                let remedy = error.remedy().map_or(String::new(), |remedy| format!("; {remedy}"));
                Failure::Failed(format!("{error}{causes}{remedy}"))
            }
        }
    }
}

impl From<Vec<Problem>> for Failure {
    fn from(problems: Vec<Problem>) -> Failure {
        Failure::Wrong(problems.iter().map(Problem::to_string).collect())
    }
}
