//! Numbers that take the place of random ones: a hash of the present time. Flows draw at different times, and a run can
//! be repeated.

use crate::units::Time;

/// Pseudo-random bits that depend on `now` alone (the finalizer of splitmix64).
pub(crate) fn draw(now: Time) -> u64 {
    let mut x = now.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bits that are used are evenly distributed even for times a millisecond apart.
    #[test]
    fn pseudo_random_bits_are_evenly_distributed() {
        let draws: Vec<u64> = (0..10_000).map(|i| draw(Time(i * 1_000_000_000))).collect();
        let odd = draws.iter().filter(|&x| x & 1 == 1).count();
        let mean = draws.iter().map(|x| (x >> 11) as f64).sum::<f64>() / 1e4 / (1u64 << 53) as f64;
        assert!((4800..5200).contains(&odd), "{odd}");
        assert!((mean - 0.5).abs() < 0.01, "{mean}");
        for phase in 0..7 {
            let drawn = draws.iter().filter(|&x| x % 7 == phase).count();
            assert!((1300..1560).contains(&drawn), "{drawn} of 10,000 are {phase} modulo 7");
        }
    }
}
