//! Jain's fairness index.

use control::{Duration, Time};
use experiment::Finished;
use std::ops::Range;

/// How evenly `shares` divide a whole: (sum x)^2 / (n sum x^2), which is 1 for equal shares and 1/n if one takes all. NaN if
/// there is nothing to divide.
///
/// Jain, Chiu, Hawe: A quantitative measure of fairness and discrimination, DEC-TR-301, 1984.
pub fn jain(shares: &[f64]) -> f64 {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|x| x * x).sum();
    sum * sum / (shares.len() as f64 * squares)
}

/// The median of the index over consecutive windows of length `window` in the measured interval, among the flows that are
/// active throughout the window. None unless windows and interval begin and end with samples.
pub(super) fn median_over(window: Duration, run: &Finished) -> Option<f64> {
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
    median(over_windows(run, 0..run.outcome.flows.len(), first..last, (window.0 / sample) as usize))
}

/// The index over each of the consecutive windows of `width` samples that `samples` holds, among those of `flows` that are active
/// throughout the window. Windows in which there is nothing to divide are left out.
pub fn over_windows(run: &Finished, flows: Range<usize>, samples: Range<usize>, width: usize) -> Vec<f64> {
    let flows = &run.outcome.flows[flows];
    let index = |begin: usize| {
        let window = begin..begin + width;
        let active = flows.iter().filter(|it| it.series.phase[window.clone()].iter().all(Option::is_some));
        jain(&active.map(|it| it.series.delivered[window.clone()].iter().sum::<u64>() as f64).collect::<Vec<_>>())
    };
    let begins = samples.clone().step_by(width.max(1)).filter(|begin| begin + width <= samples.end);
    begins.map(index).filter(|index| !index.is_nan()).collect()
}

/// The middle of `values`, of which none is NaN; the mean of the two in the middle if their number is even.
fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        n if n % 2 == 1 => Some(values[middle]),
        _ => Some((values[middle - 1] + values[middle]) / 2.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        assert_eq!(jain(&[5.0]), 1.0);
        assert_eq!(jain(&[3.0, 3.0, 3.0]), 1.0);
        assert_eq!(jain(&[1.0, 0.0, 0.0, 0.0]), 0.25);
        // The report's own example: 20 dollars to 100 people, equally to each or to 10 of them only.
        let mut shares = [0.0; 100];
        shares[..10].fill(2.0);
        assert!((jain(&shares) - 0.1).abs() < 1e-12);
        // (1 + 2 + 3)^2 / (3 * 14)
        assert!((jain(&[1.0, 2.0, 3.0]) - 6.0 / 7.0).abs() < 1e-12);
    }

    #[test]
    fn does_not_depend_on_the_unit() {
        assert!((jain(&[1.0, 5.0]) - jain(&[1e9, 5e9])).abs() < 1e-12);
    }

    #[test]
    fn nothing_to_divide() {
        assert!(jain(&[]).is_nan() && jain(&[0.0, 0.0]).is_nan());
    }

    #[test]
    fn medians() {
        assert_eq!(median(vec![]), None);
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![4.0, 1.0]), Some(2.5));
    }
}
