//! Why a run gave no results.

use std::error;
use std::fmt;
use std::io;

/// Why a run gave no results.
#[derive(Debug)]
pub enum Error {
    /// The experiment has something that no run in real time can have. The text names the key, the reason and the
    /// remedy.
    Unsupported(String),
    /// A link cannot be built, such as one with a router that does not exist.
    Path(String),
    /// The [watch](crate::Watch) ended the run.
    Interrupted,
    /// The kernel refused something that a command behind a path needs: a TUN device, a network namespace or a process.
    Refused {
        /// What the kernel refused, with its article.
        what: &'static str,
        /// How the kernel refused it.
        source: io::Error,
    },
    /// A socket for the emulator or for an end of a flow could not be had.
    Socket(io::Error),
    /// A capture of the run's packets could not be written.
    Capture(io::Error),
    /// The emulator failed during the run.
    Emulator(io::Error),
    /// An end that sends or receives failed during the run.
    End {
        /// Which end.
        what: String,
        /// What happened to it.
        source: Cause,
    },
    /// A thread of the run panicked.
    Panicked,
    /// One of several runs failed.
    Run {
        /// The run's name.
        name: String,
        /// Why it failed.
        source: Box<Error>,
    },
}

/// What happened to an end of a flow.
pub(crate) type Cause = Box<dyn error::Error + Send + Sync>;

impl Error {
    /// An end that failed with `source`.
    pub(crate) fn end(what: impl Into<String>, source: impl Into<Cause>) -> Error {
        Error::End { what: what.into(), source: source.into() }
    }

    /// The same error, of one run among several.
    pub(crate) fn of_run(self, name: String) -> Error {
        match self {
            Error::Interrupted => Error::Interrupted,
            source => Error::Run { name, source: Box::new(source) },
        }
    }

    /// What the user can do about it, if the text does not say so already.
    pub fn remedy(&self) -> Option<&'static str> {
        match self {
            Error::Refused { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => {
                Some("run it as root; docs/emulator.md has what goes without")
            }
            Error::Refused { .. } => Some("see docs/emulator.md for what it needs"),
            _ => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Unsupported(why) | Error::Path(why) => f.write_str(why),
            Error::Interrupted => f.write_str("the run was interrupted"),
            Error::Refused { what, .. } => write!(f, "{what} cannot be made"),
            Error::Socket(_) => f.write_str("a socket cannot be made"),
            Error::Capture(_) => f.write_str("the capture of its packets cannot be written"),
            Error::Emulator(_) => f.write_str("the emulation broke off"),
            Error::End { what, .. } => write!(f, "{what} failed"),
            Error::Panicked => f.write_str("a thread of the run panicked"),
            Error::Run { name, .. } => write!(f, "the run `{name}` failed"),
        }
    }
}

impl error::Error for Error {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Error::Refused { source, .. }
            | Error::Socket(source)
            | Error::Capture(source)
            | Error::Emulator(source) => Some(source),
            Error::End { source, .. } => Some(&**source),
            Error::Run { source, .. } => Some(&**source),
            Error::Unsupported(_) | Error::Path(_) | Error::Interrupted | Error::Panicked => None,
        }
    }
}
