//! Which figures the report of runs has.
//!
//! A report of one run shows its flows. A report of several runs of one flow each shows a line for each run. A report
//! of several runs of several flows shows a panel with the flows of each run, then a line for each run with the total
//! or the median of its flows. Where runs have many flows, the median and a band stand for them. The [charts](chart) of
//! flows and links are a table: a new one is an entry there.

mod chart;
mod common;
mod compared;
#[cfg(test)]
mod contributing;
pub mod grid;
mod one;
mod traffic;
mod transfers;

use crate::figure::{Curve, Group, Page};
use common::Common;
use experiment::Finished;

/// Only this many runs are drawn, the first ones; the table has them all.
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
