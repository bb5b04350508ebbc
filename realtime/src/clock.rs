//! Real time, in the units of `control`.

use control::{Duration, Time};
use std::time::{Instant, SystemTime};

/// A monotonic clock that began at [`Time::ZERO`].
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    origin: Instant,
}

impl Clock {
    /// Time begins.
    pub fn start() -> Clock {
        Clock { origin: Instant::now() }
    }

    /// The time.
    pub fn now(&self) -> Time {
        self.at(Instant::now())
    }

    /// The time at `instant`; zero for what was before it began.
    pub fn at(&self, instant: Instant) -> Time {
        Time::ZERO + from_std(instant.saturating_duration_since(self.origin))
    }

    /// The time of what the kernel stamped so long after 1970, by its clock of the time of day.
    pub fn of_stamp(&self, stamp: std::time::Duration) -> Time {
        // In this order: who is interrupted between the two takes a packet for younger than it is, and lets none leave early.
        let day = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let now = self.now();
        now - from_std(day.saturating_sub(stamp))
    }
}

/// Nanoseconds to picoseconds; what is too long becomes [`Duration::MAX`].
pub fn from_std(duration: std::time::Duration) -> Duration {
    Duration(u64::try_from(duration.as_nanos().saturating_mul(1000)).unwrap_or(u64::MAX))
}

/// Picoseconds to whole nanoseconds.
pub fn to_std(duration: Duration) -> std::time::Duration {
    std::time::Duration::from_nanos(duration.0 / 1000)
}
