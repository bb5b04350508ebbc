//! By how much the delays of a path vary by chance from packet to packet, because of hosts, radio, or switches.
//!
//! An analysis that does not know of this noise takes packets that were held back late in a stream for a queue that
//! grows, and its low estimates keep the flow from climbing: two flows used 28 % of a path of 2 Gbps and 60 ms with a
//! jitter of 0.1 ms. So delays that differ by no more than the noise count as equal.
//!
//! A queue that a stream fills rises once within it, and one that a stream drains falls once. Noise makes the delay
//! turn back at every second or third packet. So it shows in the *swings* between the turning points of a stream's
//! delays: at each turning point, the smaller of the swings before and after it. If delays are uniform between zero
//! and J, and packets may not overtake each other, the median of these is 0.38 J in the mean of streams of 32 packets
//! that are J apart, and 0.28, 0.16 and 0.06 J if they are a third, a tenth and a fiftieth of J apart, and so arrive in
//! clumps. So the longest noise counts for less than it is.
//!
//! The packets of other flows make delays rough, too. If they counted, a flow beside many others would not hear of
//! queues. But beside many others a queue stands. So nothing is tolerated while the least delay of a stream is farther
//! above the lowest than half of the noise. All flows of a path see the same, whatever their rates are: noise that
//! counts only if it is longer than the flow's own packets are apart makes shares unequal.

use super::lowest::Lowest;
use crate::pstream::Sample;
use crate::units::Duration;
use alloc::vec::Vec;

/// Measures the noise in the delays of streams.
#[derive(Clone, Debug)]
pub(super) struct Roughness {
    /// A moving mean of the streams' medians, ps.
    mean: f64,
    lowest: Lowest,
    /// Room for the swings of a stream, ps.
    swings: Vec<i64>,
}

/// The weight of a stream in the mean.
const WEIGHT: f64 = 0.125;

/// The noise is this multiple of the mean: about J where packets are at least a third of J apart.
const NOISE: f64 = 3.0;

/// The noise is at most this, ps. On a slow link, the packets of other flows move delays by milliseconds, and are no
/// noise.
const LONGEST: f64 = 200e6;

/// Nothing is tolerated behind a queue whose delay is more than this share of the noise.
const QUEUE: f64 = 0.5;

/// A stream that turns back at fewer than this share of its packets shows a queue, and so does one with fewer than so
/// many turning points.
const TURNS: f64 = 0.15;
const LEAST_TURNS: usize = 3;

impl Roughness {
    /// Nothing is known of streams of up to `longest` packets yet.
    pub(super) fn new(longest: usize) -> Roughness {
        Roughness { mean: 0.0, lowest: Lowest::default(), swings: Vec::with_capacity(longest) }
    }

    /// Another stream arrived. Returns up to which difference its delays count as equal: the noise, or zero while a
    /// queue stands.
    pub(super) fn on_stream(&mut self, samples: &[Sample]) -> Duration {
        let Some(least) = samples.iter().min_by_key(|sample| sample.delay) else { return Duration::ZERO };
        self.mean += (self.median_swing(samples) - self.mean) * WEIGHT;
        let noise = (self.mean * NOISE).min(LONGEST);
        let queue = self.lowest.on_delay(least.sent(), least.delay) as f64;
        if queue > noise * QUEUE { Duration::ZERO } else { Duration(noise as u64) }
    }

    /// The median, over the turning points of the delay, of the smaller of the swings before and after; zero if there
    /// are too few.
    fn median_swing(&mut self, samples: &[Sample]) -> f64 {
        self.swings.clear();
        let (mut before, mut swing) = (0i64, 0i64);
        for pair in samples.windows(2) {
            let change = pair[1].delay.saturating_sub(pair[0].delay);
            if change == 0 || swing == 0 || (change > 0) == (swing > 0) {
                swing = swing.saturating_add(change);
            } else {
                self.turn(before, swing);
                (before, swing) = (swing, change);
            }
        }
        self.turn(before, swing);
        let turns = self.swings.len();
        if turns < LEAST_TURNS || (turns as f64) < TURNS * samples.len() as f64 {
            return 0.0;
        }
        *self.swings.select_nth_unstable(turns / 2).1 as f64
    }

    /// The delay turned back between these two swings, ps. There is none before the first one.
    fn turn(&mut self, before: i64, after: i64) {
        if before != 0 {
            self.swings.push(before.saturating_abs().min(after.saturating_abs()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The longest noise, us, that is found in the last 20 of 40 streams of 32 packets. A packet leaves every `gap` us,
    /// and the delays are these, us.
    fn found(gap: i64, delay: impl Fn(i64) -> i64) -> i64 {
        let mut roughness = Roughness::new(32);
        let us = 1_000_000;
        let mut longest = Duration::ZERO;
        for stream in 0..40 {
            let sample = |index: i64| {
                let packet = stream * 32 + index;
                let (sent, delay) = (packet * gap * us, delay(packet) * us);
                Sample { index: index as u16, rate: 1e6, delay, arrival: sent + delay, packets: 1 }
            };
            let samples: Vec<_> = (0..32).map(sample).collect();
            let noise = roughness.on_stream(&samples);
            longest = if stream < 20 { longest } else { longest.max(noise) };
        }
        (longest.0 / us as u64) as i64
    }

    /// Uniform numbers up to `most`, the same for the same packet.
    fn uniform(packet: i64, most: i64) -> i64 {
        let mut hash = (packet as u64).wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        hash ^= hash >> 29;
        hash = hash.wrapping_mul(0xBF58_476D_1CE4_E5B9);
        ((hash >> 40) % most as u64) as i64
    }

    #[test]
    fn jitter_is_found_whether_it_is_shorter_or_longer_than_packets_are_apart() {
        let short = found(100, |packet| uniform(packet, 50));
        assert!((30..90).contains(&short), "{short} of 50 us");
        // Packets may not overtake those of the last 100 us.
        let in_order = |packet: i64| (0..10).map(|before| uniform(packet - before, 100) - 10 * before).max().unwrap();
        let long = found(10, in_order);
        assert!((30..130).contains(&long), "{long} of 100 us");
        assert_eq!(found(10, |packet| uniform(packet, 5000)), 200, "no more than that counts");
    }

    #[test]
    fn a_queue_is_no_noise() {
        assert_eq!(found(100, |packet| (packet % 32 - 12).abs() * 20), 0, "each stream drains it, and fills it again");
        assert_eq!(found(100, |packet| 10 * packet), 0, "it grows");
        assert_eq!(found(100, |packet| 10 * packet + uniform(packet, 50)), 0, "it grows behind jitter");
    }
}
