//! Which packets are in flight, as quinn knows them: by number, with the time at which each was sent.
//!
//! A simulated host tells how many bytes an acknowledgment stands for and the round-trip time of the packet that it
//! answers. Hence that packet is known exactly; others that it acknowledges are taken to be those sent just before, and
//! lost packets to be the oldest ones: paths keep the order.

use control::Time;
use std::collections::VecDeque;

/// See the [module](self).
#[derive(Default)]
pub(super) struct Packets {
    in_flight: VecDeque<Packet>,
    /// The number of the first packet of `in_flight`.
    first: u64,
}

#[derive(Clone, Copy)]
struct Packet {
    sent: Time,
    /// It was acknowledged or declared lost, and packets before it were not.
    is_done: bool,
}

impl Packets {
    /// A packet leaves. Returns its number.
    pub(super) fn on_send(&mut self, now: Time) -> u64 {
        self.in_flight.push_back(Packet { sent: now, is_done: false });
        self.first + self.in_flight.len() as u64 - 1
    }

    /// The last packet that was sent at `sent`, or before if there is none, and is in flight: its number.
    pub(super) fn sent_at(&self, sent: Time) -> Option<u64> {
        let end = self.in_flight.partition_point(|packet| packet.sent <= sent);
        // Of packets that left together, the first one arrives first.
        let found = self.in_flight.get(end.checked_sub(1)?)?.sent;
        let start = self.in_flight.partition_point(|packet| packet.sent < found);
        let index = (start..end).find(|&i| !self.in_flight[i].is_done)?;
        Some(self.first + index as u64)
    }

    /// Takes out packet `number`, which was acknowledged, or the one in flight next before it, or after it if there is
    /// none. Returns its number and when it was sent; none if nothing is in flight.
    pub(super) fn acknowledge(&mut self, number: u64) -> Option<(u64, Time)> {
        let at = (number.checked_sub(self.first)? as usize).min(self.in_flight.len());
        let is_open = |&i: &usize| !self.in_flight[i].is_done;
        let before = (0..(at + 1).min(self.in_flight.len())).rev().find(is_open);
        let index = before.or_else(|| (at + 1..self.in_flight.len()).find(is_open))?;
        let taken = (self.first + index as u64, self.in_flight[index].sent);
        self.finish(index);
        Some(taken)
    }

    /// Takes out the oldest packet, which is lost. Returns its number and when it was sent; none if nothing is in
    /// flight.
    pub(super) fn lose(&mut self) -> Option<(u64, Time)> {
        let oldest = (self.first, self.in_flight.front()?.sent);
        self.finish(0);
        Some(oldest)
    }

    /// How many packets are in flight.
    pub(super) fn in_flight(&self) -> u64 {
        self.in_flight.iter().filter(|packet| !packet.is_done).count() as u64
    }

    /// The number of the last packet that left; 0 before the first.
    pub(super) fn last(&self) -> u64 {
        (self.first + self.in_flight.len() as u64).saturating_sub(1)
    }

    fn finish(&mut self, index: usize) {
        self.in_flight[index].is_done = true;
        while self.in_flight.front().is_some_and(|packet| packet.is_done) {
            self.in_flight.pop_front();
            self.first += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::Duration;

    fn at(us: u64) -> Time {
        Time::ZERO + Duration::from_micros(us)
    }

    #[test]
    fn packets_are_known_by_the_time_at_which_they_left() {
        let mut packets = Packets::default();
        for us in [10, 20, 20, 20, 30, 40] {
            packets.on_send(at(us));
        }
        assert_eq!(packets.sent_at(at(5)), None);
        assert_eq!(packets.sent_at(at(20)), Some(1));
        assert_eq!(packets.acknowledge(1), Some((1, at(20))));
        assert_eq!(packets.sent_at(at(20)), Some(2));
        assert_eq!(packets.lose(), Some((0, at(10))));
        // Both of an acknowledgment for two packets.
        assert_eq!(packets.acknowledge(3), Some((3, at(20))));
        assert_eq!(packets.acknowledge(3), Some((2, at(20))));
        assert_eq!(packets.on_send(at(50)), 6);
        assert_eq!((packets.in_flight(), packets.last()), (3, 6));
        assert_eq!(std::iter::from_fn(|| packets.lose()).map(|(number, _)| number).collect::<Vec<_>>(), [4, 5, 6]);
        assert_eq!(packets.acknowledge(6), None);
        assert_eq!(packets.on_send(at(60)), 7);
    }
}
