//! Pacing: when the next packet may leave at a given rate.

use crate::units::{Bytes, Rate, Time};

/// Spaces packets: the next packet may leave as long after the last one as the last one takes at the present rate.
#[derive(Clone, Debug, Default)]
pub struct Pacer {
    /// When the last packet was due, and its size; none before the first packet.
    last: Option<(Time, Bytes)>,
}

impl Pacer {
    /// When the next packet is due at `rate`. The time may be in the past.
    pub fn due(&self, rate: Rate) -> Time {
        self.last.map_or(Time::ZERO, |(time, size)| time + rate.time_for(size))
    }

    /// A packet of `size` leaves. If the host is late by no more than the time of a packet at `rate`, the schedule
    /// stays as it was. If it is later, a new schedule begins, so that no burst makes up for the delay.
    pub fn on_send(&mut self, now: Time, size: Bytes, rate: Rate) {
        let due = self.due(rate);
        let in_time = self.last.is_some() && due + rate.time_for(size) >= now;
        self.last = Some((if in_time { due } else { now }, size));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Duration;

    const RATE: Rate = Rate::from_mbps(8.0); // 1000 bytes in a millisecond
    const SIZE: Bytes = Bytes(1000);

    fn at(us: u64) -> Time {
        Time::ZERO + Duration::from_micros(us)
    }

    #[test]
    fn a_late_host_keeps_the_rate_and_sends_no_burst() {
        let mut pacer = Pacer::default();
        assert!(pacer.due(RATE) <= at(0));
        for (sent, next) in [(70, 1070), (1100, 2070), (2070, 3070), (9000, 10_000)] {
            pacer.on_send(at(sent), SIZE, RATE);
            assert_eq!(pacer.due(RATE), at(next));
        }
    }

    #[test]
    fn a_new_rate_applies_to_the_gap_after_the_last_packet() {
        let mut pacer = Pacer::default();
        pacer.on_send(at(0), SIZE, RATE);
        assert_eq!(pacer.due(RATE * 2.0), at(500));
        assert_eq!(pacer.due(RATE * 0.5), at(2000));
    }

    #[test]
    fn packets_sent_before_they_are_due_take_their_time_in_the_schedule() {
        let mut pacer = Pacer::default();
        for _ in 0..3 {
            pacer.on_send(at(0), SIZE, RATE);
        }
        assert_eq!(pacer.due(RATE), at(3000));
    }
}
