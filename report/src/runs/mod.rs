//! Which figures the report of runs has.
//!
//! One run: its flows. Several runs of one flow each: the runs over each other. Several runs of several flows: a panel with
//! the flows of each run, then totals and medians of the runs over each other. Of many flows, the median and a band. The
//! [charts](chart) of the flows' and links' time series are a table: a new one is an entry there.

mod chart;
mod common;
mod compared;
pub mod grid;
mod one;
mod traffic;
mod transfers;

use crate::figure::{Curve, Group, Page};
use common::Common;
use experiment::Finished;

/// With more runs than this, the others are not drawn; the table has them all.
const MAX_RUNS: usize = 64;

/// The figures of `runs`.
pub fn page(runs: &[Finished]) -> Page {
    let runs = &runs[..runs.len().min(MAX_RUNS)];
    let common = Common::new(runs);
    let mut groups: Vec<Group> = match runs {
        [] => vec![],
        [run] => one::groups(&common, run),
        _ if common::most_flows(runs) > 1 => compared::groups(&common, runs),
        _ => vec![compared::overlay(&common, runs, "", |flows: &[Curve]| flows.first().cloned().unwrap_or_default())],
    };
    groups.extend(traffic::groups(&common, runs));
    groups.retain(|group| !group.figures.is_empty());
    Page { step: common.grid.step.as_secs(), bins: common.grid.bins, groups }
}
