//! Streams of random numbers for traffic, and the distributions in use.

use control::Duration;
use rand_xoshiro::rand_core::{RngCore, SeedableRng};
use rand_xoshiro::{SplitMix64, Xoshiro256PlusPlus};

/// What random numbers are used for. Each use has streams of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Packets of a source that does not react; one stream per source.
    Cross = 1,
    /// Losses of a workload's connections; one stream per workload.
    Losses = 2,
    /// Connections that arrive as a Poisson process; one stream per workload.
    Sessions = 3,
    /// A synthetic mix of connections; streams for each workload's connections and for their starts.
    Mix = 4,
    /// Late departures of a flow's packets; one stream per flow.
    Jitter = 5,
    /// Rests between the p-streams of a sender that does not react; one stream per flow.
    Rests = 6,
}

/// A stream of random numbers. What one stream draws does not depend on what others draw.
#[derive(Clone, Debug)]
pub struct Random(Xoshiro256PlusPlus);

impl Random {
    /// The stream for this use that belongs to `name`, such as the number of a source, among those of `seed`.
    pub fn new(seed: u64, stream: Stream, name: &[u64]) -> Random {
        let mix = |mixed: u64, part: &u64| SplitMix64::seed_from_u64(mixed ^ part).next_u64();
        let mixed = name.iter().fold(mix(seed, &(stream as u64)), mix);
        Random(Xoshiro256PlusPlus::seed_from_u64(mixed))
    }

    /// Uniform in (0, 1], so that logarithms and powers are finite.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64
    }

    /// Exponential with this mean: the time between two events of a Poisson process.
    #[inline]
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(self.uniform())
    }

    /// Pareto with this mean and a shape above 1; of infinite variance if that is 2 or less. The least value is
    /// mean (shape - 1) / shape.
    #[inline]
    pub fn pareto(&mut self, mean: f64, shape: f64) -> f64 {
        mean * (shape - 1.0) / shape * libm::pow(self.uniform(), -1.0 / shape)
    }

    /// Lognormal with this mean; `sigma` is the standard deviation of the logarithm.
    pub fn lognormal(&mut self, mean: f64, sigma: f64) -> f64 {
        // Box and Muller; the second of the two numbers it can make is not worth keeping.
        let radius = libm::sqrt(-2.0 * libm::log(self.uniform()));
        let normal = radius * libm::cos(2.0 * std::f64::consts::PI * self.uniform());
        mean * libm::exp(sigma * normal - sigma * sigma / 2.0)
    }

    /// Geometric with this mean: a whole number, at least 1.
    pub fn geometric(&mut self, mean: f64) -> u64 {
        if mean <= 1.0 {
            return 1;
        }
        1 + (libm::log(self.uniform()) / libm::log1p(-1.0 / mean)) as u64
    }

    /// A seed for another generator.
    pub fn seed(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform between two times, both included.
    pub fn between(&mut self, low: Duration, high: Duration) -> Duration {
        Duration(low.0 + ((high.0 - low.0) as f64 * self.uniform()) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean and standard deviation of many draws.
    fn moments(mut draw: impl FnMut() -> f64) -> (f64, f64) {
        let n = 400_000;
        let all: Vec<f64> = (0..n).map(|_| draw()).collect();
        let mean = all.iter().sum::<f64>() / n as f64;
        (mean, (all.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n as f64).sqrt())
    }

    #[test]
    fn distributions_have_their_moments() {
        let mut random = Random::new(1, Stream::Cross, &[]);
        let (mean, deviation) = moments(|| random.uniform());
        assert!((mean - 0.5).abs() < 0.003 && (deviation - 12f64.sqrt().recip()).abs() < 0.003, "{mean} {deviation}");
        let (mean, deviation) = moments(|| random.exponential(3.0));
        assert!((mean - 3.0).abs() < 0.03 && (deviation - 3.0).abs() < 0.05, "{mean} {deviation}");
        // A shape of 5 has variance m^2 / (a (a - 2)).
        let (mean, deviation) = moments(|| random.pareto(3.0, 5.0));
        assert!((mean - 3.0).abs() < 0.01 && (deviation - 3.0 / 15f64.sqrt()).abs() < 0.03, "{mean} {deviation}");
        // e^(sigma^2) - 1 is the square of the coefficient of variation.
        let (mean, deviation) = moments(|| random.lognormal(3.0, 0.5));
        let expected = 3.0 * (0.25f64.exp() - 1.0).sqrt();
        assert!((mean - 3.0).abs() < 0.02 && (deviation - expected).abs() < 0.03, "{mean} {deviation}");
        let (mean, deviation) = moments(|| random.geometric(4.0) as f64);
        assert!((mean - 4.0).abs() < 0.03 && (deviation - 12f64.sqrt()).abs() < 0.04, "{mean} {deviation}");
        assert_eq!(random.geometric(1.0), 1);
        // Of infinite variance, but the median is what it is: k 2^(1/a), with k = m (a - 1) / a.
        let mut draws: Vec<f64> = (0..100_001).map(|_| random.pareto(25.0, 1.2)).collect();
        draws.sort_by(f64::total_cmp);
        let (least, median) = (25.0 / 6.0, 25.0 / 6.0 * 2f64.powf(1.0 / 1.2));
        assert!(draws[0] >= least && (draws[50_000] / median - 1.0).abs() < 0.02, "{} {}", draws[0], draws[50_000]);
    }

    #[test]
    fn streams_differ_and_repeat() {
        use Stream::{Jitter, Losses};
        let first = |seed, stream, name: &[u64]| Random::new(seed, stream, name).uniform();
        assert_eq!(first(1, Losses, &[2, 3]), first(1, Losses, &[2, 3]));
        assert!(
            first(1, Losses, &[2, 3]) != first(1, Losses, &[3, 2]) && first(1, Losses, &[]) != first(2, Losses, &[])
        );
        // What happens to a flow and to a connection of the same number has nothing to do with each other.
        assert!(first(1, Losses, &[0]) != first(1, Jitter, &[0]));
    }
}
