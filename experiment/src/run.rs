//! A run to make, and what it gave.

use crate::{EmulatorSummary, Experiment, Identity, Outcome};
use serde_json::Value;

/// One run to make.
#[derive(Clone, Debug)]
pub struct Run {
    /// What tells it from the plan's other runs.
    pub identity: Identity,
    /// The controller of its flows; several names joined by `+` if they differ.
    pub controller: String,
    /// That controller's parameters, all of them (of several controllers: an object per name).
    pub parameters: Value,
    /// What to simulate.
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
    /// What was asked.
    pub run: Run,
    /// What came out.
    pub outcome: Outcome,
    /// How long it took, in seconds of real time: the one figure that differs from one time to the next.
    pub wall_seconds: f64,
    /// How it was emulated, if it was not simulated.
    pub emulator: Option<EmulatorSummary>,
}
