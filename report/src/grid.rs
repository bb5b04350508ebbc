//! A common grid of time for all curves, coarse enough that a page stays small.

use control::{Duration, Time};
use experiment::{FlowOutcome, Outcome};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Equal bins from the beginning of the runs.
#[derive(Clone, Copy)]
pub struct Grid {
    /// Length of a bin, in seconds.
    pub step: Duration,
    /// How many.
    pub bins: usize,
}

/// One value per bin; NaN where there is none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve(pub Vec<f64>);

impl Grid {
    /// At most `bins` bins, each at least as long as the runs' sampling intervals, so that none of a run's is empty.
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

    /// The bin in which a sampling interval that ends at `end` lies.
    fn bin(&self, end: Time) -> usize {
        ((end.0.saturating_sub(1) / self.step.0) as usize).min(self.bins.saturating_sub(1))
    }

    /// The mean of the samples in each bin that are numbers.
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

    /// Goodput in bits per second while the flow is active.
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

impl Curve {
    /// One value from each bin's values of all `curves`, without those that are NaN; NaN if none is left.
    pub fn across(curves: &[Curve], mut value: impl FnMut(&mut [f64]) -> f64) -> Curve {
        let bins = curves.iter().map(|curve| curve.0.len()).max().unwrap_or(0);
        let mut column = Vec::with_capacity(curves.len());
        Curve(
            (0..bins)
                .map(|i| {
                    column.clear();
                    column.extend(curves.iter().filter_map(|curve| curve.0.get(i)).filter(|x| !x.is_nan()));
                    if column.is_empty() { f64::NAN } else { value(&mut column) }
                })
                .collect(),
        )
    }

    /// The mean over `width` bins around each; NaN where one of them is.
    pub fn smooth(&self, width: usize) -> Curve {
        let (before, after) = (width / 2, width - width / 2);
        let mean = |i: usize| {
            let window = i.checked_sub(before).and_then(|from| self.0.get(from..i + after));
            window.map_or(f64::NAN, |window| window.iter().sum::<f64>() / width as f64)
        };
        Curve((0..self.0.len()).map(mean).collect())
    }

    /// Every value times `factor`.
    pub fn scale(mut self, factor: f64) -> Curve {
        self.0.iter_mut().for_each(|x| *x *= factor);
        self
    }

    /// The largest value; zero if there is none.
    pub fn largest(&self) -> f64 {
        self.0.iter().copied().fold(0.0, f64::max)
    }

    /// Whether it has no value at all.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|x| x.is_nan())
    }
}

impl Serialize for Curve {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|&x| short(x)))
    }
}

impl<'de> Deserialize<'de> for Curve {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Curve, D::Error> {
        let values: Vec<Option<f64>> = Vec::deserialize(deserializer)?;
        Ok(Curve(values.into_iter().map(|x| x.unwrap_or(f64::NAN)).collect()))
    }
}

/// Five digits are more than a plot shows. A whole number is written as such.
fn short(x: f64) -> serde_json::Value {
    let rounded: f64 = format!("{x:.4e}").parse().unwrap_or(f64::NAN);
    if rounded.fract() == 0.0 && rounded.abs() < 1e15 { (rounded as i64).into() } else { rounded.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::quantile;

    const SECOND: u64 = 1_000_000_000_000;

    fn grid(bins: usize) -> (Grid, Vec<Time>) {
        let sampled: Vec<Time> = (1..=10).map(|k| Time(k * SECOND)).collect();
        let outcome =
            Outcome { flows: vec![], workloads: vec![], links: vec![], sampled, packets_delivered: 0, events: 0 };
        (Grid::new([(&outcome, Duration(SECOND))].into_iter(), bins), outcome.sampled)
    }

    #[test]
    fn short_series_are_left_as_they_are() {
        let (grid, sampled) = grid(1500);
        let samples = || (0..10).map(f64::from);
        assert_eq!((grid.step, grid.bins), (Duration(SECOND), 10));
        assert_eq!(grid.mean(&sampled, samples()).0, samples().collect::<Vec<_>>());
    }

    #[test]
    fn long_series_are_binned() {
        let (grid, sampled) = grid(4);
        assert_eq!((grid.step, grid.bins), (Duration(3 * SECOND), 4));
        assert_eq!(grid.mean(&sampled, (0..10).map(f64::from)).0, [1.0, 4.0, 7.0, 9.0]);
        assert_eq!(grid.max(&sampled, (0..10).map(f64::from)).0, [2.0, 5.0, 8.0, 9.0]);
    }

    #[test]
    fn gaps_do_not_count() {
        let (grid, sampled) = grid(5);
        let samples = [f64::NAN, 1.0, f64::NAN, f64::NAN, 3.0, 5.0];
        let mean = grid.mean(&sampled, samples.into_iter());
        assert_eq!((mean.0[0], mean.0[2]), (1.0, 4.0));
        assert!(mean.0[1].is_nan() && mean.0[4].is_nan());
    }

    #[test]
    fn no_samples_no_bins() {
        let grid = Grid::new(std::iter::empty(), 100);
        assert_eq!(grid.bins, 0);
        assert_eq!(grid.mean(&[], std::iter::empty()), Curve::default());
    }

    #[test]
    fn quantiles_across_curves() {
        let curves: Vec<Curve> = (1..=10).map(|k| Curve(vec![f64::from(k), f64::NAN])).collect();
        let tenth = Curve::across(&curves, |values| quantile(values, 0.1));
        let median = Curve::across(&curves, |values| quantile(values, 0.5));
        assert_eq!((tenth.0[0], median.0[0]), (1.0, 5.0));
        assert!(median.0[1].is_nan());
    }

    #[test]
    fn written_short() {
        let curve = Curve(vec![123.456789, 5.0, f64::NAN, 1.23456789e-7, 123456789.0]);
        assert_eq!(serde_json::to_string(&curve).unwrap(), "[123.46,5,null,1.2346e-7,123460000]");
    }
}
