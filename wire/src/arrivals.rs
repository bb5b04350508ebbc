//! The times of arrivals as receivers are told them.

use control::Time;
use realtime::from_std;
use std::time::Duration;

/// Counts the times of arrivals from the first of them, which is [`Time::ZERO`]: [`Time`] ends after 213 days, which an
/// endpoint may outlast.
#[derive(Default)]
pub(crate) struct Arrivals {
    first: Option<Duration>,
}

impl Arrivals {
    /// The time of an arrival `at` this time by [`MessageReader`](crate::receive::MessageReader)'s clock.
    pub(crate) fn time(&mut self, at: Duration) -> Time {
        let first = *self.first.get_or_insert(at);
        Time::ZERO + from_std(at.saturating_sub(first))
    }
}
