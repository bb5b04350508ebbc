//! Whether full packets get through with a header. It makes them larger than what QUIC has made sure of (RFC 9000, section 14): a
//! path that takes the 1280 bytes that every IPv6 path must (RFC 8200, section 5) takes QUIC's packets, and not these. And a peer that was
//! restarted knows no headers, only how to say so to QUIC.
//!
//! So packets that leave in a silence go without, and if only these end it, twice in a row, the stamps are given up.

/// After so many timeouts in a row it is a silence.
const SILENCE: u32 = 2;
/// Silences in a row that only plain packets ended, before stamps are given up. The end of one cut looks the same.
const ENOUGH: u32 = 2;

/// What has come of full packets.
#[derive(Debug, Default)]
pub(crate) struct Passage {
    /// A plain packet left in a silence, and none has been acknowledged yet.
    tried: bool,
    /// Silences that plain packets ended, since a stamped one was acknowledged.
    ended: u32,
}

impl Passage {
    /// Whether a packet that leaves after so many `timeouts` in a row is to have a stamp.
    pub(crate) fn is_open(&mut self, timeouts: u32) -> bool {
        self.tried |= timeouts >= SILENCE;
        timeouts < SILENCE
    }

    /// A full packet was acknowledged. Whether it is time to give up stamps.
    pub(crate) fn on_acked(&mut self, stamped: bool) -> bool {
        if stamped {
            *self = Passage::default();
        } else if self.tried {
            self.tried = false;
            self.ended += 1;
        }
        self.ended >= ENOUGH
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_are_given_up_when_only_plain_packets_end_silences() {
        let mut passage = Passage::default();
        let mut silence = |stamped| {
            assert!(passage.is_open(0) && passage.is_open(1), "a timeout is no silence");
            assert!(!passage.is_open(2));
            let gone = passage.on_acked(false);
            assert_eq!(passage.on_acked(false), gone, "all of one silence count once");
            gone || stamped && passage.on_acked(true)
        };
        assert!(!silence(true), "a cut");
        assert!(!silence(true), "another");
        assert!(!silence(false));
        assert!(silence(false));
    }

    #[test]
    fn what_was_on_its_way_before_the_stamps_says_nothing() {
        let mut passage = Passage::default();
        assert!((0..10).all(|_| !passage.on_acked(false)));
    }
}
