//! How evenly flows share over time.

use crate::statistics::{jain, median};
use crate::{Finished, FlowOutcome};
use control::{Duration, Time};
use std::ops::Range;

/// Jain's index over each of the consecutive windows of `width` samples that `samples` holds, among those of `flows`
/// that are active throughout the window. Windows in which nothing was delivered to such a flow are left out.
pub fn jain_over_windows(run: &Finished, flows: Range<usize>, samples: Range<usize>, width: usize) -> Vec<f64> {
    let flows = &run.outcome.flows[flows];
    let index = |begin: usize| jain(&shares_of_active(flows, begin..begin + width));
    let begins = samples.clone().step_by(width.max(1)).filter(|begin| begin + width <= samples.end);
    begins.map(index).filter(|index| !index.is_nan()).collect()
}

/// Bytes delivered within `samples` to each of `flows` that is active throughout them.
pub fn shares_of_active(flows: &[FlowOutcome], samples: Range<usize>) -> Vec<f64> {
    let active = flows.iter().filter(|it| it.series.phase[samples.clone()].iter().all(Option::is_some));
    active.map(|it| it.delivered_in(samples.clone())).collect()
}

/// The median of Jain's index over consecutive windows of length `window` in the measured interval, among the flows
/// that are active throughout each. None unless the sampling interval divides both the window and the beginning of the
/// measured interval, or if nothing was delivered in any window.
pub fn median_jain(run: &Finished, window: Duration) -> Option<f64> {
    let experiment = &run.run.experiment;
    let (from, to) = experiment.measure;
    let sample = experiment.sample.0;
    if sample == 0 || !window.0.is_multiple_of(sample) || !from.0.is_multiple_of(sample) {
        return None;
    }
    let within = |t: &Time| *t > from && *t <= to;
    let sampled = &run.outcome.sampled;
    let first = sampled.iter().position(within)?;
    let last = sampled.iter().rposition(within)? + 1;
    let mut all = jain_over_windows(run, 0..run.outcome.flows.len(), first..last, (window.0 / sample) as usize);
    Some(median(&mut all)).filter(|index| !index.is_nan())
}
