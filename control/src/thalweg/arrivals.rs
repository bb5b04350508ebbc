//! The rate at which a flow's packets arrive, as a brake for estimates that are far too high.

use crate::roles::Ack;
use crate::units::{Bytes, Duration, Rate, Time};

/// Measures the rate at which packets are acknowledged, over a part of a round trip each time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Arrivals {
    /// Acknowledgments that arrive before this time are of packets that do not count.
    from: Time,
    /// When the present measurement began, and what was acknowledged since.
    present: Option<(Time, Bytes)>,
    /// The last measurement.
    rate: Option<Rate>,
}

/// A measurement takes at least one round trip over this number, and as long as [`PACKETS`] take to arrive; but no
/// longer than to the first acknowledgment after a whole round trip.
const PART: u64 = 4;
/// The number of packets that are enough for a measurement.
const PACKETS: u64 = 64;

impl Arrivals {
    /// Packets that were sent up to `now` do not count, and nothing is known of the others.
    pub fn forget(&mut self, now: Time, rtt: Duration) {
        *self = Arrivals { from: now + rtt, ..Arrivals::default() };
    }

    /// An acknowledgment arrives, of packets of this size.
    pub fn on_ack(&mut self, now: Time, ack: &Ack, rtt: Duration, packet: Bytes) {
        if ack.app_limited {
            return self.forget(now, rtt); // less arrives because less is sent
        }
        if now < self.from {
            return;
        }
        let Some((began, acked)) = &mut self.present else {
            self.present = Some((now, Bytes(0)));
            return;
        };
        *acked += ack.acked;
        let lasted = now.since(*began);
        if lasted >= rtt || lasted >= Duration(rtt.0 / PART) && acked.0 >= PACKETS * packet.0 {
            // A longer time is an outage: what comes behind it is not known.
            self.rate = (lasted <= rtt + rtt).then(|| acked.over(lasted));
            self.present = Some((now, Bytes(0)));
        }
    }

    /// The rate at which packets arrived in the last measurement; none if that does not show what the path carries.
    pub fn rate(&self) -> Option<Rate> {
        self.rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_round_trip_shows_what_arrives() {
        let ms = |ms| Time::ZERO + Duration::from_millis(ms);
        let rtt = Duration::from_millis(100);
        let mut arrivals = Arrivals::default();
        let mut after = |now, acked, app_limited| {
            let ack = Ack { acked: Bytes(acked), app_limited, ..Ack::default() };
            arrivals.on_ack(ms(now), &ack, rtt, Bytes(1000));
            arrivals.rate().map(Rate::as_mbps)
        };
        assert_eq!([after(0, 9000, false), after(10, 90_000, false)], [None; 2], "too short");
        assert_eq!(after(30, 30_000, false), Some(32.0), "120 kB in 30 ms");
        assert_eq!(after(129, 10_000, false), Some(32.0), "too few");
        assert_eq!(after(130, 15_000, false), Some(2.0), "25 kB in a round trip");
        assert_eq!(after(330, 25_000, false), Some(1.0));
        assert_eq!(after(600, 25_000, false), None, "an outage");
        after(700, 125_000, false);
        assert_eq!(after(710, 0, true), None, "the application limits what is sent");
        assert_eq!(
            [after(809, 99_000, false), after(810, 0, false), after(850, 100_000, false)],
            [None, None, Some(20.0)]
        );
    }
}
