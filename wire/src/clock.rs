//! The wall clock as the controllers' [`Time`].

use control::{Duration, Time};
use std::time::Instant;

/// A monotonic clock that began at [`Time::ZERO`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    epoch: Instant,
}

impl Clock {
    /// A clock that begins now.
    pub(crate) fn new() -> Clock {
        Clock { epoch: Instant::now() }
    }

    /// What it shows.
    pub(crate) fn now(self) -> Time {
        self.at(Instant::now())
    }

    /// What it showed at `instant`; zero for what was before it began.
    pub(crate) fn at(self, instant: Instant) -> Time {
        Time::ZERO + from_std(instant.saturating_duration_since(self.epoch))
    }
}

/// Nanoseconds to picoseconds; what is too long becomes [`Duration::MAX`].
pub(crate) fn from_std(duration: std::time::Duration) -> Duration {
    Duration(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX).saturating_mul(1000))
}

/// Picoseconds to whole nanoseconds.
pub(crate) fn to_std(duration: Duration) -> std::time::Duration {
    std::time::Duration::from_nanos(duration.0 / 1000)
}
