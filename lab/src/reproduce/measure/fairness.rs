//! How evenly flows share, and whether they lose together.

use super::definition::Measure;
use super::excerpt::{Excerpt, Scope};
use experiment::{FlowOutcome, jain, jain_over_windows, mean, quantile, shares_of_active, synchronization_ratio};

pub(super) const ALL: &[Measure] = &[
    Measure::of_run("jain", "Jain index", jain_of_active),
    Measure::of_run("jain-of-all", "Jain index", jain_of_all),
    Measure::of_run("least-share", "Least share of an equal one (%)", least_share),
    Measure::of_run("fair-seconds", "Fair after (s)", fair_seconds),
    Measure::of_run("starved-seconds", "Starved for (s)", starved_seconds),
    Measure::of_run("synchronization", "Synchronisation ratio", synchronization),
];

/// Length of the windows in which `fair-seconds` looks at fairness if none is given, in seconds.
const FAIR_WINDOW: f64 = 50.0;

/// Jain's index of what flows that are active throughout the span get over it; with a window, the quantile of its value
/// over consecutive windows.
fn jain_of_active(it: &Excerpt) -> f64 {
    let width = it.scope.window.map_or(it.samples.len(), |window| it.samples_in(window));
    quantile(&mut jain_over_windows(it.run, it.flows.clone(), it.samples.clone(), width), it.scope.quantile)
}

/// Jain's index of what all flows get over the span, also those that have not started.
fn jain_of_all(it: &Excerpt) -> f64 {
    jain(&it.flow_outcomes().iter().map(|flow| flow.delivered_in(it.samples.clone())).collect::<Vec<_>>())
}

/// The least that a flow gets over the span in per cent of an equal share, among the flows that are active throughout.
fn least_share(it: &Excerpt) -> f64 {
    let shares = shares_of_active(it.flow_outcomes(), it.samples.clone());
    100.0 * shares.iter().copied().fold(f64::INFINITY, f64::min) / mean(&shares)
}

/// Seconds from the beginning of the span until Jain's index of all flows over a window is at least `level`, and stays
/// there to the end of the span.
fn fair_seconds(it: &Excerpt) -> f64 {
    let window = it.scope.window.unwrap_or(FAIR_WINDOW);
    let ends = (1..).map(|i| it.from + window * f64::from(i)).take_while(|end| *end <= it.to + 1e-9);
    let ends: Vec<f64> = ends.collect();
    let fair = |end: &f64| {
        let scope = Scope { span: Some([end - window, *end]), flows: it.scope.flows, ..Scope::default() };
        jain_of_all(&Excerpt::new(it.run, scope)) >= it.scope.level
    };
    let first = ends.iter().rposition(|end| !fair(end)).map_or(0, |last| last + 1);
    ends.get(first).map_or(f64::INFINITY, |end| end - it.from)
}

/// The longest time of the span, in seconds, for which a flow gets less than `level` per cent of an equal share of the
/// narrowest link in each second, or in each window. All flows of the run have an equal share.
fn starved_seconds(it: &Excerpt) -> f64 {
    let window = it.scope.window.unwrap_or(1.0);
    let width = it.samples_in(window);
    let equal = it.narrowest_bps() / it.run.run.experiment.flows.len() as f64;
    let least = it.scope.level / 100.0 * equal * width as f64 * it.sampling_interval();
    let longest = |flow: &FlowOutcome| {
        let delivered = flow.series.delivered[it.samples.clone()].chunks_exact(width);
        let starved = delivered.map(|bytes| 8.0 * bytes.iter().sum::<u64>() as f64).map(|bits| bits < least);
        let lengths = starved.scan(0_usize, |length, starved| {
            *length = if starved { *length + 1 } else { 0 };
            Some(*length)
        });
        lengths.max().unwrap_or(0)
    };
    it.flow_outcomes()
        .iter()
        .map(longest)
        .max()
        .map_or(f64::NAN, |longest| longest as f64 * width as f64 * it.sampling_interval())
}

/// Of the intervals in which flows lose, the share in which at least the share `level` of them do (BIC-2004, section
/// III).
fn synchronization(it: &Excerpt) -> f64 {
    synchronization_ratio(it.run, it.flows.clone(), it.scope.level, [it.from, it.to])
}
