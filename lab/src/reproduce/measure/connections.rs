//! What connections are: their round-trip times and sizes.

use super::definition::Measure;
use super::excerpt::Excerpt;
use crate::connections::{Connection, connections};
use control::{Duration, Time};
use experiment::quantile;

pub(super) const ALL: &[Measure] = &[
    Measure::of_run("connection-rtt", "Round-trip time (ms)", |it| of_each(it, |one| one.rtt_ms)),
    Measure::of_run("connection-bytes", "Bytes", |it| of_each(it, |one| one.bytes)).ranging_widely(),
    Measure::of_run("elephants", "Bytes of the largest hundredth (%)", elephants),
];

/// `value` of each connection that begins in the span.
fn values(it: &Excerpt, value: impl Fn(&Connection) -> f64) -> Vec<f64> {
    let at = |seconds: f64| Time::ZERO + Duration::from_secs(seconds);
    let span = (at(it.from), at(it.to));
    let all = it.run.outcome.workloads.iter().flat_map(|workload| connections(workload, span));
    all.map(|connection| value(&connection)).collect()
}

/// The quantile of `value` over the connections that begin in the span.
fn of_each(it: &Excerpt, value: impl Fn(&Connection) -> f64) -> f64 {
    quantile(&mut values(it, value), it.scope.quantile)
}

/// The share, in per cent, of the bytes of all connections that begin in the span that the largest hundredth of them
/// have to send.
fn elephants(it: &Excerpt) -> f64 {
    let mut bytes = values(it, |one| one.bytes);
    bytes.sort_by(f64::total_cmp);
    let largest: f64 = bytes.iter().rev().take(bytes.len().div_ceil(100)).sum();
    100.0 * largest / bytes.iter().sum::<f64>()
}
