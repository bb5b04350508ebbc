//! Packets lost to transmission errors.

use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Loses each packet with the same probability, independently of the others.
#[derive(Clone, Debug)]
pub struct PacketErrors {
    rng: Xoshiro256PlusPlus,
    /// ln(1 - p)
    log_survival: f64,
    /// Packets that will pass before the next error.
    passing: u64,
}

impl PacketErrors {
    /// Loses packets with `probability`, in 0 to 1, by the randomness of `seed`.
    pub fn new(probability: f64, seed: u64) -> PacketErrors {
        let rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut errors = PacketErrors { rng, log_survival: libm::log1p(-probability), passing: 0 };
        errors.passing = errors.run_length();
        errors
    }

    /// Whether the next packet is lost.
    pub fn strikes(&mut self) -> bool {
        if self.passing > 0 {
            self.passing -= 1;
            return false;
        }
        self.passing = self.run_length();
        true
    }

    /// Packets between two errors are distributed geometrically: one draw per error, not per packet.
    fn run_length(&mut self) -> u64 {
        if self.log_survival == 0.0 {
            return u64::MAX;
        }
        // Uniform in (0, 1], so that its logarithm is finite.
        let uniform = ((self.rng.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64;
        (libm::log(uniform) / self.log_survival) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loses_the_share_it_was_told() {
        for p in [0.0, 1e-4, 1e-2, 0.5, 1.0] {
            let mut errors = PacketErrors::new(p, 7);
            let n = 2_000_000;
            let lost = (0..n).filter(|_| errors.strikes()).count() as f64;
            // Five standard deviations of a binomial.
            let allowed = 5.0 * (n as f64 * p * (1.0 - p)).sqrt();
            assert!((lost - n as f64 * p).abs() <= allowed, "p = {p}: {lost} of {n}");
        }
    }
}
