//! A host's network interface, where it does not pass packets on at once: interrupt coalescing on the receiving side, jitter on
//! the sending side (PACKET-SCALE-2017, section VI-A).

use crate::packet::Packet;
use control::{Duration, Time};
use experiment::traffic::{Random, Stream};
use std::collections::VecDeque;

/// Holds packets back, in order, for a while.
pub struct Interface {
    hold: Hold,
    /// Those it has, and when each goes on.
    held: VecDeque<(Time, Packet)>,
    /// When the last packet that came went on, or will.
    last: Time,
}

/// For how long.
enum Hold {
    /// Until a timer expires that the first packet has started: then all that have come go on together.
    Coalesce(Duration),
    /// Each for a random time between zero and this, or until the one before it has gone.
    Jitter(Duration, Random),
}

impl Interface {
    /// A receiver that is told of a packet, and of all that came after it, so long after it came.
    pub fn coalescing(delay: Duration) -> Interface {
        Interface { hold: Hold::Coalesce(delay), held: VecDeque::new(), last: Time::ZERO }
    }

    /// A sender whose packets leave up to `most` late; that of flow number `flow`.
    pub fn jittering(most: Duration, seed: u64, flow: usize) -> Interface {
        let random = Random::new(seed, Stream::Jitter, &[flow as u64]);
        Interface { hold: Hold::Jitter(most, random), held: VecDeque::new(), last: Time::ZERO }
    }

    /// Takes a packet. Returns when to ask for it, if no other is waiting.
    pub fn take(&mut self, now: Time, packet: Packet) -> Option<Time> {
        self.last = match &mut self.hold {
            Hold::Coalesce(delay) if self.held.is_empty() => now + *delay,
            Hold::Coalesce(_) => self.last,
            Hold::Jitter(most, random) => self.last.max(now + random.between(Duration::ZERO, *most)),
        };
        self.held.push_back((self.last, packet));
        (self.held.len() == 1).then_some(self.last)
    }

    /// The next packet that goes on now, if there is one left.
    pub fn release(&mut self, now: Time) -> Option<Packet> {
        let &(due, packet) = self.held.front()?;
        (due <= now).then(|| self.held.pop_front())?;
        Some(packet)
    }

    /// When to ask for the next one.
    pub fn next(&self) -> Option<Time> {
        self.held.front().map(|&(due, _)| due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Body;

    fn packet(segment: u64) -> Packet {
        Packet { flow: 0, size: 1000, hop: 0, order: 0, segment, sent: Time::ZERO, body: Body::Cross }
    }

    /// When packets that come at these times, in microseconds, go on.
    fn through(mut interface: Interface, arrivals: &[u64]) -> Vec<f64> {
        let mut leave = vec![];
        let mut release = |interface: &mut Interface, until: Time| {
            while let Some(due) = interface.next().filter(|&due| due <= until) {
                while let Some(packet) = interface.release(due) {
                    assert_eq!(packet.segment, leave.len() as u64, "in order");
                    leave.push(due.as_secs() * 1e6);
                }
            }
        };
        for (segment, &us) in arrivals.iter().enumerate() {
            let now = Time::ZERO + Duration::from_micros(us);
            // What is due at the very time of an arrival is still waiting then: the link's event comes first.
            release(&mut interface, now - Duration(1));
            interface.take(now, packet(segment as u64));
        }
        release(&mut interface, Time::MAX);
        leave
    }

    #[test]
    fn a_coalescing_receiver_is_told_of_all_that_came_since_the_first() {
        let told = through(Interface::coalescing(Duration::from_micros(100)), &[0, 30, 60, 100, 101, 190, 500]);
        assert_eq!(told, [100.0, 100.0, 100.0, 100.0, 201.0, 201.0, 600.0]);
    }

    #[test]
    fn jitter_delays_by_up_to_its_most_and_keeps_the_order() {
        let arrivals: Vec<u64> = (0..1000).map(|i| 100 * i).collect();
        let most = 10.0;
        let left = through(Interface::jittering(Duration::from_micros(10), 1, 0), &arrivals);
        let late: Vec<f64> = left.iter().zip(&arrivals).map(|(left, &came)| left - came as f64).collect();
        assert!(late.iter().all(|late| (0.0..=most).contains(late)));
        let mean = late.iter().sum::<f64>() / 1000.0;
        assert!((mean - 5.0).abs() < 0.5, "{mean}");
        // Closer together than the jitter: later ones wait for earlier ones.
        let left = through(Interface::jittering(Duration::from_micros(10), 1, 0), &[0, 1, 2, 3, 4, 5, 6, 7]);
        assert!(left.is_sorted());
    }
}
