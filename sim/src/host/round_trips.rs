//! What a flow records of its round-trip times.

use control::Duration;

/// The round-trip samples of a flow.
#[derive(Clone, Copy, Debug, Default)]
#[repr(Rust, packed(8))]
pub struct RoundTrips {
    /// Their sum, in picoseconds. At 40 Gbps and 100 ms, 64 bits would overflow after 37 s.
    sum: u128,
    /// Their number.
    number: u64,
}

impl RoundTrips {
    /// Takes in a sample.
    #[inline(always)]
    pub fn add(&mut self, sample: Duration) {
        self.sum += u128::from(sample.0);
        self.number += 1;
    }

    /// Those since `earlier`.
    pub fn since(&self, earlier: &RoundTrips) -> RoundTrips {
        RoundTrips { sum: self.sum - earlier.sum, number: self.number - earlier.number }
    }

    /// Their mean, in seconds; NaN if there is none.
    pub fn mean(&self) -> f64 {
        self.sum as f64 / 1e12 / self.number as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trip_times_add_up_over_hours_of_many_packets() {
        let hour = 40_000_000_000 / 8000 * 3600; // packets, at 40 Gbps
        let after = |hours: u64| RoundTrips { sum: u128::from(hours * hour) * 100_000_000_000, number: hours * hour };
        assert!((after(3).since(&after(2)).mean() - 0.1).abs() < 1e-12);
        assert!(after(3).since(&after(3)).mean().is_nan());
    }
}
