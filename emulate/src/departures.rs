//! The packets that leave the path in one round, those of a flow together.

use crate::ends::Ends;
use crate::handle::Handle;
use crate::pool::Pool;
use control::Time;
use std::io::IoSlice;

/// The most packets of a round, and with one call: as many segments as all kernels take (UDP_MAX_SEGMENTS).
pub const MOST: usize = 64;
/// The most bytes with one call. A datagram has at most 65,507 with IPv4.
const MOST_BYTES: u32 = 65_000;

/// The packets of a round.
#[derive(Default)]
pub struct Departures {
    all: Vec<Departure>,
}

/// A packet that is due.
pub struct Departure {
    /// When it was due.
    pub due: Time,
    /// The packet.
    pub packet: Handle,
    /// How many packets of the round were due before it.
    number: usize,
}

impl Departures {
    /// Number of packets, [`MOST`] or fewer.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Adds a packet that was due at `due`, after all that were added before.
    pub fn push(&mut self, due: Time, packet: Handle) {
        self.all.push(Departure { due, packet, number: self.all.len() });
    }

    /// Sends the packets, each flow's in order, and forgets them. Calls `sent` for those that left together, of which
    /// the kernel accepted the first ones, as many as its second argument says.
    pub fn leave(
        &mut self,
        pool: &mut Pool,
        ends: &mut dyn Ends,
        mut sent: impl FnMut(&[Departure], usize, &mut Pool),
    ) {
        self.all.sort_unstable_by_key(|departure| {
            (departure.packet.direction as u8, departure.packet.flow, departure.number)
        });
        let mut rest = &self.all[..];
        while let Some(Departure { packet: first, .. }) = rest.first() {
            let (together, later) = rest.split_at(together(rest, pool));
            for Departure { packet, .. } in together {
                ends.update(pool.get(packet.slot), &packet.stamp, packet.ecn);
            }
            // The bit is flipped back afterwards, since an intact copy of the packet may still be on the path.
            first.flipped.inspect(|&bit| pool.flip(first.slot, bit));
            let mut payloads = [IoSlice::new(&[]); MOST];
            for (payload, Departure { packet, .. }) in payloads.iter_mut().zip(together) {
                *payload = IoSlice::new(pool.bytes(packet.slot));
            }
            let accepted = ends.send(first.direction, first.flow, first.ecn, &payloads[..together.len()]);
            first.flipped.inspect(|&bit| pool.flip(first.slot, bit));
            sent(together, accepted, pool);
            rest = later;
        }
        self.all.clear();
    }
}

