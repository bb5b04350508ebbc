//! What a runner of experiments takes and gives.
//!
//! In this crate are an [`Experiment`], plain data with every choice made and every unit converted; the [`Outcome`]
//! that every runner gives, whether it simulates, emulates or sends over a real network; the [traffic] that an
//! experiment may contain; and the definitions of quantities, which are the same for all runners. Running anything,
//! files, and units in texts are elsewhere.

mod acquire;
mod emulator;
pub mod experiment;
mod fairness;
mod identity;
mod link;
pub mod outcome;
mod run;
mod statistics;
mod synchronization;
pub mod traffic;

pub use acquire::{ACQUIRED_RTTS, ACQUIRED_SHARE, Acquire, spare_capacity};
pub use emulator::EmulatorSummary;
pub use experiment::{Cross, Experiment, Flow, FlowSettings, Misbehaviour, Pattern, Workload};
pub use fairness::{jain_over_windows, median_jain, shares_of_active};
pub use identity::{Identity, Place, describe};
pub use link::mean_queue;
pub use outcome::{
    FlowOutcome, FlowSeries, LinkOutcome, LinkSeries, Outcome, Transfer, VideoSession, WorkloadOutcome, WorkloadSeries,
};
pub use run::{Finished, Run};
pub use statistics::{jain, largest, mean, median, quantile};
pub use synchronization::synchronization_ratio;
