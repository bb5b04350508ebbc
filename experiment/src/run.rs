//! A run to make, and a run that was made.

use crate::{EmulatorSummary, Experiment, Identity, Outcome};
use serde_json::Value;

/// One run to make.
#[derive(Clone, Debug)]
pub struct Run {
    /// What tells the run from the plan's other runs.
    pub identity: Identity,
    /// The controller of its flows; several names joined by `+` if they differ.
    pub controller: String,
    /// All parameters of that controller; of several controllers, an object per name.
    pub parameters: Value,
    /// What is simulated.
    pub experiment: Experiment,
}

impl Run {
    /// What tables and files call it: [`Identity`] as text.
    pub fn name(&self) -> String {
        self.identity.to_string()
    }
}

/// A run that was made.
#[derive(Clone, Debug)]
pub struct Finished {
    /// The run as it was asked for.
    pub run: Run,
    /// Its outcome.
    pub outcome: Outcome,
    /// How long the run took, in seconds of real time: the only value that differs from one time to the next.
    pub wall_seconds: f64,
    /// How exact the emulator was; none if the run was simulated.
    pub emulator: Option<EmulatorSummary>,
}
