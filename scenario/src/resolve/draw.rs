//! The starts and RTTs of flows that a scenario gives as a range, drawn from its seed.

use crate::values::time_range::TimeRange;
use control::Duration;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{RngCore, SeedableRng};

/// The key of a flow that is drawn. Each key has random numbers of its own, so that another key does not change them.
#[derive(Clone, Copy)]
pub(super) enum DrawnKey {
    /// `start`.
    Start,
    /// `rtt`.
    Rtt,
}

/// Draws a time from `range` for copy `copy` of the `[[flow]]` at position `flow`. The time depends on these arguments
/// alone, so that runs which differ in their controllers or in the number of copies have the same times.
pub(super) fn draw(range: TimeRange, seed: u64, flow: usize, copy: u64, key: DrawnKey) -> Duration {
    let mut random = seed;
    for part in [flow as u64, copy, key as u64] {
        random = SplitMix64::seed_from_u64(random ^ part).next_u64();
    }
    let width = u128::from(range.high.0 - range.low.0) + 1;
    // The high half of the product is uniform in 0..width; no value's probability is off by more than 2^-64.
    Duration(range.low.0 + ((u128::from(random) * width) >> 64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_drawn_uniformly_and_always_the_same() {
        let range = TimeRange { low: Duration::from_millis(60), high: Duration::from_millis(165) };
        let of = |flow, copy, key| draw(range, 1, flow, copy, key).as_millis();
        let all: Vec<f64> = (0..10_000).map(|copy| of(0, copy, DrawnKey::Rtt)).collect();
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        assert!((mean - 112.5).abs() < 1.0, "{mean}");
        assert!(all.iter().all(|ms| (60.0..=165.0).contains(ms)));
        assert!(all.iter().any(|ms| *ms < 60.1) && all.iter().any(|ms| *ms > 164.9));
        assert_ne!(of(0, 1, DrawnKey::Rtt), of(1, 0, DrawnKey::Rtt));
        assert_ne!(of(0, 1, DrawnKey::Rtt), of(0, 1, DrawnKey::Start));
        // The numbers drawn must not change, because results of a scenario are compared over years and machines.
        assert_eq!(draw(range, 1, 0, 0, DrawnKey::Rtt), Duration(104_437_202_060));
        let all = TimeRange { low: Duration(0), high: Duration(u64::MAX) };
        let _ = draw(all, 1, 0, 0, DrawnKey::Rtt);
        assert_eq!(draw(TimeRange::fixed(Duration(7)), 1, 0, 0, DrawnKey::Start), Duration(7));
    }
}
