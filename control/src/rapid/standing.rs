//! The queue that stands.
//!
//! The onset of congestion shows a queue that grows. One that stands, of flows whose rates add up to just what the link carries, delays all packets
//! of a stream alike and looks like none. But not even the fastest of them took as short as the path once did.
//!
//! It is measured in round-trip times: a queue on the way back counts, too.

use crate::units::{Duration, Time};

/// Measures it in round-trip times.
#[derive(Clone, Debug)]
pub struct Standing {
    /// The least round-trip time of the window of time before the present one, and of that one, which began then.
    least: [Duration; 2],
    since: Time,
    /// The least of so many since then, and what the ones before said of the queue.
    latest: Duration,
    samples: u32,
    queue: Duration,
}

/// Twice as long as this at most, a route that has become longer passes for a queue: as BBR remembers the least round-trip time.
const WINDOW: Duration = Duration::from_millis(10_000);

/// Of fewer packets, jitter passes for a queue.
const ENOUGH: u32 = 8;

impl Default for Standing {
    fn default() -> Standing {
        Standing {
            least: [Duration::MAX; 2],
            since: Time::ZERO,
            latest: Duration::MAX,
            samples: 0,
            queue: Duration::ZERO,
        }
    }
}

impl Standing {
    /// A packet's round-trip time.
    pub fn on_rtt(&mut self, now: Time, rtt: Duration) {
        if now >= self.since + WINDOW {
            let before = if now < self.since + WINDOW + WINDOW { self.least[1] } else { Duration::MAX };
            self.least = [before, Duration::MAX];
            self.since = now;
        }
        self.least[1] = self.least[1].min(rtt);
        self.latest = self.latest.min(rtt);
        self.samples = self.samples.saturating_add(1);
    }

    /// A stream begins: the least time that packets spent in queues, of those acknowledged since the last one began or, if they are few, some before.
    pub fn queue(&mut self) -> Duration {
        if self.samples >= ENOUGH {
            self.samples = 0;
            self.queue = Duration(self.latest.0.saturating_sub(self.least[0].min(self.least[1]).0));
            self.latest = Duration::MAX;
        }
        self.queue
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(standing: &mut Standing, second: u64, rtts: &[u64]) -> u64 {
        let now = Time::ZERO + Duration::from_millis(1000 * second);
        rtts.iter().for_each(|ms| standing.on_rtt(now, Duration::from_millis(*ms)));
        standing.queue().0 / Duration::from_millis(1).0
    }

    #[test]
    fn not_even_the_fastest_packet_is_as_fast_as_once() {
        let mut standing = Standing::default();
        assert_eq!(queue(&mut standing, 1, &[]), 0, "nothing is known");
        assert_eq!(queue(&mut standing, 1, &[130, 100, 120, 150, 110, 130, 120, 120]), 0);
        assert_eq!(queue(&mut standing, 2, &[140, 110, 120, 120, 140, 140, 120, 120]), 10);
        assert_eq!(queue(&mut standing, 2, &[150; 7]), 10, "too few");
        assert_eq!(queue(&mut standing, 3, &[140]), 40);
        assert_eq!(queue(&mut standing, 4, &[]), 40, "nothing new");
        assert_eq!(queue(&mut standing, 5, &[150, 90, 150, 150, 150, 150, 150, 150]), 0);
    }

    #[test]
    fn a_longer_route_passes_for_a_queue_for_a_while() {
        let mut standing = Standing::default();
        assert_eq!(queue(&mut standing, 1, &[100; 8]), 0);
        let queues = [5, 12, 19, 23].map(|second| queue(&mut standing, second, &[150; 8]));
        assert_eq!(queues, [50, 50, 50, 0]);
        assert_eq!(queue(&mut standing, 300, &[200; 8]), 0, "what was known before a long rest is out of date");
    }
}
