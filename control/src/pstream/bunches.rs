//! Finds streams whose packets arrived in bunches: behind an interrupt per 100 us, a switch that collects packets, a
//! system call that returns many (PACKET-SCALE-2017, sections VI-A and VI-B). In such a *buffering event*, a gap much
//! longer than the others, for which packets were held back, is followed by gaps near zero.

use crate::units::Duration;

/// Packets that arrive no further apart within a buffering event came together, unless a protocol's parameters say
/// otherwise. Software hands on a batch of packets in fractions of that per packet; the queues of links of up to 8 Gbps
/// take longer (at 1000 B).
pub const SMOOTHING: Duration = Duration::from_micros(1);
/// A buffering event begins with a gap more than this many times as long as the longest gap within one.
const SPIKE: u64 = 8;
/// A stream needs smoothing if at least one of this many packets came with the one before it.
const MANY: usize = 16;

/// Watches a stream's arrivals for buffering events.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bunches {
    /// Packets that arrived no further apart came together; zero: none do.
    within: Duration,
    /// The last gap began a buffering event, or was one near zero within one.
    inside: bool,
    /// How many packets came with the one before them, within buffering events.
    followers: usize,
}

impl Bunches {
    /// Gaps of up to `within` are near zero; if that is zero, nothing is a buffering event.
    pub fn new(within: Duration) -> Bunches {
        Bunches { within, ..Bunches::default() }
    }

    /// Gaps of up to this length are near zero.
    pub fn within(&self) -> Duration {
        self.within
    }

    /// A new stream begins.
    pub fn reset(&mut self) {
        *self = Bunches::new(self.within);
    }

    /// A packet arrived `gap` after the one before it.
    #[inline]
    pub fn on_gap(&mut self, gap: Duration) {
        let follows = gap <= self.within;
        self.followers += (follows && self.inside) as usize;
        // Gaps that shrink little by little, as in slow start, are no buffering event.
        self.inside = if follows { self.inside } else { gap.0 > SPIKE * self.within.0 };
    }

    /// Whether a stream of `len` packets cannot be analysed packet by packet.
    pub fn are_many(&self, len: usize) -> bool {
        self.within > Duration::ZERO && self.followers * MANY >= len
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn followers(gaps: &[u64]) -> usize {
        let mut bunches = Bunches::new(Duration::from_micros(1));
        gaps.iter().for_each(|&gap| bunches.on_gap(Duration::from_micros(gap)));
        bunches.followers
    }

    #[test]
    fn a_buffering_event_is_a_long_gap_and_then_gaps_near_zero() {
        assert_eq!(followers(&[100, 0, 1, 0, 100, 0]), 4);
        assert_eq!(followers(&[64, 32, 16, 8, 4, 2, 1, 0, 0]), 0, "slow start, up to high rates");
        assert_eq!(followers(&[8, 8, 8, 100, 8, 8]), 0, "other traffic, and the queue behind it");
        assert!(!Bunches::new(Duration::ZERO).are_many(0));
    }
}
