//! What a runner of experiments takes and gives.
//!
//! What lives here: an [`Experiment`], plain data with every choice made and every unit converted; the [`Outcome`] that every
//! runner gives, whether it simulates, emulates or sends over a real network; the [traffic] that an experiment may contain; and the
//! definitions of what is measured, which are the same for all runners. What does not: running anything, files, and units in
//! texts.

mod acquire;
mod emulator;
pub mod experiment;
mod identity;
mod link;
pub mod outcome;
mod run;
mod statistics;
pub mod traffic;

pub use acquire::{Acquire, spare_capacity};
pub use emulator::EmulatorSummary;
pub use experiment::{Cross, Experiment, Flow, Pattern, Workload};
pub use identity::{Identity, Place, describe};
pub use link::mean_queue;
pub use outcome::{
    FlowOutcome, FlowSeries, LinkOutcome, LinkSeries, Outcome, Transfer, WorkloadOutcome, WorkloadSeries,
};
pub use run::{Finished, Run};
pub use statistics::quantile;
