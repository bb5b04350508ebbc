//! Round-trip times, losses and states of flows.

use super::definition::Measure;
use super::excerpt::Excerpt;
use experiment::quantile;
use std::collections::HashSet;

pub(super) const ALL: &[Measure] = &[
    Measure::of_run("rtt", "RTT (ms)", rtt).ranging_widely(),
    Measure::of_run("loss", "Loss (%)", loss).ranging_widely(),
    Measure::of_run("resent", "Sent again (packets)", resent).ranging_widely(),
    Measure::of_run("available", "Estimate (Mbps)", available),
    Measure::of_run("window", "Window (packets)", window),
    Measure::of_run("kept-window", "Kept of the window (%)", kept_window),
    Measure::of_run("phases", "Phases", phases),
];

/// The quantile of the round-trip times in ms, sample by sample; of several flows, each sample's mean over the flows.
fn rtt(it: &Excerpt) -> f64 {
    let of_sample = |i: usize| 1e3 * it.mean_of_flows(i, |flow, i| flow.series.rtt[i]);
    let mut rtts: Vec<f64> = it.samples.clone().map(of_sample).filter(|rtt| rtt.is_finite()).collect();
    quantile(&mut rtts, it.scope.quantile)
}

/// Packets that the flows send again over the span, in per cent of all that they send.
fn loss(it: &Excerpt) -> f64 {
    let packet = it.run.run.experiment.flows.get(it.flow()).map_or(1.0, |flow| flow.packet.0 as f64);
    let arrived = it.bits().iter().sum::<f64>() / 8.0 / packet;
    let again = resent(it);
    100.0 * again / (arrived + again)
}

/// Packets that the flows send again over the span.
fn resent(it: &Excerpt) -> f64 {
    let again = |i: usize| it.flow_outcomes().iter().map(|flow| f64::from(flow.series.retransmitted[i])).sum::<f64>();
    it.samples.clone().map(again).sum()
}

/// The quantile of the flows' estimates of the available bandwidth over the span, in Mbps.
fn available(it: &Excerpt) -> f64 {
    let estimates = it.flow_outcomes().iter().flat_map(|flow| &flow.series.available[it.samples.clone()]);
    quantile(&mut estimates.copied().filter(|x| x.is_finite()).collect::<Vec<_>>(), it.scope.quantile) / 1e6
}

/// The quantile of the flows' congestion windows over the span, in packets.
fn window(it: &Excerpt) -> f64 {
    let windows = it.flow_outcomes().iter().flat_map(|flow| &flow.series.window[it.samples.clone()]);
    quantile(&mut windows.copied().filter(|x| x.is_finite()).collect::<Vec<_>>(), it.scope.quantile)
}

/// A fall of the window by less than this part is no reduction.
const LEAST_REDUCTION: f64 = 0.05;

/// The quantile, over all reductions of the flows' congestion windows in the span, of what a reduction leaves, in per
/// cent. A reduction is a series of samples each of which is less than the one before.
fn kept_window(it: &Excerpt) -> f64 {
    let mut kept = Vec::new();
    for flow in it.flow_outcomes() {
        let windows = &flow.series.window[it.samples.clone()];
        for run in windows.chunk_by(|before, after| after < before) {
            let left = run[run.len() - 1] / run[0];
            if left < 1.0 - LEAST_REDUCTION {
                kept.push(100.0 * left);
            }
        }
    }
    quantile(&mut kept, it.scope.quantile)
}

/// How many different phases the flows' controllers are in over the span.
fn phases(it: &Excerpt) -> f64 {
    let seen = it.flow_outcomes().iter().flat_map(|flow| &flow.series.phase[it.samples.clone()]).flatten();
    seen.collect::<HashSet<_>>().len() as f64
}
