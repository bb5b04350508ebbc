//! Round trips as a sender tells them apart, for rules that act once in each.

use crate::roles::Ack;
use crate::units::Time;

/// The present round trip, and the shortest RTT so far.
///
/// A round trip ends with the first acknowledgment of a packet that was sent after it began.
pub(crate) struct Rounds {
    /// When the present round trip began.
    begin: Time,
    /// Sum of the RTT samples in the present round trip, seconds.
    sum: f64,
    /// Number of the RTT samples in the present round trip.
    samples: u32,
    /// baseRTT: the shortest RTT so far, seconds; infinite before the first sample.
    pub(crate) base: f64,
}

impl Rounds {
    /// Before the first acknowledgment, which ends the first round trip.
    pub(crate) fn new() -> Rounds {
        Rounds { begin: Time::ZERO, sum: 0.0, samples: 0, base: f64::INFINITY }
    }

    /// An acknowledgment arrives. If it ends a round trip, this returns the mean of the round trip's RTT samples, in
    /// seconds.
    #[inline]
    pub(crate) fn on_ack(&mut self, now: Time, ack: &Ack) -> Option<f64> {
        let rtt = ack.rtt.filter(|rtt| rtt.0 > 0)?;
        let seconds = rtt.as_secs();
        self.base = self.base.min(seconds);
        self.sum += seconds;
        self.samples += 1;
        if now - rtt < self.begin {
            return None;
        }
        let mean = self.sum / f64::from(self.samples);
        (self.begin, self.sum, self.samples) = (now, 0.0, 0);
        Some(mean)
    }

    /// How many packets of a window of `w` wait in queues if a round trip takes `rtt` seconds: all but those that a
    /// path of base RTT without a queue would hold at the same rate, w/rtt.
    pub(crate) fn queued(&self, w: f64, rtt: f64) -> f64 {
        w * (1.0 - self.base / rtt)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::units::Duration;

    /// The rounds of a flow that has seen a shortest RTT of `base` seconds.
    pub(crate) fn rounds(base: f64) -> Rounds {
        Rounds { base, ..Rounds::new() }
    }

    #[test]
    fn a_round_trip_ends_with_the_first_acknowledgment_of_a_packet_sent_in_it() {
        let at = |ms| Time::ZERO + Duration::from_millis(ms);
        let ack = |ms| Ack { rtt: Some(Duration::from_millis(ms)), ..Ack::default() };
        let mut rounds = Rounds::new();
        let ends: Vec<bool> = [(100, 100), (110, 100), (190, 100), (200, 100), (290, 100), (310, 110), (400, 200)]
            .map(|(now, rtt)| rounds.on_ack(at(now), &ack(rtt)).is_some())
            .to_vec();
        assert_eq!(ends, [true, false, false, true, false, true, false]); // sent at 0, 10, 90, 100, 190, 200, 200
        assert!((rounds.on_ack(at(510), &ack(200)).unwrap() - 0.2).abs() < 1e-12, "the mean of 200 and 200 ms");
        assert!((rounds.queued(300.0, 0.15) - 100.0).abs() < 1e-9, "of 300 packets in 150 ms, 200 would need 100 ms");
    }
}
