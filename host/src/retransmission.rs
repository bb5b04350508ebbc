//! The retransmission timer of a host (RFC 6298, sections 2 and 5).

use crate::round_trip::RoundTrip;
use control::{Duration, Time};

/// The least retransmission timeout. RFC 6298 says 1 s. Linux uses 200 ms, too, but as the least margin of the timeout
/// over the smoothed round-trip time, and so do the simulator's hosts unless a scenario says otherwise.
const SHORTEST: Duration = Duration::from_millis(200);
/// The longest retransmission timeout, with all back-off (section 2.5).
const LONGEST: Duration = Duration::from_millis(60_000);
/// The retransmission timeout before the first sample of the round-trip time (section 2.1).
pub(crate) const FIRST_TIMEOUT: Duration = Duration::from_millis(1000);
/// The timeout is doubled at most this many times. [`LONGEST`] is reached before.
const DOUBLINGS: u32 = 16;

/// The retransmission timer. It runs from the last acknowledgment, from the first packet sent when nothing was in
/// flight, or from the last timeout, whichever is the latest.
#[derive(Debug, Default)]
pub(crate) struct RetransmissionTimer {
    rtt: RoundTrip,
    /// When the timer was started.
    started: Time,
    /// Timeouts since the last acknowledgment.
    timeouts: u32,
}

impl RetransmissionTimer {
    /// The smoothed round-trip time; none before the first sample.
    pub(crate) fn rtt(&self) -> Option<Duration> {
        self.rtt.smoothed()
    }

    /// The time within which an answer is expected: SRTT + 4 RTTVAR, without a lower bound and without back-off.
    pub(crate) fn answer_time(&self) -> Duration {
        match (self.rtt.smoothed(), self.rtt.variation()) {
            (Some(smoothed), Some(variation)) => smoothed + Duration(variation.0.saturating_mul(4)),
            _ => FIRST_TIMEOUT,
        }
    }

    /// Timeouts since the last acknowledgment.
    pub(crate) fn timeouts(&self) -> u32 {
        self.timeouts
    }

    /// The retransmission timeout, without back-off.
    pub(crate) fn timeout(&self) -> Duration {
        self.answer_time().max(SHORTEST)
    }

    /// When the timer expires. Each timeout in a row doubles the time (section 5.5).
    pub(crate) fn expires(&self) -> Time {
        let backed_off = Duration(self.timeout().0.saturating_mul(1 << self.timeouts.min(DOUBLINGS)));
        self.started + backed_off.min(LONGEST)
    }

    /// A packet leaves while nothing is in flight (section 5.1).
    pub(crate) fn start(&mut self, now: Time) {
        self.started = now;
    }

    /// Something was acknowledged, with this sample of the round-trip time if there is one (section 5.3).
    pub(crate) fn on_ack(&mut self, now: Time, rtt: Option<Duration>) {
        (self.started, self.timeouts) = (now, 0);
        if let Some(rtt) = rtt {
            self.rtt.sample(rtt);
        }
    }

    /// The timer has expired (sections 5.5 and 5.6).
    pub(crate) fn on_timeout(&mut self, now: Time) {
        self.started = now;
        self.timeouts += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_timeout_in_a_row_takes_twice_as_long_up_to_a_minute() {
        let mut timer = RetransmissionTimer::default();
        assert_eq!(timer.expires(), Time::ZERO + FIRST_TIMEOUT);
        timer.on_ack(Time::ZERO, Some(Duration::from_millis(100)));
        assert_eq!(timer.expires(), Time::ZERO + Duration::from_millis(300), "100 ms and 4 times 50 ms");
        let mut expiries = (0..10).map(|_| {
            timer.on_timeout(Time::ZERO);
            timer.expires()
        });
        assert_eq!(expiries.next(), Some(Time::ZERO + Duration::from_millis(600)));
        assert_eq!(expiries.last(), Some(Time::ZERO + Duration::from_millis(60_000)));
        timer.on_ack(Time::ZERO, None);
        assert_eq!(timer.expires(), Time::ZERO + Duration::from_millis(300));
        (0..100).for_each(|_| timer.on_ack(Time::ZERO, Some(Duration::from_millis(10))));
        assert_eq!(timer.expires(), Time::ZERO + Duration::from_millis(200), "the lower bound");
    }
}
