//! What a router protocol provides: parameters from which the router of one link is built.

use crate::roles::Router;
use crate::units::{Bytes, Duration, Rate, Time};
use alloc::{boxed::Box, string::String};

/// The parameters of a router protocol: a plain struct whose `Default` is the paper's choice. It builds the routers.
pub trait Routing: Send + Sync + 'static {
    /// Whether the parameters are valid. If not, the error names the parameter and says what to write instead.
    fn check(&self) -> Result<(), String>;

    /// The router of one direction of a link.
    fn router(&self, port: &Port) -> Box<dyn Router>;
}

/// The link in front of which a router's queue is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Port {
    /// The link's capacity.
    pub capacity: Rate,
    /// The size of the queue's buffer.
    pub buffer: Bytes,
}

/// The round-trip time in seconds that a stamp carries, as routers take it: none if the sender does not know it, and
/// between 1 us and 60 s otherwise, as in the parameters of the router protocols. Routers cannot tell who wrote a
/// stamp. With a shorter time, control intervals could be as short as a picosecond; with a longer one, a router that
/// has averaged it in would take hours to forget it.
pub fn stamped_rtt(rtt: f32) -> Option<f64> {
    (rtt > 0.0).then(|| f64::from(rtt).clamp(1e-6, 60.0))
}

/// The last of the times `due`, `due + every`, `due + 2 every` and so on that is not after `until`; `due` if that is.
pub fn last_due(due: Time, every: Duration, until: Time) -> Time {
    let past = until.since(due).0;
    due + Duration(past - past % every.0.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_interval_that_ends_in_time() {
        let last = |due, every, until| last_due(Time(due), Duration(every), Time(until)).0;
        assert_eq!((last(10, 3, 9), last(10, 3, 10), last(10, 3, 12)), (10, 10, 10));
        assert_eq!((last(10, 3, 13), last(10, 3, 21), last(10, 3, 22)), (13, 19, 22));
        assert_eq!(last(u64::MAX - 5, 3, u64::MAX), u64::MAX - 2);
    }

    #[test]
    fn a_stamp_that_claims_an_absurd_round_trip_time_is_taken_for_the_nearest_sensible_one() {
        assert_eq!((stamped_rtt(0.0), stamped_rtt(f32::NAN), stamped_rtt(0.25)), (None, None, Some(0.25)));
        assert_eq!((stamped_rtt(1e-45), stamped_rtt(f32::MAX)), (Some(1e-6), Some(60.0)));
    }
}
