//! What is wrong with a file.

use std::fmt;

/// What is wrong with a file, in a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Which record, such as `record 3`.
    pub record: String,
    /// What is wrong with it.
    pub wrong: String,
    /// Whether the record ends too early.
    pub(super) truncated: bool,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.record, self.wrong)
    }
}

impl Mistake {
    /// The record `record` is whole, and `wrong`.
    pub(super) fn new(record: String, wrong: String) -> Mistake {
        Mistake { record, wrong, truncated: false }
    }
}
