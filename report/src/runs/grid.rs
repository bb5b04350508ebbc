//! The bins of time that all curves of a page share, long enough that the page stays small.

use crate::figure::Curve;
use control::{Duration, Time};
use experiment::{FlowOutcome, Outcome};

/// Equal bins from the beginning of the runs.
#[derive(Clone, Copy)]
pub struct Grid {
    /// Length of a bin.
    pub step: Duration,
    /// Number of bins.
    pub bins: usize,
}

impl Grid {
    /// At most `bins` bins, each at least as long as every run's sampling interval, so that no bin is without a sample.
    pub fn new<'a>(outcomes: impl Iterator<Item = (&'a Outcome, Duration)>, bins: usize) -> Grid {
        let (mut sample, mut end) = (Duration(1), Time::ZERO);
        for (outcome, every) in outcomes {
            sample = sample.max(every);
            end = end.max(outcome.sampled.last().copied().unwrap_or(Time::ZERO));
        }
        let samples = end.0.div_ceil(sample.0);
        let step = Duration(sample.0.saturating_mul(samples.div_ceil(bins.max(1) as u64).max(1)));
        Grid { step, bins: end.0.div_ceil(step.0) as usize }
    }

    /// The bin of a sampling interval that ends at `end`.
    fn bin(&self, end: Time) -> usize {
        ((end.0.saturating_sub(1) / self.step.0) as usize).min(self.bins.saturating_sub(1))
    }

    /// The mean of each bin's samples, those left out that are no numbers. `sampled`: the ends of the sampling
    /// intervals.
    pub fn mean(&self, sampled: &[Time], samples: impl Iterator<Item = f64>) -> Curve {
        let mut sums = vec![(0.0, 0.0); self.bins];
        for (&end, sample) in sampled.iter().zip(samples) {
            if sample.is_finite() {
                let (sum, count) = &mut sums[self.bin(end)];
                *sum += sample;
                *count += 1.0;
            }
        }
        Curve(sums.into_iter().map(|(sum, count)| sum / count).collect())
    }

    /// The largest sample in each bin.
    pub fn max(&self, sampled: &[Time], samples: impl Iterator<Item = f64>) -> Curve {
        let mut most = vec![f64::NAN; self.bins];
        for (&end, sample) in sampled.iter().zip(samples) {
            let bin = &mut most[self.bin(end)];
            *bin = bin.max(sample);
        }
        Curve(most)
    }

    /// The goodput of a flow while it is active, in bits per second.
    pub fn throughput(&self, sampled: &[Time], flow: &FlowOutcome) -> Curve {
        let mut sums = vec![(0.0, 0.0); self.bins];
        let mut begin = Time::ZERO;
        for ((&end, &bytes), phase) in sampled.iter().zip(&flow.series.delivered).zip(&flow.series.phase) {
            if phase.is_some() || bytes > 0 {
                let (bits, seconds) = &mut sums[self.bin(end)];
                *bits += bytes as f64 * 8.0;
                *seconds += end.since(begin).as_secs();
            }
            begin = end;
        }
        Curve(sums.into_iter().map(|(bits, seconds)| bits / seconds).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000_000;

    fn grid(bins: usize) -> (Grid, Vec<Time>) {
        let sampled: Vec<Time> = (1..=10).map(|k| Time(k * SECOND)).collect();
        let outcome =
            Outcome { flows: vec![], workloads: vec![], links: vec![], sampled, packets_delivered: 0, events: 0 };
        (Grid::new([(&outcome, Duration(SECOND))].into_iter(), bins), outcome.sampled)
    }

    #[test]
    fn a_short_series_keeps_its_samples() {
        let (grid, sampled) = grid(1500);
        let samples = || (0..10).map(f64::from);
        assert_eq!((grid.step, grid.bins), (Duration(SECOND), 10));
        assert_eq!(grid.mean(&sampled, samples()).0, samples().collect::<Vec<_>>());
    }

    #[test]
    fn samples_of_a_long_series_share_bins() {
        let (grid, sampled) = grid(4);
        assert_eq!((grid.step, grid.bins), (Duration(3 * SECOND), 4));
        assert_eq!(grid.mean(&sampled, (0..10).map(f64::from)).0, [1.0, 4.0, 7.0, 9.0]);
        assert_eq!(grid.max(&sampled, (0..10).map(f64::from)).0, [2.0, 5.0, 8.0, 9.0]);
    }

    #[test]
    fn samples_without_a_value_do_not_count() {
        let (grid, sampled) = grid(5);
        let samples = [f64::NAN, 1.0, f64::NAN, f64::NAN, 3.0, 5.0];
        let mean = grid.mean(&sampled, samples.into_iter());
        assert_eq!((mean.0[0], mean.0[2]), (1.0, 4.0));
        assert!(mean.0[1].is_nan() && mean.0[4].is_nan());
    }

    #[test]
    fn without_samples_there_are_no_bins() {
        let grid = Grid::new(std::iter::empty(), 100);
        assert_eq!(grid.bins, 0);
        assert_eq!(grid.mean(&[], std::iter::empty()), Curve::default());
    }
}
