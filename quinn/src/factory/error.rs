//! Why there is no factory.

use control::registry::ParameterError;
use std::error::Error;
use std::fmt;

/// Why there is no factory of a controller.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FactoryError {
    /// There is no controller of this name.
    Unknown {
        /// The name that was given.
        name: String,
        /// The names of all controllers that the library can use.
        known: Vec<&'static str>,
    },
    /// The controller needs what the library does not offer.
    Unsuitable {
        /// Its name.
        name: String,
        /// What it needs.
        why: Unsuitable,
    },
    /// The controller has no such parameter, or refuses its value.
    Parameters {
        /// The controller's name.
        name: String,
        /// What is wrong.
        problem: ParameterError,
    },
}

/// What a controller needs that the library does not offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unsuitable {
    /// Packets with stamps, and a receiver that measures when they arrive.
    Stamps,
    /// Routers that write on packets.
    Routers,
    /// Pacing at a rate of its own; quinn paces the window.
    Pacing,
    /// Its own library, of which it is a controller in the simulator.
    Library,
    /// How many packets queues have marked; controllers of quinn and noq hear only that there were some.
    MarkCounts,
}

impl fmt::Display for Unsuitable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unsuitable::Stamps => "packets with stamps, which `thalweg-wire` sends",
            Unsuitable::Routers => "routers that write on packets",
            Unsuitable::Pacing => {
                "packets to leave at times that it sets, and quinn paces a window; use `thalweg-wire`"
            }
            Unsuitable::Library => "the library that it comes from, which has it itself",
            Unsuitable::MarkCounts => {
                "the number of marked packets, and the library tells only that there were some; use `thalweg-wire`"
            }
        })
    }
}

impl fmt::Display for FactoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FactoryError::Unknown { name, known } => {
                write!(f, "there is no controller `{name}`; for this library there are {}", known.join(", "))
            }
            FactoryError::Unsuitable { name, why } => write!(f, "`{name}` cannot run in this library: it needs {why}"),
            FactoryError::Parameters { name, problem } => match problem {
                ParameterError::Unknown { name: parameter, known } if known.is_empty() => {
                    write!(f, "`{name}` has no parameter `{parameter}`, nor any other")
                }
                ParameterError::Unknown { name: parameter, known } => {
                    write!(f, "`{name}` has no parameter `{parameter}`; there are {}", known.join(", "))
                }
                ParameterError::Bad { name: parameter, problem } => write!(f, "`{name}`: {parameter}: {problem}"),
                ParameterError::Together { problem } => write!(f, "`{name}`: {problem}"),
            },
        }
    }
}

impl Error for FactoryError {}
