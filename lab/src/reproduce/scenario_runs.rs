//! What claims and figures are made from.

use experiment::Finished;

/// The runs of one scenario of an artefact.
pub struct ScenarioRuns {
    /// The name by which claims refer to it.
    pub scenario: String,
    /// The runs, in the plan's order.
    pub runs: Vec<Finished>,
}
