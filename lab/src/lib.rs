//! Scenarios, runs, results.

pub mod plan;
pub mod report;
pub mod results;
pub mod runner;
pub mod scenario;
pub mod theory;

pub use plan::{Finished, Plan, Run};
