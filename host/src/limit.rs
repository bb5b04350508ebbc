//! The most that may be in flight, whatever a controller asks for: a small multiple of what acknowledgments have
//! confirmed. It bounds the harm that a wrong report of the receiver can do.

use control::{Bytes, Time};

/// How many times the bytes that were confirmed in the best recent round trip may be in flight. Slow start needs two.
/// Four, because a p-stream may find in one round trip a rate for which a window would have to double several times.
const MULTIPLE: u64 = 4;
/// How much may be in flight in addition, in packets. Enough for the first p-stream, before anything is confirmed.
const FLOOR: u64 = 64;
/// How many round trips count as recent, besides the present one.
const RECENT: usize = 8;
/// The limit is halved at most this many times.
const HALVINGS: u32 = 16;
/// The least that may be in flight after timeouts, in packets.
const LEAST: u64 = 2;

/// Bytes confirmed by acknowledgments in each of the last round trips.
#[derive(Debug, Default)]
pub(crate) struct ConfirmedLimit {
    /// When the present round trip began. It ends with the first acknowledgment of a packet sent since.
    began: Option<Time>,
    present: Bytes,
    rounds: [Bytes; RECENT],
    next: usize,
}

impl ConfirmedLimit {
    /// An acknowledgment confirms `size` bytes that were sent at `sent`.
    pub(crate) fn on_acked(&mut self, now: Time, sent: Time, size: Bytes) {
        if self.began.is_none_or(|began| sent >= began) {
            self.rounds[self.next] = self.present;
            self.next = (self.next + 1) % RECENT;
            (self.began, self.present) = (Some(now), Bytes(0));
        }
        self.present += size;
    }

    /// The most that may be in flight, for packets of `packet` bytes and after `timeouts` in a row. Each of them halves
    /// it, so that less and less is sent into a path that carries nothing.
    pub(crate) fn in_flight(&self, packet: Bytes, timeouts: u32) -> Bytes {
        let best = self.rounds.iter().copied().fold(self.present, Bytes::max);
        let limit = (FLOOR * packet.0).saturating_add(MULTIPLE.saturating_mul(best.0));
        Bytes((limit >> timeouts.min(HALVINGS)).max(LEAST * packet.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::Duration;
    use std::vec::Vec;

    const PACKET: Bytes = Bytes(1200);

    #[test]
    fn the_limit_follows_the_best_of_the_last_round_trips() {
        let at = |round: u64| Time::ZERO + Duration::from_millis(100 * round);
        let mut limit = ConfirmedLimit::default();
        assert_eq!(limit.in_flight(PACKET, 0).0, 64 * 1200);
        let mut round = |number: u64, packets: u64| {
            for _ in 0..packets {
                limit.on_acked(at(number + 1), at(number), PACKET);
            }
            limit.in_flight(PACKET, 0).0 / 1200
        };
        assert_eq!(round(0, 10), 64 + 40);
        assert_eq!(round(1, 1000), 64 + 4000);
        let later: Vec<u64> = (2..12).map(|number| round(number, 10)).collect();
        assert_eq!(later[..7], [64 + 4000; 7]);
        assert_eq!(later[8..], [64 + 40; 2], "the round trip of 1000 packets no longer counts");
    }

    #[test]
    fn each_timeout_halves_the_limit_down_to_two_packets() {
        let limit = ConfirmedLimit::default();
        let packets = [0, 1, 5, 6, 100].map(|timeouts| limit.in_flight(PACKET, timeouts).0 / 1200);
        assert_eq!(packets, [64, 32, 2, 2, 2]);
    }
}
