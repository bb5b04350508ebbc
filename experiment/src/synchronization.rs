//! How many flows lose at the same time.

use crate::Finished;
use control::Phase;
use std::ops::Range;

/// When the flow's loss events were, in seconds: its recoveries that began after `from` and not after `to`, by its
/// samples.
fn loss_events(run: &Finished, flow: usize, [from, to]: [f64; 2]) -> Vec<f64> {
    let mut times = Vec::new();
    let mut before = None;
    for (time, phase) in run.outcome.sampled.iter().zip(&run.outcome.flows[flow].series.phase) {
        let began = *phase == Some(Phase::Recovery) && before != Some(Phase::Recovery);
        if began && time.as_secs() > from && time.as_secs() <= to {
            times.push(time.as_secs());
        }
        before = *phase;
    }
    times
}

/// The synchronization ratio of BIC-2004, section III, over `span` (its beginning and end, in seconds). Time is divided
/// into intervals of a tenth of the mean time between two loss events of a flow; of the intervals in which at least one
/// of `flows` has a loss event, the ratio is the share in which at least the share `least`, 0 to 1, of them have one.
/// As exact as sampling is. NaN without loss events.
pub fn synchronization_ratio(run: &Finished, flows: Range<usize>, least: f64, span: [f64; 2]) -> f64 {
    let least = least * flows.len() as f64;
    let flows: Vec<Vec<f64>> = flows.map(|flow| loss_events(run, flow, span)).collect();
    let gaps: Vec<f64> = flows.iter().flat_map(|times| times.windows(2).map(|pair| pair[1] - pair[0])).collect();
    let interval = gaps.iter().sum::<f64>() / gaps.len() as f64 / 10.0;
    let mut counts = vec![0; ((span[1] - span[0]) / interval) as usize + 1];
    for times in &flows {
        let mut hit: Vec<usize> = times.iter().map(|time| ((time - span[0]) / interval) as usize).collect();
        hit.dedup();
        hit.into_iter().for_each(|i| counts[i] += 1);
    }
    let any = counts.iter().filter(|&&n| n > 0).count();
    let many = counts.iter().filter(|&&n| n > 0 && f64::from(n) >= least).count();
    many as f64 / any as f64
}
