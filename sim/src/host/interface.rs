//! Network interfaces that hold packets: interrupt coalescing at the receiver, jitter at the sender (PACKET-SCALE-2017,
//! section VI-A).

use crate::packet::Packet;
use control::{Duration, Time};
use experiment::traffic::{Random, Stream};
use std::collections::VecDeque;

/// An interface that holds packets for a while and passes them on in order.
pub struct Interface {
    hold: Hold,
    /// The packets held, and when each is passed on.
    held: VecDeque<(Time, Packet)>,
    /// When the packet that arrived last was or will be passed on.
    last: Time,
}

/// How long packets are held.
enum Hold {
    /// Until a timer expires that the first packet started: then all packets that have arrived are passed on together.
    Coalesce(Duration),
    /// Each packet for a random time between zero and this one, or until the packet before it has been passed on.
    Jitter(Jitter),
}

struct Jitter {
    most: Duration,
    /// Whether packets that arrive at one time are held for the same time, as those of one burst.
    bursts: bool,
    /// When the last packet arrived.
    came: Option<Time>,
    random: Random,
}

impl Interface {
    /// A receiver that hears of a packet, and of all that arrived after it, `delay` after the packet's arrival.
    pub fn coalescing(delay: Duration) -> Interface {
        Interface { hold: Hold::Coalesce(delay), held: VecDeque::new(), last: Time::ZERO }
    }

    /// The sender of flow number `flow`, whose packets leave up to `most` late; all packets that it lets go at one time
    /// are equally late if it sends `bursts`.
    pub fn jittering(most: Duration, bursts: bool, seed: u64, flow: usize) -> Interface {
        let random = Random::new(seed, Stream::Jitter, &[flow as u64]);
        let jitter = Jitter { most, bursts, came: None, random };
        Interface { hold: Hold::Jitter(jitter), held: VecDeque::new(), last: Time::ZERO }
    }

    /// A packet arrives. Returns when to call [`Interface::release`], if no other packet is held.
    pub fn take(&mut self, now: Time, packet: Packet) -> Option<Time> {
        self.last = match &mut self.hold {
            Hold::Coalesce(delay) if self.held.is_empty() => now + *delay,
            Hold::Coalesce(_) => self.last,
            Hold::Jitter(jitter) if jitter.bursts && jitter.came == Some(now) => self.last,
            Hold::Jitter(jitter) => {
                jitter.came = Some(now);
                self.last.max(now + jitter.random.between(Duration::ZERO, jitter.most))
            }
        };
        self.held.push_back((self.last, packet));
        (self.held.len() == 1).then_some(self.last)
    }

    /// Returns the next packet that is passed on by `now`, if there is one.
    pub fn release(&mut self, now: Time) -> Option<Packet> {
        let &(due, packet) = self.held.front()?;
        (due <= now).then(|| self.held.pop_front())?;
        Some(packet)
    }

    /// When the next packet is passed on; none if no packet is held.
    pub fn next(&self) -> Option<Time> {
        self.held.front().map(|&(due, _)| due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Body, Head};

    fn packet(segment: u64) -> Packet {
        Packet { flow: 0, head: Head::plain(1000), hop: 0, order: 0, segment, sent: Time::ZERO, body: Body::Cross }
    }

    /// When packets that arrive at these times are passed on, in microseconds.
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
            // A packet due at the very time of an arrival is still held then: the event of the link comes first.
            release(&mut interface, now - Duration(1));
            interface.take(now, packet(segment as u64));
        }
        release(&mut interface, Time::MAX);
        leave
    }

    #[test]
    fn a_coalescing_receiver_hears_of_all_packets_since_the_first() {
        let told = through(Interface::coalescing(Duration::from_micros(100)), &[0, 30, 60, 100, 101, 190, 500]);
        assert_eq!(told, [100.0, 100.0, 100.0, 100.0, 201.0, 201.0, 600.0]);
    }

    #[test]
    fn jitter_delays_packets_within_its_bound_and_keeps_their_order() {
        let arrivals: Vec<u64> = (0..1000).map(|i| 100 * i).collect();
        let most = 10.0;
        let left = through(Interface::jittering(Duration::from_micros(10), false, 1, 0), &arrivals);
        let late: Vec<f64> = left.iter().zip(&arrivals).map(|(left, &came)| left - came as f64).collect();
        assert!(late.iter().all(|late| (0.0..=most).contains(late)));
        let mean = late.iter().sum::<f64>() / 1000.0;
        assert!((mean - 5.0).abs() < 0.5, "{mean}");
        // Closer together than the jitter: later ones wait for earlier ones.
        let left = through(Interface::jittering(Duration::from_micros(10), false, 1, 0), &[0, 1, 2, 3, 4, 5, 6, 7]);
        assert!(left.is_sorted());
    }

    #[test]
    fn the_packets_of_a_burst_are_equally_late() {
        let arrivals = [0, 0, 0, 50, 50, 100, 100];
        let late = |bursts| {
            let left = through(Interface::jittering(Duration::from_micros(10), bursts, 1, 0), &arrivals);
            left.iter().zip(arrivals).map(|(left, came)| left - came as f64).collect::<Vec<_>>()
        };
        let (together, alone) = (late(true), late(false));
        assert!(together[0] == together[2] && together[3] == together[4] && together[5] == together[6]);
        assert!(together[0] != together[3] && alone[0] != alone[2]);
    }
}
