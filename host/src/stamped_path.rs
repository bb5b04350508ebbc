//! Whether full packets with a stamp get through. A stamp makes a packet larger than what QUIC has made sure of (RFC
//! 9000, section 14): a path that takes only the 1280 bytes that every IPv6 path must take (RFC 8200, section 5) drops
//! them. A peer that was restarted does not know the stamps, and answers only to plain QUIC.
//!
//! So packets that leave during an outage carry no stamp, where an outage is two or more timeouts in a row, or a
//! timeout after which the sender goes on with a window and without stamps. If plain packets alone end two outages,
//! with no stamped packet acknowledged in between, stamps are given up for good.

/// The number of timeouts in a row from which on packets carry no stamp.
const OUTAGE: u32 = 2;
/// The number of outages ended by plain packets alone after which stamps are given up. One is not enough: the end of an
/// interruption of the path looks the same.
const ENOUGH: u32 = 2;

/// What became of full packets, with and without stamps.
#[derive(Debug, Default)]
pub(crate) struct StampedPath {
    /// A plain packet left during an outage, and no plain packet has been acknowledged since.
    tried_plain: bool,
    /// Outages that a plain packet ended, since a stamped one was acknowledged.
    ended_by_plain: u32,
}

impl StampedPath {
    /// Whether a packet that leaves after this number of `timeouts` in a row is to carry a stamp.
    pub(crate) fn takes_stamp(&mut self, timeouts: u32) -> bool {
        self.tried_plain |= timeouts >= OUTAGE;
        timeouts < OUTAGE
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
        self.ended_by_plain >= ENOUGH
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_are_given_up_when_only_plain_packets_end_outages() {
        let mut path = StampedPath::default();
        let mut outage = |stamped_follows| {
            assert!(path.takes_stamp(0) && path.takes_stamp(1), "one timeout is no outage");
            assert!(!path.takes_stamp(2));
            let gone = path.on_full_packet_acked(false);
            assert_eq!(path.on_full_packet_acked(false), gone, "an outage counts once");
            gone || stamped_follows && path.on_full_packet_acked(true)
        };
        assert!(!outage(true), "an interruption");
        assert!(!outage(true), "another one");
        assert!(!outage(false));
        assert!(outage(false));
    }

    #[test]
    fn plain_packets_sent_before_stamps_were_agreed_do_not_count() {
        let mut path = StampedPath::default();
        assert!((0..10).all(|_| !path.on_full_packet_acked(false)));
    }
}
