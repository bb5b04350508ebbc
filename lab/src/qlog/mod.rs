//! Logs of runs as files: one qlog per flow, simulated or real.
//!
//! The format is in the crate `qlog`. Here is what a log of a run says beside what its sender heard: the scenario, when
//! links change and flows start and stop, and the time series of senders that nobody watched. docs/qlog.md describes
//! the files.

mod conditions;
mod folder;
mod series;

pub use folder::QlogFolder;
