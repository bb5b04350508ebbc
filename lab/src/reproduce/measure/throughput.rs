//! How much flows deliver.

use super::definition::Measure;
use super::excerpt::Excerpt;
use experiment::mean;

pub(super) const ALL: &[Measure] = &[
    Measure::of_run("throughput", "Goodput (Mbps)", |it| it.throughput_bps() / 1e6),
    Measure::of_run("share", "Share of the link (%)", share),
    Measure::of_run("variation", "Variation of throughput", variation),
];

/// Goodput over the span in per cent of the narrowest link's rate.
fn share(it: &Excerpt) -> f64 {
    100.0 * it.bits().iter().sum::<f64>() / (it.to - it.from) / it.narrowest_bps()
}

/// Standard deviation of the throughput from second to second, over its mean.
fn variation(it: &Excerpt) -> f64 {
    let width = it.samples_in(1.0);
    let bits = it.bits();
    let seconds =
        bits.chunks_exact(width).map(|bits| bits.iter().sum::<f64>() / (width as f64 * it.sampling_interval()));
    let seconds: Vec<f64> = seconds.collect();
    let middle = mean(&seconds);
    let squares: Vec<f64> = seconds.iter().map(|x| (x - middle) * (x - middle)).collect();
    libm::sqrt(mean(&squares)) / middle
}
