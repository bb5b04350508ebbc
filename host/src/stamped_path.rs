//! Whether full packets with a stamp get through. A stamp makes a packet larger than what QUIC has made sure of (RFC
//! 9000, section 14): a path that takes only the 1280 bytes that every IPv6 path must take (RFC 8200, section 5) drops
//! them. A peer that was restarted does not know the stamps, and answers only to plain QUIC.
//!
//! So packets that leave during an outage carry no stamp, where an outage is two or more timeouts in a row, or a
//! timeout after which the sender goes on with a window and without stamps. If plain packets alone end two outages,
//! and none of at least eight full packets with a stamp is acknowledged meanwhile, stamps are given up for good.

/// The number of timeouts in a row from which on packets carry no stamp.
const OUTAGE: u32 = 2;
/// The number of outages ended by plain packets alone after which stamps are given up. One is not enough: the end of an
/// interruption of the path looks the same.
const ENOUGH: u32 = 2;
/// The least number of full packets with a stamp, none of them acknowledged, after which stamps are given up. A path
/// that loses every third packet of any kind, or its acknowledgment, often loses two in a row, and eight in a row once
/// in 6500 times.
const TRIALS: u32 = 8;

/// What became of full packets, with and without stamps.
#[derive(Debug, Default)]
pub(crate) struct StampedPath {
    /// A plain packet left during an outage, and no plain packet has been acknowledged since.
    tried_plain: bool,
    /// Outages that a plain packet ended, since a full stamped packet was acknowledged.
    ended_by_plain: u32,
    /// Full packets that left with a stamp, since one of them was acknowledged.
    stamped: u32,
}

impl StampedPath {
    /// Whether a packet, which `is_full` or not, is to carry a stamp when it leaves after this number of `timeouts` in
    /// a row.
    pub(crate) fn takes_stamp(&mut self, timeouts: u32, is_full: bool) -> bool {
        let takes = timeouts < OUTAGE;
        self.tried_plain |= !takes;
        self.stamped = self.stamped.saturating_add(u32::from(takes && is_full));
        takes
    }

    /// There was a timeout while packets carried stamps, and the sender goes on without them.
    pub(crate) fn on_plain_again(&mut self) {
        self.tried_plain = true;
    }

    /// A full packet was acknowledged. Returns whether it is time to give stamps up.
    pub(crate) fn on_full_packet_acked(&mut self, stamped: bool) -> bool {
        if stamped {
            *self = StampedPath::default();
        } else if self.tried_plain {
            self.tried_plain = false;
            self.ended_by_plain += 1;
        }
        self.ended_by_plain >= ENOUGH && self.stamped >= TRIALS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An outage after `stamped` full packets with a stamp, which a plain packet ends. Returns whether stamps are given
    /// up.
    fn outage(path: &mut StampedPath, stamped: u32) -> bool {
        assert!((0..stamped).all(|i| path.takes_stamp(i % 2, true)), "one timeout is no outage");
        assert!(!path.takes_stamp(2, true));
        let gone = path.on_full_packet_acked(false);
        assert_eq!(path.on_full_packet_acked(false), gone, "an outage counts once");
        gone
    }

    #[test]
    fn stamps_are_given_up_when_only_plain_packets_end_outages() {
        let mut path = StampedPath::default();
        for _ in 0..2 {
            assert!(!outage(&mut path, 8), "an interruption");
            assert!(!path.on_full_packet_acked(true));
        }
        assert!(!outage(&mut path, 4));
        assert!(outage(&mut path, 4));
    }

    /// A path that loses many packets loses some stamped ones in a row. Small packets are no evidence at all.
    #[test]
    fn stamps_are_not_given_up_because_few_packets_are_lost() {
        let mut path = StampedPath::default();
        assert!((0..3).all(|_| !outage(&mut path, 2)));
        assert!((0..100).all(|_| path.takes_stamp(0, false)));
        assert!(!outage(&mut path, 1));
        assert!(outage(&mut path, 1), "eight now");
    }

    #[test]
    fn plain_packets_sent_before_stamps_were_agreed_do_not_count() {
        let mut path = StampedPath::default();
        assert!((0..10).all(|_| !path.on_full_packet_acked(false)));
    }
}
