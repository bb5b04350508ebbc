//! The queueing delay that LEDBAT and LEDBAT++ control: what the newest round-trip times exceed the base delay by.

use crate::recent::Recent;
use crate::units::{Duration, Time};

/// CURRENT_FILTER (RFC 6817, section 2.5): of how many samples the least is the present delay.
const CURRENT_FILTER: usize = 4;
/// Into how many parts the base history is divided, so that a part is a minute of ten (RFC 6817, section 2.5).
const BASE_PARTS: usize = 10;

/// The base delay and the present delay of one flow.
pub(super) struct QueueingDelay {
    /// BASE_HISTORY.
    history: Duration,
    base: Recent<BASE_PARTS>,
    /// Base delay, seconds; infinite before the first sample.
    pub(super) base_delay: f64,
    /// The newest samples, seconds; infinite where there is none yet.
    current: [f64; CURRENT_FILTER],
    /// Index of the oldest of these.
    oldest: usize,
}

impl QueueingDelay {
    /// Before the first sample. The base delay is the least of the last `history`.
    pub(super) fn new(history: Duration) -> QueueingDelay {
        QueueingDelay {
            history,
            base: Recent::new(),
            base_delay: f64::INFINITY,
            current: [f64::INFINITY; CURRENT_FILTER],
            oldest: 0,
        }
    }

    /// Adds a sample, if there is one.
    pub(super) fn sample(&mut self, now: Time, rtt: Option<Duration>) {
        let Some(rtt) = rtt.map(Duration::as_secs).filter(|&rtt| rtt > 0.0) else { return };
        self.base.add(now, self.history, rtt);
        self.base_delay = self.base.least(now, self.history);
        self.current[self.oldest] = rtt;
        self.oldest = (self.oldest + 1) % CURRENT_FILTER;
    }

    /// The queueing delay in seconds; zero before the first sample.
    pub(super) fn seconds(&self) -> f64 {
        let current = self.current.iter().fold(f64::INFINITY, |least, &delay| least.min(delay));
        if current.is_finite() { (current - self.base_delay).max(0.0) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Time {
        Time::ZERO + Duration::from_millis(1000 * seconds)
    }

    fn ms(ms: u64) -> Option<Duration> {
        Some(Duration::from_millis(ms))
    }

    #[test]
    fn the_delay_is_the_least_of_four_samples_less_the_base_delay() {
        let mut delay = QueueingDelay::new(Duration::from_millis(600_000));
        assert_eq!(delay.seconds(), 0.0);
        let delays = [(50, 0), (90, 0), (80, 0), (70, 0), (75, 20), (200, 20), (200, 20), (65, 15)];
        for (rtt, expected) in delays {
            delay.sample(at(0), ms(rtt));
            assert!((delay.seconds() - f64::from(expected) / 1e3).abs() < 1e-9, "{rtt} ms: {}", delay.seconds());
        }
    }

    #[test]
    fn the_base_delay_is_forgotten_after_ten_minutes() {
        let mut delay = QueueingDelay::new(Duration::from_millis(600_000));
        delay.sample(at(1), ms(50));
        for second in 2..600 {
            delay.sample(at(second), ms(120));
            assert!(second > 540 || delay.base_delay == 0.05, "{second} s");
        }
        delay.sample(at(602), ms(120));
        assert_eq!((delay.base_delay, delay.seconds()), (0.12, 0.0));
    }
}
