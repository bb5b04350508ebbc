//! An error in a line of a file beside the scenario.

use std::fmt;

/// What is wrong with a file, and in which of its lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineError {
    /// The line, counted from 1.
    pub line: u64,
    /// What is wrong, a semicolon, and what to do.
    pub message: String,
}

impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.line, self.message)
    }
}
