//! The curves of one log.

use super::Log;
use super::bins::{Bins, end};
use crate::figure::Curve;
use crate::order::distinct;
use qlog::{Event, Happened, Metric};

/// Only this many states of a log are drawn, the first ones.
const MOST_STATES: usize = 24;

/// The sending rate is a mean over this many bins: in shorter ones, each burst would be a peak.
const RATE_BINS: usize = 10;

/// The values of `metric`: in each bin the mean of those that are logged there, and without any the last one before.
pub fn metric(log: &Log, bins: &Bins, metric: Metric) -> Curve {
    let mut means = vec![(0.0, 0.0); bins.count];
    let mut last = vec![f64::NAN; bins.count];
    for Event { time, happened } in &log.trace.events {
        if let Happened::Metrics(metrics) = happened
            && let Some(value) = metrics.get(metric)
        {
            let bin = bins.of(*time);
            means[bin] = (means[bin].0 + value, means[bin].1 + 1.0);
            last[bin] = value;
        }
    }
    let mut held = f64::NAN;
    let value = |bin: usize| {
        let before = held;
        if !last[bin].is_nan() {
            held = last[bin];
        }
        let (sum, count) = means[bin];
        if count > 0.0 { sum / count } else { before }
    };
    let values: Vec<f64> = (0..=bins.of(end(&log.trace))).map(value).collect();
    filled(values, bins)
}

/// The rate at which packets left, in bits per second, where the log has them; the same in [`RATE_BINS`] bins each.
pub fn sent(log: &Log, bins: &Bins) -> Curve {
    let bytes = sums(log, bins, |happened| if let Happened::Sent(bytes) = happened { *bytes } else { 0 });
    if bytes.iter().all(|bytes| *bytes == 0.0) {
        return filled(vec![], bins);
    }
    let rate = |bytes: &[f64]| {
        let seconds = bins.step / 1e3 * bytes.len() as f64;
        std::iter::repeat_n(bytes.iter().sum::<f64>() * 8.0 / seconds, bytes.len())
    };
    filled(bytes[..=bins.of(end(&log.trace))].chunks(RATE_BINS).flat_map(rate).collect(), bins)
}

/// How many packets had been found lost by then.
pub fn lost(log: &Log, bins: &Bins) -> Curve {
    let lost = sums(log, bins, |happened| if let Happened::Lost { packets, .. } = happened { *packets } else { 0 });
    let total = lost.iter().take(bins.of(end(&log.trace)) + 1).scan(0.0, |total, lost| {
        *total += lost;
        Some(*total)
    });
    filled(total.collect(), bins)
}

/// The states that the controller was in, each with `curve` where it was in that state, and one bin longer, so that a
/// state of a single bin is seen.
pub fn states(log: &Log, bins: &Bins, curve: &Curve) -> Vec<(String, Curve)> {
    let changes: Vec<(f64, &String)> = log
        .trace
        .events
        .iter()
        .filter_map(|Event { time, happened }| match happened {
            Happened::State { new, .. } => Some((*time, new)),
            _ => None,
        })
        .collect();
    let mut names: Vec<&String> = distinct(changes.iter().map(|(_, name)| *name));
    names.truncate(MOST_STATES);
    let mut curves = vec![vec![f64::NAN; bins.count]; names.len()];
    let ends = changes.iter().skip(1).map(|(time, _)| *time).chain([end(&log.trace)]);
    for (&(from, name), to) in changes.iter().zip(ends) {
        let Some(which) = names.iter().position(|it| *it == name) else { continue };
        let within = bins.of(from)..(bins.of(to) + 2).min(bins.count);
        if let (Some(place), Some(values)) = (curves[which].get_mut(within.clone()), curve.0.get(within)) {
            place.copy_from_slice(values);
        }
    }
    names.into_iter().cloned().zip(curves.into_iter().map(Curve)).collect()
}

fn sums(log: &Log, bins: &Bins, value: impl Fn(&Happened) -> u64) -> Vec<f64> {
    let mut sums = vec![0.0; bins.count];
    for Event { time, happened } in &log.trace.events {
        sums[bins.of(*time)] += value(happened) as f64;
    }
    sums
}

/// `values`, and nothing in the bins after them.
fn filled(mut values: Vec<f64>, bins: &Bins) -> Curve {
    values.resize(bins.count, f64::NAN);
    Curve(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use qlog::{Metrics, Trace};

    fn log(happened: Vec<(f64, Happened)>) -> (Log, Bins) {
        let events = happened.into_iter().map(|(time, happened)| Event { time, happened }).collect();
        let log = Log { name: String::new(), trace: Trace { events, ..Trace::default() } };
        let bins = Bins { step: 10.0, count: 6 };
        (log, bins)
    }

    fn window(bytes: f64) -> Happened {
        let mut metrics = Metrics::default();
        metrics.set(Metric::CongestionWindow, Some(bytes));
        Happened::Metrics(metrics)
    }

    fn state(new: &str) -> Happened {
        Happened::State { old: None, new: new.into(), trigger: None }
    }

    #[test]
    fn a_value_holds_until_the_next_one() {
        let (log, bins) = log(vec![(11.0, window(2.0)), (12.0, window(4.0)), (41.0, window(5.0))]);
        let curve = metric(&log, &bins, Metric::CongestionWindow).0;
        assert!(curve[0].is_nan() && curve[5].is_nan(), "before the first and after the last event there is none");
        assert_eq!(curve[1..5], [3.0, 4.0, 4.0, 5.0], "the mean in a bin, and the last one after it");
    }

    #[test]
    fn losses_add_up_and_packets_give_a_rate() {
        let lost_packets = |packets| Happened::Lost { packets, bytes: None, trigger: None };
        let (log, bins) = log(vec![(5.0, lost_packets(2)), (25.0, Happened::Sent(1250)), (26.0, lost_packets(3))]);
        assert_eq!(lost(&log, &bins).0[..3], [2.0, 2.0, 5.0]);
        let rate = sent(&log, &bins).0[..3].iter().map(|rate| rate.round()).collect::<Vec<_>>();
        assert_eq!(rate, [333_333.0; 3], "10,000 bits in the 30 ms until the last event");
    }

    #[test]
    fn a_curve_is_divided_among_the_states() {
        let (log, bins) = log(vec![(0.0, state("a")), (20.0, state("b")), (22.0, state("a")), (55.0, window(1.0))]);
        let all = states(&log, &bins, &Curve(vec![7.0; 6]));
        let at = |curve: &Curve| (0..6).filter(|bin| curve.0[*bin] == 7.0).collect::<Vec<_>>();
        assert_eq!((&all[0].0[..], at(&all[0].1)), ("a", vec![0, 1, 2, 3, 4, 5]));
        assert_eq!((&all[1].0[..], at(&all[1].1)), ("b", vec![2, 3]), "one bin longer than it was");
    }
}
