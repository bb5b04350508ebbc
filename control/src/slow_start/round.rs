//! The rounds of a slow start, and the least round-trip time in each.

use crate::units::{Duration, Time};

/// The present round. It ends with the first acknowledgment of a packet that was sent after it began, with which the
/// next round begins (RFC 9406, section 4.2: `windowEnd`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Round {
    /// When it began.
    pub began: Time,
    /// Its least round-trip time; none before the first.
    pub least: Option<Duration>,
    /// The number of its round-trip times.
    pub samples: u32,
}

impl Round {
    /// An acknowledgment arrives after a round-trip time of `rtt`, which [`Round::sample`] has not been told yet.
    /// Returns the round that it ends, if it ends one.
    pub fn end(&mut self, now: Time, rtt: Duration) -> Option<Round> {
        (now - rtt >= self.began).then(|| core::mem::replace(self, Round { began: now, least: None, samples: 0 }))
    }

    /// Adds a round-trip time. Returns the least of the round so far.
    pub fn sample(&mut self, rtt: Duration) -> Duration {
        let least = self.least.map_or(rtt, |least| least.min(rtt));
        self.least = Some(least);
        self.samples += 1;
        least
    }
}
