//! The pacing of the libraries: a token bucket.
//!
//! For a controller without a rate of its own it fills at 1.25 windows per smoothed round-trip time (RFC 9002, section
//! 7.7), and an empty bucket is filled before more leaves, so that packets leave in bursts of its size. A rate of the
//! controller's own fills it as it is, and a packet leaves as soon as there is enough for it.

use super::guest::Guest;
use control::{Duration, Time};

/// How much more than a window leaves per round trip.
const GAIN: f64 = 1.25;
/// Windows above this are not paced, in bytes.
const UNPACED: u64 = u32::MAX as u64;

/// See the [module](self).
pub(super) struct Pacer {
    /// Bytes that may leave at once; none before the first packet, for which the bucket is full.
    tokens: Option<f64>,
    /// When the bucket was last filled.
    filled: Time,
}

impl Pacer {
    pub(super) fn new() -> Pacer {
        Pacer { tokens: None, filled: Time::ZERO }
    }

    /// When a packet of `packet` bytes may leave: now if that is no later than `now`. `rtt` is the smoothed round-trip
    /// time in seconds.
    pub(super) fn due(&mut self, now: Time, rtt: f64, guest: &impl Guest, packet: u64) -> Time {
        let (metrics, packet) = (guest.metrics(), packet as f64);
        let own = metrics.rate.map(|rate| rate.max(1) as f64);
        if own.is_none() && (metrics.window > UNPACED || rtt <= 0.0) {
            return now;
        }
        let per_rtt = metrics.window as f64 / rtt;
        let (rate, room) = (own.unwrap_or(GAIN * per_rtt), guest.burst(own.unwrap_or(per_rtt), packet));
        let tokens = match self.tokens {
            Some(tokens) => tokens.min(room),
            None => {
                self.filled = now;
                room
            }
        };
        // A bucket that is filled at a window per round trip is not filled while it has enough.
        if own.is_none() && tokens >= packet {
            self.tokens = Some(tokens);
            return now;
        }
        let tokens = (tokens + rate * now.since(self.filled).as_secs()).min(room);
        (self.tokens, self.filled) = (Some(tokens), now);
        let enough = packet.min(room);
        if tokens >= enough {
            return now;
        }
        let target = if own.is_some() { enough } else { room };
        now + Duration::from_secs((target - tokens) / rate).max(Duration(1))
    }

    /// A packet of `size` bytes leaves.
    pub(super) fn on_send(&mut self, size: u64) {
        self.tokens = self.tokens.map(|tokens| (tokens - size as f64).max(0.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::library::OfQuinn;
    use std::sync::Arc;
    use std::time::Instant;

    /// A controller of quinn with this window.
    fn with_window(window: u64) -> OfQuinn {
        let mut config = quinn_proto::congestion::NewRenoConfig::default();
        config.initial_window(window);
        OfQuinn::new(Arc::new(config), Instant::now(), 1250)
    }

    /// 125 kB per round trip of 100 ms leave at 12.5 Mbit/s: 12.5 kB, ten packets, every 8 ms.
    #[test]
    fn packets_leave_in_bursts_at_a_quarter_more_than_the_window_per_round_trip() {
        // A flow need not begin at time zero.
        let start = Time::ZERO + Duration::from_secs(5.0);
        let (mut pacer, mut now, mut sent) = (Pacer::new(), start, Vec::new());
        let guest = with_window(125_000);
        while now < start + Duration::from_secs(1.0) {
            match pacer.due(now, 0.1, &guest, 1250) {
                due if due > now => now = due,
                _ => {
                    pacer.on_send(1250);
                    sent.push(now);
                }
            }
        }
        assert!((1240..=1270).contains(&sent.len()), "{}", sent.len());
        assert_eq!(sent[9], start);
        assert!(sent[10] > sent[9]);
        assert_eq!(sent[10], sent[19]);
        assert!(sent[20] > sent[19]);
    }

    #[test]
    fn windows_above_four_gigabytes_are_not_paced() {
        let (mut pacer, guest) = (Pacer::new(), with_window(1 << 33));
        for _ in 0..1000 {
            assert_eq!(pacer.due(Time::ZERO, 0.1, &guest, 1250), Time::ZERO);
            pacer.on_send(1250);
        }
    }
}
