//! How much a sender may have in the network, whatever its controller says: a small multiple of what the peer's QUIC
//! acknowledgments have confirmed. It is what bounds the harm of a report that is wrong.

use std::time::Instant;

/// A controller may have this many times as much in flight as was confirmed in its best recent round trip. Twice is what
/// slow start needs; more, because a p-stream may find in one round trip what a window would double up to in many.
const MULTIPLE: u64 = 4;
/// This much may always be in flight, packets: a p-stream of slow start, and more.
const FLOOR: u64 = 64;
/// Round trips that count as recent.
const RECENT: usize = 8;

/// What was confirmed in the last round trips.
#[derive(Debug, Default)]
pub(crate) struct Confirmed {
    /// When the present round trip began: it ends with the first acknowledgment of a packet sent since.
    begin: Option<Instant>,
    present: u64,
    rounds: [u64; RECENT],
    next: usize,
}

impl Confirmed {
    /// `bytes` that were sent at `sent` are confirmed.
    pub(crate) fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64) {
        if self.begin.is_none_or(|begin| sent >= begin) {
            self.rounds[self.next] = self.present;
            self.next = (self.next + 1) % RECENT;
            (self.begin, self.present) = (Some(now), 0);
        }
        self.present += bytes;
    }

    /// The most that may be in flight, in bytes, for packets of `packet`.
    pub(crate) fn limit(&self, packet: u64) -> u64 {
        let best = self.rounds.iter().copied().fold(self.present, u64::max);
        FLOOR * packet + MULTIPLE * best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_limit_follows_the_best_of_the_last_round_trips() {
        let (start, rtt) = (Instant::now(), Duration::from_millis(100));
        let mut confirmed = Confirmed::default();
        assert_eq!(confirmed.limit(1200), 64 * 1200);
        let mut round = |at: u32, packets: u64| {
            for _ in 0..packets {
                confirmed.on_ack(start + (at + 1) * rtt, start + at * rtt, 1200);
            }
            confirmed.limit(1200) / 1200
        };
        assert_eq!(round(0, 10), 64 + 40);
        assert_eq!(round(1, 1000), 64 + 4000);
        let later: Vec<u64> = (2..12).map(|at| round(at, 10)).collect();
        assert_eq!(later[..7], [64 + 4000; 7]);
        assert_eq!(later[8..], [64 + 40; 2], "what was long ago does not count");
    }
}
