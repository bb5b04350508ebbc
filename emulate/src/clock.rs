//! Real time, in the units of `path`.

use control::Time;
use nix::sys::time::TimeSpec;
use std::time::{Duration, Instant, SystemTime};

/// Real time since a beginning.
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
        Time(picoseconds(self.origin.elapsed()))
    }

    /// The time of what the kernel stamped with `stamp`, by its clock of the time of day.
    pub fn of_stamp(&self, stamp: TimeSpec) -> Time {
        // In this order: who is interrupted between the two takes a packet for younger than it is, and lets none leave early.
        let day = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let now = self.now();
        let age = day.saturating_sub(Duration::from(stamp));
        now - control::Duration(picoseconds(age))
    }
}

fn picoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos().saturating_mul(1000)).unwrap_or(u64::MAX)
}
