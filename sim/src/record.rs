//! What is recorded of a flow, beside its [`Samples`](crate::samples::Samples).

use crate::host::round_trips::RoundTrips;
use control::{Bytes, Time};
use experiment::Acquire;

/// See the [module](self). Few packets need it; so it is not in the flow, but beside those of other flows.
pub struct Record {
    /// When the flow starts.
    pub start: Time,
    /// Detects the time from which the flow has the spare capacity.
    pub acquire: Acquire,
    /// When the last byte of the flow arrived; [`Time::MAX`] until then.
    pub completed: Time,
    /// How many looks were taken at the source.
    pub looks: u32,
    /// How many looks were taken at the sink.
    pub sink_looks: u32,
    /// A look at the sink is taken before the first arrival after its time, as deliveries are known late, or at the
    /// end.
    pub waits: bool,
    /// At the last sample.
    pub before: Totals,
    /// Packets sent again until the last sample, modulo 2^32.
    pub retransmitted: u32,
    /// At the beginning of the measured interval; once that has ended, within the interval.
    pub measured: Totals,
}

/// Totals of a flow since its start.
#[derive(Clone, Copy, Default)]
pub struct Totals {
    /// Bytes delivered, without duplicates.
    pub delivered: Bytes,
    /// The samples of the round-trip time.
    pub round_trips: RoundTrips,
}

impl Record {
    /// Of a flow that starts at `start`.
    pub fn new(start: Time, acquire: Acquire) -> Record {
        Record {
            start,
            acquire,
            completed: Time::MAX,
            looks: 0,
            sink_looks: 0,
            waits: false,
            before: Totals::default(),
            retransmitted: 0,
            measured: Totals::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_record_takes_less_than_three_cache_lines() {
        assert_eq!(size_of::<super::Record>(), 184);
    }
}
