//! Distributions of the sizes of messages.

use super::Random;
use control::Bytes;
use std::sync::Arc;

/// The largest size drawn, in bytes: 1 PB, which no transfer completes in a run.
const LARGEST: f64 = 1e15;

/// A distribution of sizes, in bytes.
#[derive(Clone, Debug, PartialEq)]
pub enum Sizes {
    /// Always the same size.
    Fixed(f64),
    /// Uniform between two sizes.
    Uniform(f64, f64),
    /// Exponential with this mean.
    Exponential(f64),
    /// Lognormal with this mean, and with `sigma` as the standard deviation of the logarithm.
    Lognormal {
        /// The mean.
        mean: f64,
        /// The standard deviation of the natural logarithm.
        sigma: f64,
    },
    /// Pareto with this mean and shape.
    Pareto {
        /// The mean.
        mean: f64,
        /// The shape, above 1.
        shape: f64,
    },
    /// Sizes in ascending order, each with the share of draws that are not larger, interpolated linearly. The last
    /// share is 1.
    Empirical(Arc<[(f64, f64)]>),
}

impl Sizes {
    /// Draws a size, at least a byte.
    pub fn draw(&self, random: &mut Random) -> Bytes {
        let size = match *self {
            Sizes::Fixed(size) => size,
            Sizes::Uniform(low, high) => low + (high - low) * random.uniform(),
            Sizes::Exponential(mean) => random.exponential(mean),
            Sizes::Lognormal { mean, sigma } => random.lognormal(mean, sigma),
            Sizes::Pareto { mean, shape } => random.pareto(mean, shape),
            Sizes::Empirical(ref points) => {
                let share = random.uniform();
                let above = points.partition_point(|&(_, up_to)| up_to < share);
                match (above.checked_sub(1).map(|below| points[below]), points.get(above)) {
                    (Some((low, from)), Some(&(high, to))) => low + (high - low) * (share - from) / (to - from),
                    (_, Some(&(least, _))) => least,
                    (Some((most, _)), None) => most,
                    (None, None) => 1.0,
                }
            }
        };
        Bytes(size.clamp(1.0, LARGEST).round() as u64)
    }

    /// The mean, before rounding.
    pub fn mean(&self) -> f64 {
        match self {
            Sizes::Fixed(mean) | Sizes::Exponential(mean) => *mean,
            Sizes::Uniform(low, high) => (low + high) / 2.0,
            Sizes::Lognormal { mean, .. } | Sizes::Pareto { mean, .. } => *mean,
            Sizes::Empirical(points) => {
                let least = points.first().map_or(0.0, |(size, share)| size * share);
                least + points.windows(2).map(|w| (w[1].1 - w[0].1) * (w[0].0 + w[1].0) / 2.0).sum::<f64>()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Stream;
    use super::*;

    #[test]
    fn draws_have_the_mean_that_is_said() {
        let empirical = Sizes::Empirical([(100.0, 0.5), (1000.0, 0.9), (10_000.0, 1.0)].into());
        assert!((empirical.mean() - (50.0 + 0.4 * 550.0 + 0.1 * 5500.0)).abs() < 1e-9);
        for sizes in [
            Sizes::Fixed(1500.0),
            Sizes::Uniform(500.0, 2500.0),
            Sizes::Exponential(20_000.0),
            Sizes::Lognormal { mean: 20_000.0, sigma: 1.0 },
            Sizes::Pareto { mean: 20_000.0, shape: 2.5 },
            empirical,
        ] {
            let mut random = Random::new(1, Stream::Sessions, &[]);
            let n = 400_000;
            let mean = (0..n).map(|_| sizes.draw(&mut random).0 as f64).sum::<f64>() / n as f64;
            assert!((mean / sizes.mean() - 1.0).abs() < 0.015, "{sizes:?}: {mean}");
        }
    }
}
