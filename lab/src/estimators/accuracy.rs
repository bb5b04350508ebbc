//! How far estimates are from the truth.

use super::meter::Passed;
use super::receiver::{ESTIMATORS, Estimated};
use control::Rate;
use experiment::{mean, median};
use serde::Serialize;
use std::collections::HashMap;

/// The available bandwidth during some streams, and how well each estimator found it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Accuracy {
    /// The number of streams.
    pub streams: usize,
    /// The mean available bandwidth, in bits per second.
    pub available_bps: f64,
    /// The standard deviation of the available bandwidth from stream to stream, in per cent of its mean.
    pub available_spread_percent: f64,
    /// The estimators.
    pub estimators: Vec<Errors>,
}

/// The errors of one estimator: an estimate less the available bandwidth during its stream, in per cent of the mean
/// available bandwidth. NaN, which JSON writes as null, without estimates.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Errors {
    /// Its name.
    pub estimator: &'static str,
    /// The number of estimates.
    pub estimates: usize,
    /// The share of streams without an estimate, in per cent.
    pub without_percent: f64,
    /// The mean error.
    pub bias_percent: f64,
    /// The median error.
    pub median_percent: f64,
    /// The standard deviation of the errors.
    pub spread_percent: f64,
}

impl Accuracy {
    /// Of these streams on a link of `capacity`. Streams that `estimated` does not have count as streams without an
    /// estimate.
    pub fn of(passed: &[Passed], estimated: &[Estimated], capacity: Rate) -> Accuracy {
        let found: HashMap<u32, _> = estimated.iter().map(|it| (it.stream, it.rates)).collect();
        let available = |it: &Passed| capacity.as_bps() - it.others.over(it.span).as_bps();
        let truths: Vec<f64> = passed.iter().map(available).collect();
        let average = mean(&truths);
        let estimators = ESTIMATORS.iter().enumerate().map(|(i, (_, name))| {
            let rate = |stream| found.get(stream).and_then(|rates| rates[i]);
            let pairs = passed.iter().zip(&truths).filter_map(|(it, truth)| Some((rate(&it.stream)?, truth)));
            let mut errors: Vec<f64> = pairs.map(|(rate, truth)| 100.0 * (rate - truth) / average).collect();
            Errors {
                estimator: name,
                estimates: errors.len(),
                without_percent: 100.0 * (passed.len() - errors.len()) as f64 / passed.len() as f64,
                bias_percent: mean(&errors),
                median_percent: median(&mut errors),
                spread_percent: deviation(&errors),
            }
        });
        Accuracy {
            streams: passed.len(),
            available_bps: average,
            available_spread_percent: 100.0 * deviation(&truths) / average,
            estimators: estimators.collect(),
        }
    }
}

/// The standard deviation of a sample; NaN of fewer than two values.
fn deviation(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return f64::NAN;
    }
    let average = mean(values);
    let squares: f64 = values.iter().map(|value| (value - average).powi(2)).sum();
    (squares / (values.len() as f64 - 1.0)).sqrt()
}
