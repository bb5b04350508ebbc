//! Real time, in the units of `control`.

use control::{Duration, Time};
use std::time::{Instant, SystemTime};

/// A monotonic clock that showed [`Time::ZERO`] when it was started.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    origin: Instant,
}

impl Clock {
    /// A clock that starts now.
    pub fn start() -> Clock {
        Clock { origin: Instant::now() }
    }

    /// The present time.
    pub fn now(&self) -> Time {
        self.at(Instant::now())
    }

    /// The time at `instant`; zero if that was before the clock was started.
    pub fn at(&self, instant: Instant) -> Time {
        Time::ZERO + from_std(instant.saturating_duration_since(self.origin))
    }

    /// The instant at which the clock shows `time`, or the next one that the system can tell from it.
    pub fn instant(&self, time: Time) -> Instant {
        self.origin + std::time::Duration::from_nanos(time.0.div_ceil(1000))
    }

    /// The time of an event that the kernel stamped with its clock of the time of day: `stamp` after the beginning of
    /// 1970.
    pub fn of_stamp(&self, stamp: std::time::Duration) -> Time {
        // In this order, an interruption between the two readings makes the event seem later than it was, and no packet
        // leaves early.
        let day = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let now = self.now();
        now - from_std(day.saturating_sub(stamp))
    }
}

/// The duration in picoseconds, as `control` has them; [`Duration::MAX`] if it is too long for that.
pub fn from_std(duration: std::time::Duration) -> Duration {
    Duration(u64::try_from(duration.as_nanos().saturating_mul(1000)).unwrap_or(u64::MAX))
}

/// The duration in whole nanoseconds, as the standard library has them; the rest is cut off.
pub fn to_std(duration: Duration) -> std::time::Duration {
    std::time::Duration::from_nanos(duration.0 / 1000)
}
