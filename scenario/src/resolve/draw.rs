//! What a scenario leaves to chance, drawn from its seed.

use super::spread::Spread;
use control::Duration;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{RngCore, SeedableRng};

/// Which of a flow's keys is drawn; each has numbers of its own, so that adding one does not shift another.
#[derive(Clone, Copy)]
pub(super) enum Drawn {
    Start,
    Rtt,
}

/// Draws from `spread` for copy `copy` of flow table `table`. It depends on nothing else, so that runs which differ in their
/// controllers or in the number of copies see the same times.
pub(super) fn draw(spread: Spread, seed: u64, table: usize, copy: u64, what: Drawn) -> Duration {
    let mut random = seed;
    for part in [table as u64, copy, what as u64] {
        random = SplitMix64::seed_from_u64(random ^ part).next_u64();
    }
    let width = u128::from(spread.high.0 - spread.low.0) + 1;
    // The high half of the product is uniform in 0..width but for one part in 2^64 / width.
    Duration(spread.low.0 + ((u128::from(random) * width) >> 64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_fill_their_range_evenly_and_stay_what_they_are() {
        let spread = Spread { low: Duration::from_millis(60), high: Duration::from_millis(165) };
        let of = |table, copy, what| draw(spread, 1, table, copy, what).as_millis();
        let all: Vec<f64> = (0..10_000).map(|copy| of(0, copy, Drawn::Rtt)).collect();
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        assert!((mean - 112.5).abs() < 1.0, "{mean}");
        assert!(all.iter().all(|ms| (60.0..=165.0).contains(ms)));
        assert!(all.iter().any(|ms| *ms < 60.1) && all.iter().any(|ms| *ms > 164.9));
        assert_ne!(of(0, 1, Drawn::Rtt), of(1, 0, Drawn::Rtt));
        assert_ne!(of(0, 1, Drawn::Rtt), of(0, 1, Drawn::Start));
        // Results of a scenario are compared over years and machines.
        assert_eq!(draw(spread, 1, 0, 0, Drawn::Rtt), Duration(104_437_202_060));
        let all = Spread { low: Duration(0), high: Duration(u64::MAX) };
        let _ = draw(all, 1, 0, 0, Drawn::Rtt);
        assert_eq!(draw(Spread::fixed(Duration(7)), 1, 0, 0, Drawn::Start), Duration(7));
    }
}
