//! The estimates that come back to a sender: which of them are new, and when the last one came.

use crate::units::{Duration, Time};

/// The round-trip time to count with before the first one is measured.
pub const INITIAL_RTT: Duration = Duration::from_millis(250);

/// The feedback timeout, in round trips or lengths of a stream. A sender that hears of none of its streams for so long
/// must slow down.
const TIMEOUT: u64 = 4;

/// How long a sender may go on without a new estimate, whose streams last `stream` each: **decided**, four times that
/// or the round-trip time.
pub fn feedback_timeout(rtt: Duration, stream: Duration) -> Duration {
    Duration(rtt.max(stream).0.saturating_mul(TIMEOUT))
}

/// What a sender knows of the estimates that have come back.
#[derive(Clone, Copy, Debug)]
pub struct Feedback {
    /// The last estimate came at this time, or the feedback timeout began anew.
    heard: Time,
    /// The stream of the newest estimate.
    newest: u32,
    /// The first stream whose estimate is of interest.
    oldest: u32,
}

impl Default for Feedback {
    fn default() -> Feedback {
        Feedback { heard: Time::ZERO, newest: u32::MAX, oldest: 0 }
    }
}

impl Feedback {
    /// A report brought the estimate of `stream`: whether that is new. Reports come several times, and reports of
    /// streams from before [`Feedback::ignore_before`] do not count.
    pub fn on_estimate(&mut self, now: Time, stream: u32) -> bool {
        if stream == self.newest || (stream.wrapping_sub(self.oldest) as i32) < 0 {
            return false;
        }
        (self.newest, self.heard) = (stream, now);
        true
    }

    /// Estimates of streams before this one are out of date.
    pub fn ignore_before(&mut self, stream: u32) {
        self.oldest = stream;
    }

    /// The feedback timeout begins anew.
    pub fn restart(&mut self, now: Time) {
        self.heard = now;
    }

    /// When the feedback timeout ends, if it is this long.
    pub fn deadline(&self, timeout: Duration) -> Time {
        self.heard + timeout
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
