//! Finds streams whose packets arrived in bunches, because of interrupt coalescing (say, one interrupt per 100 us), a
//! switch that collects packets, or a system call that returns many packets (PACKET-SCALE-2017, sections VI-A and
//! VI-B). In such a *buffering event*, packets are held back during one gap that is much longer than the others, and
//! then arrive with gaps near zero.

use crate::units::Duration;

/// The longest gap between packets that were held back together, unless a protocol's parameters say otherwise. Software
/// hands on a batch of packets with gaps of a fraction of a microsecond. A link of up to 8 Gbps takes at least a
/// microsecond per packet of 1000 B, so its queue is not mistaken for a batch.
pub const SMOOTHING: Duration = Duration::from_micros(1);
/// A buffering event begins with a gap that is more than this many times as long as the longest gap near zero.
const LONG_GAP_FACTOR: u64 = 8;
/// Fewer packets that arrived together with the one before them show nothing, however short the stream is.
const LEAST_FOLLOWERS: usize = 3;
/// A stream needs smoothing if at least one in this many packets arrived together with the packet before it.
pub(super) const PACKETS_PER_FOLLOWER: usize = 16;

/// Watches a stream's arrivals for buffering events.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bunches {
    /// The longest gap that is near zero; zero: no packets were held back.
    within: Duration,
    /// Whether the last gap began a buffering event, or was a gap near zero within one.
    inside: bool,
    /// How many packets arrived together with the packet before them, within buffering events.
    followers: usize,
}

impl Bunches {
    /// Gaps of up to `within` are near zero. If `within` is zero, nothing is a buffering event.
    pub fn new(within: Duration) -> Bunches {
        Bunches { within, ..Bunches::default() }
    }

    /// The longest gap that is near zero.
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
        self.inside =
            if follows { self.inside } else { self.within > Duration::ZERO && gap.0 > LONG_GAP_FACTOR * self.within.0 };
    }

    /// Whether the last packet is of a buffering event.
    pub fn is_inside(&self) -> bool {
        self.inside
    }

    /// Whether so many of the `len` packets of a stream were held back that it cannot be analysed packet by packet.
    pub fn are_many(&self, len: usize) -> bool {
        self.within > Duration::ZERO && self.followers * PACKETS_PER_FOLLOWER >= len
    }

    /// Whether at least half of the `len` packets of a stream, and at least three, were held back.
    pub fn are_most(&self, len: usize) -> bool {
        self.followers >= LEAST_FOLLOWERS.max(len.div_ceil(2))
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
