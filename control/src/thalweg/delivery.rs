//! The rate at which packets arrive that a sender sends during recovery.

use crate::roles::Ack;
use crate::units::{Bytes, Duration, Rate, Time};

/// Measures the rate at which packets arrive that were sent after a certain moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Delivery {
    /// Acknowledgments that arrive after this time are of packets sent after that moment.
    since: Time,
    /// How many bytes these acknowledgments acknowledged.
    acked: Bytes,
}

impl Delivery {
    /// Measures the packets sent from now on. Their acknowledgments arrive after a round trip.
    pub fn of_packets_sent_from(now: Time, rtt: Duration) -> Delivery {
        Delivery { since: now + rtt, acked: Bytes(0) }
    }

    /// An acknowledgment arrived, and the round-trip time is `rtt`. Once acknowledgments have arrived for the time
    /// `enough`, returns the rate at which the packets arrived and begins another measurement.
    pub fn on_ack(&mut self, now: Time, ack: &Ack, rtt: Duration, enough: Duration) -> Option<Rate> {
        if now <= self.since {
            return None;
        }
        if ack.app_limited {
            *self = Delivery::of_packets_sent_from(now, rtt); // the sender did not use all of its rate
            return None;
        }
        self.acked += ack.acked;
        let elapsed = now.since(self.since);
        if elapsed < enough {
            return None;
        }
        let delivered = self.acked.over(elapsed);
        *self = Delivery::of_packets_sent_from(now, rtt);
        Some(delivered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_that_of_acknowledgments_after_a_round_trip() {
        let ms = Duration::from_millis;
        let mut delivery = Delivery::of_packets_sent_from(Time::ZERO, ms(100));
        let mut after = |now, bytes, app_limited| {
            let ack = Ack { acked: Bytes(bytes), app_limited, ..Ack::default() };
            delivery.on_ack(Time::ZERO + ms(now), &ack, ms(100), ms(50)).map(Rate::as_mbps)
        };
        assert_eq!(after(100, 99_000, false), None, "of packets that were sent before");
        assert_eq!([after(120, 25_000, false), after(150, 25_000, false)], [None, Some(8.0)], "50 kB in 50 ms");
        assert_eq!(after(200, 99_000, false), None, "a round trip passes before the next measurement");
        assert_eq!([after(260, 25_000, false), after(270, 0, true), after(300, 25_000, false)], [None; 3]);
        assert_eq!(after(420, 50_000, false), Some(8.0), "since 370 ms");
    }
}
