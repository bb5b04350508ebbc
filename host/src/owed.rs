//! Packets that may leave although the window is closed, because they carry an acknowledgment that is owed to the peer.
//!
//! A stack may put acknowledgments into packets of data, which then wait behind a closed window. If the peer's window
//! is closed, too, and waits for exactly these acknowledgments, neither end sends anything. Therefore, while more
//! packets have arrived than the packets sent since can have acknowledged, one packet may leave an interval after the
//! last one. The interval is an eighth of a round trip, and at least [`SHORTEST`]. It doubles with each such packet, up
//! to a round trip, until the window opens.

use control::{Duration, Time};

/// The least interval between the last packet and one that leaves for the acknowledgment it carries.
pub(crate) const SHORTEST: Duration = Duration::from_millis(5);
/// The first interval is this share of a round trip.
const SHARE: u64 = 8;

/// Which of the packets that arrived have been acknowledged, and what may leave for the others.
#[derive(Debug, Default)]
pub(crate) struct OwedAcks {
    /// How many packets had arrived when the latest of those that have left was built.
    answered: u64,
    /// Whether one packet may leave now.
    allowed: bool,
    /// How many packets left this way since the window was open last.
    passed: u32,
}

impl OwedAcks {
    /// Whether the peer is owed an acknowledgment, if `received` packets have arrived.
    pub(crate) fn is_owed(&self, received: u64) -> bool {
        received > self.answered
    }

    /// When one packet may leave for the acknowledgment it carries, if the last one left at `last`.
    pub(crate) fn due(&self, last: Option<Time>, rtt: Option<Duration>) -> Time {
        last.map_or(Time::ZERO, |last| last + self.interval(rtt))
    }

    fn interval(&self, rtt: Option<Duration>) -> Duration {
        let shares = 1 << self.passed.min(SHARE.ilog2());
        rtt.map_or(SHORTEST, |rtt| SHORTEST.max(Duration(rtt.0 / SHARE * shares)))
    }

    /// Whether one packet may leave now.
    pub(crate) fn is_allowed(&self) -> bool {
        self.allowed
    }

    /// No packet may leave for its acknowledgment alone.
    pub(crate) fn forbid(&mut self) {
        self.allowed = false;
    }

    /// Lets one packet leave now.
    pub(crate) fn allow(&mut self) {
        self.allowed = true;
        self.passed += 1;
    }

    /// The window is open: packets leave by themselves.
    pub(crate) fn on_open_window(&mut self) {
        self.passed = 0;
    }

    /// A packet leaves that was built when `received` packets had arrived.
    pub(crate) fn on_sent(&mut self, received: u64) {
        self.allowed = false;
        self.answered = self.answered.max(received);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;

    #[test]
    fn the_interval_doubles_with_each_packet_until_the_window_opens() {
        let (mut owed, rtt) = (OwedAcks::default(), Duration::from_millis(80));
        let mut intervals = vec![owed.interval(Some(rtt))];
        for _ in 0..5 {
            owed.allow();
            intervals.push(owed.interval(Some(rtt)));
        }
        assert_eq!(intervals, [10, 20, 40, 80, 80, 80].map(Duration::from_millis));
        owed.on_open_window();
        assert_eq!(owed.interval(Some(rtt)), Duration::from_millis(10));
        assert_eq!([owed.interval(None), owed.interval(Some(Duration::from_millis(8)))], [SHORTEST; 2]);
    }

    #[test]
    fn a_packet_acknowledges_what_had_arrived_when_it_was_built() {
        let mut owed = OwedAcks::default();
        assert!(!owed.is_owed(0) && owed.is_owed(1));
        owed.on_sent(1);
        assert!(!owed.is_owed(1) && owed.is_owed(2));
        owed.on_sent(0);
        assert!(!owed.is_owed(1), "a packet that was built earlier takes nothing back");
    }
}
