//! Transfers of connections that come and go.

use super::definition::Measure;
use super::excerpt::Excerpt;
use crate::processor_sharing;
use control::{Duration, Time};
use experiment::{Transfer, mean, quantile};

pub(super) const ALL: &[Measure] = &[
    Measure::of_run("response", "Response time (ms)", response_time),
    Measure::of_run("transfer-time", "Time of transfers (ms)", transfer_time).ranging_widely(),
    Measure::of_run("completion", "Mean completion time (ms)", completion),
    Measure::of_run("completion-ideal", "Processor sharing (ms)", completion_ideal),
    Measure::of_run("offered", "Offered load (%)", offered),
];

/// The quantile of the completion times of all transfers that begin in the span and are completed, in ms.
fn response_time(it: &Excerpt) -> f64 {
    let at = |seconds: f64| Time::ZERO + Duration::from_secs(seconds);
    let workloads = it.run.outcome.workloads.iter();
    let mut seconds: Vec<f64> = workloads.flat_map(|all| all.completion_seconds((at(it.from), at(it.to)))).collect();
    1e3 * quantile(&mut seconds, it.scope.quantile)
}

/// The quantile of the times that transfers take which begin in the span and whose size is within `sizes`, in ms. One
/// that is not completed counts with the time until the end of the run, so that it is not better to let transfers hang.
fn transfer_time(it: &Excerpt) -> f64 {
    let [least, most] = it.scope.sizes;
    let end = Time::ZERO + it.run.run.experiment.duration;
    let transfers = it.run.outcome.workloads.iter().flat_map(|all| &all.transfers).filter(|one| begins(one, it));
    let sized = transfers.filter(|one| (least..most).contains(&((one.sent[0] + one.sent[1]).0 as f64)));
    let took = |one: &Transfer| one.completed.unwrap_or(end.since(one.start)).as_secs();
    1e3 * quantile(&mut sized.map(took).collect::<Vec<_>>(), it.scope.quantile)
}

/// Mean completion time in ms of transfers whose size is within `sizes`.
fn completion(it: &Excerpt) -> f64 {
    1e3 * mean_of_transfers(it, |_, transfer| transfer.completed.map(Duration::as_secs))
}

/// The same of processor sharing, for the same arrivals.
fn completion_ideal(it: &Excerpt) -> f64 {
    let ideal = processor_sharing::ideal(it.run).unwrap_or_default();
    1e3 * mean_of_transfers(it, |i, transfer| transfer.completed.and(ideal.get(i).copied()))
}

/// What connections that begin in the span have to send, in per cent of the narrowest link's rate.
fn offered(it: &Excerpt) -> f64 {
    let transfers = it.run.outcome.workloads.iter().flat_map(|all| &all.transfers).filter(|one| begins(one, it));
    let bits = transfers.map(|one| (one.sent[0] + one.sent[1]).as_bits()).sum::<f64>();
    100.0 * bits / (it.to - it.from) / it.narrowest_bps()
}

/// Whether a transfer begins in the span.
fn begins(transfer: &Transfer, it: &Excerpt) -> bool {
    (it.from..it.to).contains(&transfer.start.as_secs())
}

/// The mean of `seconds` where it is known, over the transfers of the run's first traffic that begin in the span and
/// whose size is within `sizes`. `seconds` is given each transfer with its number, from 0.
fn mean_of_transfers(it: &Excerpt, seconds: impl Fn(usize, &Transfer) -> Option<f64>) -> f64 {
    let [least, most] = it.scope.sizes;
    let transfers = it.run.outcome.workloads.first().map_or(&[][..], |all| &all.transfers);
    let sized = |one: &Transfer| (least..most).contains(&((one.sent[0] + one.sent[1]).0 as f64));
    let chosen = transfers.iter().enumerate().filter(|(_, one)| sized(one) && begins(one, it));
    mean(&chosen.filter_map(|(i, one)| seconds(i, one)).collect::<Vec<_>>())
}
