//! The standing queue.
//!
//! The onset of congestion shows a growing queue. A standing queue persists when the rates of all flows add up to just
//! the capacity of the link. It delays all packets of a stream by the same time, so that their one-way delays do not
//! show it. But then even the shortest round-trip time of a stream is longer than the shortest one that the path once
//! had. As the standing queue is measured by round-trip times, a queue on the way back counts, too.
//!
//! Where the round-trip time wanders by itself ([`Wander`]), a queue as long as it wanders does not count.

use super::wander::Wander;
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
    /// How the least round-trip times of the measurements wander.
    wander: Wander,
    /// When a packet was last acknowledged.
    heard: Time,
}

/// The least number of round-trip times in a measurement. With fewer, jitter would count as a queue.
const MIN_SAMPLES: u32 = 8;
/// Round-trip times that wander stay within this multiple of their scale: four deviations, if they are normal.
const WANDERS: u64 = 40;

impl Default for StandingQueue {
    fn default() -> StandingQueue {
        StandingQueue {
            least: LeastRtt::new(),
            least_since: Duration::MAX,
            samples: 0,
            queue: Duration::ZERO,
            tolerated: Duration::ZERO,
            windows: 0,
            wander: Wander::default(),
            heard: Time::ZERO,
        }
    }
}

impl StandingQueue {
    /// A packet was acknowledged after this round-trip time.
    pub fn on_rtt(&mut self, now: Time, rtt: Duration) {
        if self.least.on_rtt(now, rtt) {
            self.windows = self.windows.saturating_sub(1);
        }
        self.heard = now;
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

    /// The queueing delay that may be the wandering of the path.
    pub fn wanders(&self) -> Duration {
        Duration((self.wander.scale() as u64).saturating_mul(WANDERS))
    }

    /// Packets were dropped by a full queue, so that the round-trip time wandered because of its flows.
    pub fn on_loss(&mut self) {
        self.wander.forget();
    }

    /// The least time that any packet acknowledged since the last measurement waited in queues. If fewer than
    /// eight were acknowledged since, returns the last result.
    pub fn measure(&mut self) -> Duration {
        if self.samples >= MIN_SAMPLES {
            self.samples = 0;
            self.wander.on_least(self.heard.0 as i64, self.least_since.0 as i64);
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
    fn a_round_trip_time_that_wanders_is_no_queue() {
        let hear = |rtts: [u64; 2]| {
            let mut standing = StandingQueue::default();
            for i in 0..40 {
                let now = Time::ZERO + Duration::from_millis(60 * i);
                (0..8).for_each(|_| standing.on_rtt(now, Duration::from_millis(rtts[i as usize % 2])));
                standing.measure();
            }
            standing
        };
        assert_eq!(hear([100, 100]).wanders(), Duration::ZERO);
        let mut standing = hear([100, 103]);
        assert_eq!(standing.wanders(), Duration::from_millis(120));
        standing.on_loss();
        assert_eq!(standing.wanders(), Duration::ZERO);
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
