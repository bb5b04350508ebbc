//! The states of segments, and what follows from them: needed while one of them is not in flight.

use super::states::{SegmentState, States};
use crate::host::short_queue::ShortQueue;

/// Segments that were found lost, not to be lost, or to have arrived in another order than that in which they were
/// sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct News {
    /// How many times a segment was found lost.
    pub lost: u32,
    /// How many segments have arrived that counted as lost, or had been sent again.
    pub late: u32,
    /// Of these, how many had not been sent again.
    pub never_resent: u32,
    /// How many segments that were sent once have arrived after later ones.
    pub reordered: u32,
}

/// See the [module](self).
#[derive(Clone, Debug, Default)]
pub struct Marks {
    /// Those of all outstanding segments.
    pub states: States,
    /// What was found since [`Scoreboard::take_news`](super::Scoreboard::take_news).
    pub news: News,
    /// Number of segments in state [`SegmentState::Lost`].
    pub lost: u32,
    /// Number of segments in state [`SegmentState::Sacked`].
    pub sacked: u32,
    /// The three highest segments that have arrived, in descending order: segments below the third are lost.
    pub highest: [u64; 3],
    /// Below this segment, none is in state [`SegmentState::InFlight`].
    pub swept: u64,
    /// Below this segment, none is in state [`SegmentState::Lost`], except for those in `lost_again`.
    pub repaired: u64,
    /// All segments that were ever found lost are below this one.
    pub losses_end: u64,
    /// The order of the last retransmitted packet that was found lost.
    pub last_lost_again: Option<u32>,
    /// Segments sent again, in this order: the order of each among all packets of the flow, and its number, both modulo
    /// 2^32.
    pub resent: ShortQueue<[(u32, u32); 2]>,
    /// Segments that were sent again and lost again.
    pub lost_again: ShortQueue<[u64; 2]>,
}

impl News {
    /// A segment in this state has arrived, after a later one if it is an `earlier` one. Returns whether that is news.
    #[inline(always)]
    pub fn note(&mut self, state: SegmentState, earlier: bool) -> bool {
        let late = matches!(state, SegmentState::Lost | SegmentState::Resent);
        let reordered = state == SegmentState::InFlight && earlier;
        self.late += late as u32;
        self.never_resent += (state == SegmentState::Lost) as u32;
        self.reordered += reordered as u32;
        late | reordered
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn marks_take_three_cache_lines() {
        assert_eq!(size_of::<super::Marks>(), 168);
    }
}
