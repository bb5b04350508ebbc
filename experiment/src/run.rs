//! A run to make, and what it gave.

use crate::{EmulatorSummary, Experiment, Outcome};
use serde_json::{Map, Value};

/// One run to make.
#[derive(Clone, Debug)]
pub struct Run {
    /// Unique among the plan's runs: the controller compared and the settings swept, such as `rapid, path.rate = 10 Gbps`.
    pub name: String,
    /// The controller of its flows; several names joined by `+` if they differ.
    pub controller: String,
    /// That controller's parameters, all of them (of several controllers: an object per name).
    pub parameters: Value,
    /// What the sweep set: scenario keys and their values.
    pub settings: Map<String, Value>,
    /// What to simulate.
    pub experiment: Experiment,
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
