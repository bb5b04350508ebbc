//! What a scenario comes to.

use experiment::Run;

/// Everything that one scenario asks for.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The scenario's title.
    pub title: String,
    /// Its seed.
    pub seed: u64,
    /// One run per controller compared and per point of the sweep.
    pub runs: Vec<Run>,
}