/// How many of `departures`, from the first on, leave with one call: packets of one flow, one ECN field and one size,
/// and behind them one that is shorter. A packet leaves alone if its bytes are changed for the time of the call, if it
/// shares them with a copy, or if it has none.
fn together(departures: &[Departure], pool: &Pool) -> usize {
    let alone = |packet: &Handle| packet.size == 0 || packet.flipped.is_some() || pool.shared(packet.slot);
    let first = &departures[0].packet;
    if alone(first) {
        return 1;
    }
    let most = MOST.min((MOST_BYTES / first.size) as usize).max(1);
    let call = |packet: &Handle| (packet.direction, packet.flow, packet.ecn);
    let same = |packet: &Handle| call(packet) == call(first) && !alone(packet);
    let mut behind = departures[1..].iter().take(most - 1).map(|departure| &departure.packet);
    let equal = 1 + behind.clone().take_while(|packet| same(packet) && packet.size == first.size).count();
    let shorter = behind.nth(equal - 1).is_some_and(|packet| same(packet) && packet.size < first.size);
    equal + usize::from(shorter)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ends::Received;
    use crate::handle::Direction;
    use control::Stamp;
    use path::Ecn;
    use realtime::Clock;
    use std::io;

    /// Notes what is sent: the flow, and each datagram's length and first byte. Accepts all but the last of several.
    #[derive(Default)]
    struct Noted(Vec<(u64, Vec<(usize, u8)>)>);

    impl Ends for Noted {
        fn receive(&mut self, _: &Clock, _: &mut dyn FnMut(Received)) -> io::Result<()> {
            Ok(())
        }
        fn update(&self, _: &mut [u8], _: &Stamp, _: Ecn) {}
        fn send(&mut self, _: Direction, flow: u64, _: Ecn, payloads: &[IoSlice]) -> usize {
            let noted = payloads.iter().map(|payload| (payload.len(), payload.first().copied().unwrap_or(0)));
            self.0.push((flow, noted.collect()));
            (payloads.len() - 1).max(1)
        }
        fn dated(&self) -> bool {
            true
        }
        fn wait(&mut self, _: std::time::Duration) -> io::Result<()> {
            Ok(())
        }
        fn missed(&self) -> (u64, u64) {
            (0, 0)
        }
    }

    /// Lets packets with these flows and lengths leave, each filled with its number. Returns what was sent.
    fn leave(packets: &[(u64, u32)], change: impl Fn(usize, &mut Handle, &mut Pool)) -> Vec<(u64, Vec<(usize, u8)>)> {
        let (mut pool, mut departures, mut noted) = (Pool::default(), Departures::default(), Noted::default());
        for (i, &(flow, size)) in packets.iter().enumerate() {
            let slot = pool.put(&vec![i as u8; size as usize]).unwrap();
            let mut packet = Handle { slot, size, flow, ..Handle::default() };
            change(i, &mut packet, &mut pool);
            departures.push(Time(i as u64), packet);
        }
        let mut left = 0;
        departures.leave(&mut pool, &mut noted, |together, accepted, _| {
            assert_eq!(accepted, (together.len() - 1).max(1));
            left += together.len();
        });
        assert_eq!((left, departures.len()), (packets.len(), 0));
        noted.0
    }

    fn sent(flow: u64, size: usize, numbers: &[u8]) -> (u64, Vec<(usize, u8)>) {
        (flow, numbers.iter().map(|&number| (size, number)).collect())
    }

    #[test]
    fn packets_of_a_flow_and_a_size_leave_together_and_in_order() {
        let packets: Vec<(u64, u32)> = (0..40).map(|i| (i % 2, 100)).collect();
        let (even, odd): (Vec<u8>, Vec<u8>) = (0..40).partition(|i| i % 2 == 0);
        assert_eq!(leave(&packets, |_, _, _| {}), [sent(0, 100, &even), sent(1, 100, &odd)]);
    }

    #[test]
    fn a_shorter_packet_is_the_last_of_its_call_and_a_longer_one_begins_another() {
        let lengths = [100, 100, 60, 100, 120, 0, 120, 120];
        let packets: Vec<(u64, u32)> = lengths.iter().map(|&length| (7, length)).collect();
        let mut first = sent(7, 100, &[0, 1]);
        first.1.push((60, 2));
        let expected = [first, sent(7, 100, &[3]), sent(7, 120, &[4]), sent(7, 0, &[0]), sent(7, 120, &[6, 7])];
        assert_eq!(leave(&packets, |_, _, _| {}), expected);
    }

    /// A call has one ECN field.
    #[test]
    fn a_marked_packet_does_not_leave_with_others_that_are_not_marked() {
        let marked = |i: usize, packet: &mut Handle, _: &mut Pool| {
            packet.ecn = if (2..4).contains(&i) { Ecn::Ce } else { Ecn::Ect0 };
        };
        let calls = [sent(0, 8, &[0, 1]), sent(0, 8, &[2, 3]), sent(0, 8, &[4])];
        assert_eq!(leave(&[(0, 8); 5], marked), calls);
    }

    #[test]
    fn no_call_has_more_bytes_than_a_datagram() {
        let sizes: Vec<usize> =
            leave(&[(0, 9000); 20], |_, _, _| {}).iter().map(|(_, payloads)| payloads.len()).collect();
        assert_eq!(sizes, [7, 7, 6]);
        assert_eq!(leave(&[(0, 65_507); 2], |_, _, _| {}).len(), 2);
        assert_eq!(leave(&[(0, 100); MOST], |_, _, _| {}).len(), 1);
    }

    #[test]
    fn a_packet_whose_bytes_are_changed_or_shared_leaves_alone() {
        let alone = [sent(0, 8, &[0, 1]), sent(0, 8, &[2]), sent(0, 8, &[3, 4])];
        let mut flipped = alone.clone();
        flipped[1].1[0].1 ^= 1;
        assert_eq!(leave(&[(0, 8); 5], |i, packet, _| packet.flipped = (i == 2).then_some(0)), flipped);
        let share = |i: usize, packet: &mut Handle, pool: &mut Pool| {
            if i == 2 {
                pool.share(packet.slot);
            }
        };
        assert_eq!(leave(&[(0, 8); 5], share), alone);
    }
}
