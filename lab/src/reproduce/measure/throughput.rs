//! How much flows deliver.

use super::definition::Measure;
use super::excerpt::{Excerpt, Scope};
use experiment::mean;

pub(super) const ALL: &[Measure] = &[
    Measure::of_run("throughput", "Goodput (Mbps)", |it| it.throughput_bps() / 1e6),
    Measure::of_run("share", "Share of the link (%)", share),
    Measure::of_run("variation", "Variation of throughput", variation),
    Measure::of_run("follows", "Correlation with what is left", follows),
];

/// Goodput over the span in per cent of the narrowest link's rate.
fn share(it: &Excerpt) -> f64 {
    100.0 * it.bits().iter().sum::<f64>() / (it.to - it.from) / it.narrowest_bps()
}

/// Standard deviation of the throughput from second to second, or from window to window, over its mean.
fn variation(it: &Excerpt) -> f64 {
    relative_deviation(&over_windows(it, &it.bits()))
}

/// The standard deviation of `values` over their mean.
pub(super) fn relative_deviation(values: &[f64]) -> f64 {
    libm::sqrt(covariance(values, values)) / mean(values)
}

/// Correlation, from second to second, or from window to window, of the flows' throughput with what the traffic beside
/// them leaves of the narrowest link.
fn follows(it: &Excerpt) -> f64 {
    let flows = it.bits();
    let scope = Scope { traffic: true, ..it.scope };
    let all = Excerpt::new(it.run, scope).bits();
    let capacity = it.narrowest_bps() * it.sampling_interval();
    let left: Vec<f64> = all.iter().zip(&flows).map(|(all, flows)| capacity - (all - flows)).collect();
    let [flows, left] = [over_windows(it, &flows), over_windows(it, &left)];
    covariance(&flows, &left) / libm::sqrt(covariance(&flows, &flows) * covariance(&left, &left))
}

/// The rate in each window, by default a second, given the `amounts` of each sample.
pub(super) fn over_windows(it: &Excerpt, amounts: &[f64]) -> Vec<f64> {
    let width = it.samples_in(it.scope.window.unwrap_or(1.0));
    let rate = |amounts: &[f64]| amounts.iter().sum::<f64>() / (width as f64 * it.sampling_interval());
    amounts.chunks_exact(width).map(rate).collect()
}

fn covariance(a: &[f64], b: &[f64]) -> f64 {
    let middle = [mean(a), mean(b)];
    mean(&a.iter().zip(b).map(|(x, y)| (x - middle[0]) * (y - middle[1])).collect::<Vec<_>>())
}
