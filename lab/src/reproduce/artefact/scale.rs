//! How much of an experiment is run.

use serde::{Deserialize, Serialize};
use std::fmt;

/// How much of a paper's experiment is run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// Shorter and fewer runs that show the same physics; takes seconds.
    #[default]
    Quick,
    /// The paper's own durations and speeds.
    Full,
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Scale::Quick => "quick",
            Scale::Full => "full",
        })
    }
}

/// A value for each scale.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scales<T> {
    /// The value at quick scale.
    pub quick: T,
    /// The value at full scale.
    pub full: T,
}

impl<T: Copy> Scales<T> {
    /// The value for `scale`.
    pub fn at(&self, scale: Scale) -> T {
        match scale {
            Scale::Quick => self.quick,
            Scale::Full => self.full,
        }
    }
}
