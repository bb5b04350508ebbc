//! quinn's pacing: a token bucket that fills at 1.25 windows per smoothed round-trip time (RFC 9002, section 7.7) and
//! has room for what that rate sends in two milliseconds, at least 10 and at most 256 packets. An empty bucket is filled
//! before more leaves, so that packets leave in bursts of that size.

use control::{Duration, Time};

/// How much more than a window leaves per round trip.
const GAIN: f64 = 1.25;
/// The bucket has room for what a window per round trip sends in this time, in seconds.
const BURST: f64 = 2e-3;
/// The bounds of that room, in packets.
const LEAST: f64 = 10.0;
const MOST: f64 = 256.0;
/// quinn does not pace windows above this, in bytes.
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
    /// time in seconds, `window` is in bytes.
    pub(super) fn due(&mut self, now: Time, rtt: f64, window: u64, packet: u64) -> Time {
        if window > UNPACED || rtt <= 0.0 {
            return now;
        }
        let (packet, rate) = (packet as f64, GAIN * window as f64 / rtt);
        let room = (window as f64 * BURST / rtt).clamp(LEAST * packet, MOST * packet);
        let tokens = match self.tokens {
            Some(tokens) => tokens.min(room),
            None => {
                self.filled = now;
                room
            }
        };
        if tokens >= packet {
            self.tokens = Some(tokens);
            return now;
        }
        let tokens = (tokens + rate * now.since(self.filled).as_secs()).min(room);
        (self.tokens, self.filled) = (Some(tokens), now);
        if tokens >= packet { now } else { now + Duration::from_secs((room - tokens) / rate) }
    }

    /// A packet of `size` bytes leaves.
    pub(super) fn on_send(&mut self, size: u64) {
        self.tokens = self.tokens.map(|tokens| (tokens - size as f64).max(0.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 125 kB per round trip of 100 ms leave at 12.5 Mbit/s: 12.5 kB, ten packets, every 8 ms.
    #[test]
    fn packets_leave_in_bursts_at_a_quarter_more_than_the_window_per_round_trip() {
        // A flow need not begin at time zero.
        let start = Time::ZERO + Duration::from_secs(5.0);
        let (mut pacer, mut now, mut sent) = (Pacer::new(), start, Vec::new());
        while now < start + Duration::from_secs(1.0) {
            match pacer.due(now, 0.1, 125_000, 1250) {
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
        let mut pacer = Pacer::new();
        for _ in 0..1000 {
            assert_eq!(pacer.due(Time::ZERO, 0.1, 1 << 33, 1250), Time::ZERO);
            pacer.on_send(1250);
        }
    }
}
