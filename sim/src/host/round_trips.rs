//! What a flow records of its round-trip times.

use control::Duration;

/// The round-trip samples of a flow: their number, and below that, in [`SUM`] bits, their sum in picoseconds. At 40
/// Gbps and 100 ms, a sum of 64 bits would overflow after 37 s; both of these last for more than a month.
#[derive(Clone, Copy, Debug, Default)]
#[repr(Rust, packed(8))]
pub struct RoundTrips(u128);

/// How many bits the sum has.
const SUM: u32 = 84;

impl RoundTrips {
    /// Takes in a sample.
    #[inline(always)]
    pub fn add(&mut self, sample: Duration) {
        self.0 += 1 << SUM | u128::from(sample.0);
    }

    /// Those since `earlier`.
    pub fn since(&self, earlier: &RoundTrips) -> RoundTrips {
        RoundTrips(self.0 - earlier.0)
    }

    /// Their mean, in seconds; NaN if there is none.
    pub fn mean(&self) -> f64 {
        let (number, sum) = (self.0 >> SUM, self.0 & ((1 << SUM) - 1));
        // Of 64 bits, the same number is found in one instruction.
        let sum = u64::try_from(sum).map_or(sum as f64, |sum| sum as f64);
        sum / 1e12 / number as u64 as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trip_times_add_up_over_hours_of_many_packets() {
        let hour = 40_000_000_000 / 8000 * 3600; // packets, at 40 Gbps
        let after = |hours: u64| RoundTrips(u128::from(hours * hour) * (1 << SUM | 100_000_000_000));
        assert!((after(3).since(&after(2)).mean() - 0.1).abs() < 1e-12);
        assert!(after(3).since(&after(3)).mean().is_nan());
    }
}
