//! The estimates that come back to a sender: which of them are new, and when the last one came.

use crate::units::{Duration, Time};

/// The round-trip time that is assumed before the first one is measured.
pub const INITIAL_RTT: Duration = Duration::from_millis(250);

/// The feedback timeout in multiples of the round-trip time or the stream's duration, whichever is longer. A sender
/// that receives no estimate for this time must slow down.
const TIMEOUT_FACTOR: u64 = 4;

/// The feedback timeout: **decided**, four times the larger of the RTT and the stream's duration.
pub fn feedback_timeout(rtt: Duration, stream_duration: Duration) -> Duration {
    Duration(rtt.max(stream_duration).0.saturating_mul(TIMEOUT_FACTOR))
}

/// What a sender knows of the estimates that have come back.
#[derive(Clone, Copy, Debug)]
pub struct Feedback {
    /// When the feedback timeout was last started.
    timeout_started: Time,
    /// The stream of the last estimate that was accepted; `u32::MAX` before the first.
    last: u32,
    /// The first stream whose estimate is accepted.
    oldest: u32,
}

impl Default for Feedback {
    fn default() -> Feedback {
        Feedback { timeout_started: Time::ZERO, last: u32::MAX, oldest: 0 }
    }
}

impl Feedback {
    /// A report brought the estimate of `stream`. Returns whether the estimate is accepted, and starts the feedback
    /// timeout again if so. It is not if it repeats the last one, or is of a stream that [`Feedback::ignore_before`]
    /// excluded.
    pub fn on_estimate(&mut self, now: Time, stream: u32) -> bool {
        if stream == self.last || (stream.wrapping_sub(self.oldest) as i32) < 0 {
            return false;
        }
        (self.last, self.timeout_started) = (stream, now);
        true
    }

    /// From now on, estimates of streams before this one are not accepted.
    pub fn ignore_before(&mut self, stream: u32) {
        self.oldest = stream;
    }

    /// Starts the feedback timeout again.
    pub fn restart(&mut self, now: Time) {
        self.timeout_started = now;
    }

    /// When the feedback timeout expires, if it lasts `timeout`.
    pub fn deadline(&self, timeout: Duration) -> Time {
        self.timeout_started + timeout
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_that_is_repeated_or_of_an_old_stream_is_not_new() {
        let mut feedback = Feedback::default();
        let new = [7, 7, 8, 7].map(|stream| feedback.on_estimate(Time(u64::from(stream)), stream));
        assert_eq!(new, [true, false, true, true]);
        feedback.ignore_before(10);
        assert!(!feedback.on_estimate(Time(99), 9) && feedback.on_estimate(Time(10), 10));
        assert_eq!(feedback.deadline(Duration(5)), Time(15));
    }

    #[test]
    fn the_timeout_is_four_round_trips_or_streams() {
        assert_eq!(feedback_timeout(Duration(5), Duration(3)), Duration(20));
        assert_eq!(feedback_timeout(Duration(5), Duration(7)), Duration(28));
    }
}
