//! The standing queue.
//!
//! The onset of congestion shows a growing queue. A standing queue persists when the rates of all flows add up to just
//! the capacity of the link. It delays all packets of a stream by the same time, so that their one-way delays do not
//! show it. But then even the shortest round-trip time of a stream is longer than the shortest one that the path once
//! had. As the standing queue is measured by round-trip times, a queue on the way back counts, too.

use crate::least_rtt::LeastRtt;
use crate::units::{Duration, Time};

/// Measures how long packets wait in the standing queue.
#[derive(Clone, Debug)]
pub struct StandingQueue {
    /// The least round-trip time of the path. If the route becomes longer, this counts as a queue for 20 s at most.
    least: LeastRtt,
    /// The least round-trip time since the queue was last measured.
    least_since: Duration,
    /// The number of round-trip times since then.
    samples: u32,
    /// The queueing delay when it was last measured.
    queue: Duration,
    /// The queueing delay that is tolerated until the least round-trip time is forgotten, which takes two windows of
    /// time; how many are left.
    tolerated: Duration,
    windows: u32,
}

/// The least number of round-trip times in a measurement. With fewer, jitter would count as a queue.
const MIN_SAMPLES: u32 = 8;

impl Default for StandingQueue {
    fn default() -> StandingQueue {
        StandingQueue {
            least: LeastRtt::new(),
            least_since: Duration::MAX,
            samples: 0,
            queue: Duration::ZERO,
            tolerated: Duration::ZERO,
            windows: 0,
        }
    }
}

impl StandingQueue {
    /// A packet was acknowledged after this round-trip time.
    pub fn on_rtt(&mut self, now: Time, rtt: Duration) {
        if self.least.on_rtt(now, rtt) {
            self.windows = self.windows.saturating_sub(1);
        }
        self.least_since = self.least_since.min(rtt);
        self.samples = self.samples.saturating_add(1);
    }

    /// Others keep a queue of this delay, or the route has become longer by so much: it does not count until the least
    /// round-trip time of before is forgotten.
    pub fn tolerate(&mut self, queue: Duration) {
        (self.tolerated, self.windows) = (self.tolerated().max(queue), 2);
    }

    /// The queueing delay up to which the queue does not count.
    pub fn tolerated(&self) -> Duration {
        if self.windows > 0 { self.tolerated } else { Duration::ZERO }
    }

    /// The least time that any packet acknowledged since the last measurement waited in queues. If fewer than
    /// eight were acknowledged since, returns the last result.
    pub fn measure(&mut self) -> Duration {
        if self.samples >= MIN_SAMPLES {
            self.samples = 0;
            self.queue = Duration(self.least_since.0.saturating_sub(self.least.get().0));
            self.least_since = Duration::MAX;
        }
        self.queue
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(standing: &mut StandingQueue, second: u64, rtts: &[u64]) -> u64 {
        let now = Time::ZERO + Duration::from_millis(1000 * second);
        rtts.iter().for_each(|ms| standing.on_rtt(now, Duration::from_millis(*ms)));
        standing.measure().0 / Duration::from_millis(1).0
    }

    #[test]
    fn the_least_of_eight_round_trip_times_shows_the_queue() {
        let mut standing = StandingQueue::default();
        assert_eq!(queue(&mut standing, 1, &[]), 0, "nothing is known");
        assert_eq!(queue(&mut standing, 1, &[130, 100, 120, 150, 110, 130, 120, 120]), 0);
        assert_eq!(queue(&mut standing, 2, &[140, 110, 120, 120, 140, 140, 120, 120]), 10);
        assert_eq!(queue(&mut standing, 2, &[150; 7]), 10, "too few");
        assert_eq!(queue(&mut standing, 3, &[140]), 40);
        assert_eq!(queue(&mut standing, 4, &[]), 40, "nothing new");
        assert_eq!(queue(&mut standing, 5, &[150, 90, 150, 150, 150, 150, 150, 150]), 0);
    }

    #[test]
    fn a_longer_route_is_taken_for_a_queue_for_a_while() {
        let mut standing = StandingQueue::default();
        assert_eq!(queue(&mut standing, 1, &[100; 8]), 0);
        let queues = [5, 12, 19, 23].map(|second| queue(&mut standing, second, &[150; 8]));
        assert_eq!(queues, [50, 50, 50, 0]);
        assert_eq!(queue(&mut standing, 300, &[200; 8]), 0, "what was known before a long rest is out of date");
    }
}
