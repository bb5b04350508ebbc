//! Random numbers of a drawn path. They are the same on every machine: elementary functions come from `libm`.

use rand_xoshiro::rand_core::{RngCore, SeedableRng};
use rand_xoshiro::{SplitMix64, Xoshiro256PlusPlus};

/// A sequence of random numbers.
pub struct Random(Xoshiro256PlusPlus);

impl Random {
    /// The sequence of path `number` of `seed`, which depends on nothing else.
    pub fn of(seed: u64, number: u64) -> Random {
        let of_seed = SplitMix64::seed_from_u64(seed).next_u64();
        Random(Xoshiro256PlusPlus::seed_from_u64(SplitMix64::seed_from_u64(of_seed ^ number).next_u64()))
    }

    /// Uniform in `low` to `high`.
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        let unit = (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        low + (high - low) * unit
    }

    /// Log-uniform in `low` to `high`, which are above 0: its logarithm is uniform. `low` if it is not below `high`.
    pub fn log_uniform(&mut self, low: f64, high: f64) -> f64 {
        libm::exp(self.uniform(libm::log(low), libm::log(high.max(low))))
    }

    /// A whole number, log-uniform in `low` to `high`, which are at least 1.
    pub fn log_uniform_count(&mut self, low: u64, high: u64) -> u64 {
        // Each number has the share of the logarithm up to the next one.
        (self.log_uniform(low as f64, high as f64 + 1.0) as u64).clamp(low, high.max(low))
    }

    /// A place in a list of `len` elements.
    pub fn place(&mut self, len: usize) -> usize {
        (self.uniform(0.0, len as f64) as usize).min(len - 1)
    }
}

/// `x` with three significant digits.
pub fn rounded(x: f64) -> f64 {
    format!("{x:.2e}").parse().unwrap_or(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_are_kept() {
        assert_eq!(
            [rounded(123_456.0), rounded(0.001_237_9), rounded(9.999), rounded(0.0)],
            [123e3, 0.00124, 10.0, 0.0]
        );
    }

    /// A log-uniform number falls as often into one decade as into another.
    #[test]
    fn decades_are_equally_probable() {
        let mut random = Random::of(1, 1);
        let draws: Vec<f64> = (0..30_000).map(|_| random.log_uniform(1.0, 1000.0)).collect();
        assert!(draws.iter().all(|x| (1.0..1000.0 * (1.0 + 1e-9)).contains(x)));
        for decade in [1.0, 10.0, 100.0] {
            let within = draws.iter().filter(|&&x| (decade..10.0 * decade).contains(&x)).count();
            // The standard deviation of the count is 82.
            assert!((9_600..10_400).contains(&within), "{decade}: {within}");
        }
        let counts: Vec<u64> = (0..1000).map(|_| random.log_uniform_count(1, 3)).collect();
        assert!((1..=3).all(|n| counts.contains(&n)) && counts.iter().all(|n| (1..=3).contains(n)));
        assert_eq!(random.log_uniform_count(1, 1), 1);
    }
}
