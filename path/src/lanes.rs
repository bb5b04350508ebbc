//! What packets are on between two positions of their routes: one lane per link direction, detour and access link.
//!
//! A lane is a [`Link`], or nothing but a delay: no capacity, no queue, no errors. With many flows, most lanes are the
//! delays of hosts' access links, each of which holds a few packets. So a delay is half a cache line, and all delays
//! keep their packets in one memory. With few flows, most packets are on the described links, which are the first lanes
//! and side by side in memory.

use crate::pool::{Fifo, Pool, Timed};
use crate::{Buffer, Fate, Impairments, Link, Packet, prefetch};
use control::{Bytes, Duration, Time};

/// See the [module](self).
pub struct Lanes<P> {
    /// The first lanes.
    links: Vec<Link<P>>,
    /// The lanes behind them.
    others: Vec<Lane<P>>,
    /// The packets on delays.
    delayed: Pool<Delayed<P>>,
}

/// A packet on a delay and when it leaves, in a cache line of their own if they fit into one.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
struct Delayed<P> {
    exit: Time,
    packet: P,
}

impl<P: Packet> Timed for Delayed<P> {
    #[inline(always)]
    fn time(&self) -> Time {
        self.exit
    }
}

enum Lane<P> {
    Link(Box<Link<P>>),
    Delay(Delay),
}

/// A lane that is looked at.
enum Shown<'a, P> {
    Link(&'a Link<P>),
    Delay(&'a Delay, &'a Pool<Delayed<P>>),
}

/// A lane that is used.
enum Used<'a, P> {
    Link(&'a mut Link<P>),
    Delay(&'a mut Delay, &'a mut Pool<Delayed<P>>),
}

/// A lane on which each packet is for the same time.
struct Delay {
    delay: Duration,
    /// The packets on the lane.
    packets: Fifo,
    /// The position of a route at which its packets go on; none if that is the position behind their present one.
    onto: Option<u32>,
}

impl Delay {
    /// Tells `packet` where it goes on.
    #[inline(always)]
    fn direct(&self, packet: &mut impl Packet) {
        match self.onto {
            Some(position) => packet.set_hop(position),
            None => packet.pass_hop(),
        }
    }
}

impl<P: Packet> Lanes<P> {
    /// The lanes of these links, whose numbers are their places.
    pub fn new(links: Vec<Link<P>>) -> Lanes<P> {
        Lanes { links, others: Vec::new(), delayed: Pool::new() }
    }

    /// Number of lanes.
    pub fn len(&self) -> usize {
        self.links.len() + self.others.len()
    }

    /// Whether there are no lanes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a link. Returns its number.
    pub fn add_link(&mut self, link: Link<P>) -> u32 {
        self.add(Lane::Link(Box::new(link)))
    }

    /// Adds a lane that only delays, behind which packets go on at position `onto` of a route, or at the position
    /// behind their present one. Returns its number.
    pub fn add_delay(&mut self, delay: Duration, onto: Option<u32>) -> u32 {
        self.add(Lane::Delay(Delay { delay, packets: Fifo::new(), onto }))
    }

    fn add(&mut self, lane: Lane<P>) -> u32 {
        self.others.push(lane);
        self.delayed.expect(self.others.len());
        self.len() as u32 - 1
    }

    /// Forgets the lanes from number `from` on, which are not used from now on: the memory that tells of them is free.
    pub fn forget(&mut self, from: u32) {
        self.others.truncate((from as usize).saturating_sub(self.links.len()));
        self.others.shrink_to_fit();
    }

    /// The position at which packets go on behind a lane of [`Lanes::add_delay`] that sets it.
    pub fn onto(&self, lane: u32) -> Option<u32> {
        match self.show(lane) {
            Shown::Link(_) => None,
            Shown::Delay(delay, _) => delay.onto,
        }
    }

    /// Gives another position to a lane of [`Lanes::add_delay`] at which its packets go on.
    pub fn go_onto(&mut self, lane: u32, position: u32) {
        if let Used::Delay(delay, _) = self.using(lane) {
            delay.onto = Some(position);
        }
    }

    /// Whether all that will happen to a packet is known when it arrives at this lane, which is a link: see
    /// [`Link::admit`].
    #[inline(always)]
    pub fn is_plain(&self, lane: u32) -> bool {
        self.links.get(lane as usize).is_some_and(Link::is_plain)
    }

    /// A packet of `size` arrives at such a lane: [`Link::admit`].
    #[inline(always)]
    pub fn admit(&mut self, lane: u32, now: Time, size: Bytes) -> Option<Time> {
        self.links[lane as usize].admit(now, size)
    }

    /// Puts a packet onto such a lane: [`Link::put`]. Returns the time of the lane's next exit if that has changed.
    #[inline(always)]
    pub fn put(&mut self, lane: u32, exit: Time, make: impl FnOnce() -> P) -> Option<Time> {
        let link = &mut self.links[lane as usize];
        let was_empty = link.next_exit().is_none();
        link.put(exit, make);
        was_empty.then_some(exit)
    }

    /// The first packet of lane `from` leaves it and arrives on the next lane at `time`, which may be ahead of the
    /// present time, as `change` makes it; both lanes only delay. Returns when the next packet leaves `from`, and the
    /// next exit of the other lane if that has changed.
    ///
    /// # Panics
    /// If one of them is a link, or no packet is on `from`.
    #[inline(always)]
    pub fn turn(&mut self, from: u32, time: Time, change: impl FnOnce(&mut P)) -> (Option<Time>, Option<Time>) {
        let from = from as usize - self.links.len();
        let [Lane::Delay(from), Lane::Delay(onto)] = &mut self.others[from..from + 2] else {
            panic!("neither lane is a link")
        };
        let was_empty = onto.packets.is_empty();
        let exit = time + onto.delay;
        let place = self.delayed.push_front_of(&from.packets, &mut onto.packets).expect("a packet is due");
        place.exit = exit;
        change(&mut place.packet);
        onto.direct(&mut place.packet);
        self.delayed.pop(&mut from.packets);
        (self.delayed.time(&from.packets), was_empty.then_some(exit))
    }

    /// The delay of a lane that only delays; zero of a link.
    #[inline(always)]
    pub fn delay(&self, lane: u32) -> Duration {
        match self.show(lane) {
            Shown::Link(_) => Duration::ZERO,
            Shown::Delay(delay, _) => delay.delay,
        }
    }

    /// Passes the packets on a lane that only delays, each with the time at which it leaves, in order, beginning behind
    /// the last one that was passed before, until `visit` returns false for one, which is not passed.
    pub fn visit(&mut self, lane: u32, mut visit: impl FnMut(Time, &mut P) -> bool) {
        if let Used::Delay(delay, pool) = self.using(lane) {
            pool.visit(&mut delay.packets, |Delayed { exit, packet }| visit(*exit, packet));
        }
    }

    #[inline(always)]
    fn show(&self, lane: u32) -> Shown<'_, P> {
        if let Some(link) = self.links.get(lane as usize) {
            return Shown::Link(link);
        }
        match &self.others[lane as usize - self.links.len()] {
            Lane::Link(link) => Shown::Link(link),
            Lane::Delay(delay) => Shown::Delay(delay, &self.delayed),
        }
    }

    #[inline(always)]
    fn using(&mut self, lane: u32) -> Used<'_, P> {
        let links = self.links.len();
        if let Some(link) = self.links.get_mut(lane as usize) {
            return Used::Link(link);
        }
        match &mut self.others[lane as usize - links] {
            Lane::Link(link) => Used::Link(link),
            Lane::Delay(delay) => Used::Delay(delay, &mut self.delayed),
        }
    }

    /// Gives another delay and other impairments to a lane of [`Lanes::add_delay`] that no packet is on.
    pub fn restart(&mut self, lane: u32, delay: Duration, impairments: Impairments) {
        debug_assert!(self.next_exit(lane).is_none(), "packets on the lane would change their order");
        self.others[lane as usize - self.links.len()] = if impairments.any() {
            Lane::Link(Box::new(Link::new(None, delay, Buffer::UNLIMITED).with_impairments(impairments)))
        } else {
            Lane::Delay(Delay { delay, packets: Fifo::new(), onto: None })
        };
    }

    /// The link that is lane number `lane`; none if that only delays.
    #[inline]
    pub fn link(&mut self, lane: u32) -> Option<&mut Link<P>> {
        match self.using(lane) {
            Used::Link(link) => Some(link),
            Used::Delay(..) => None,
        }
    }

    /// All lanes that are links.
    pub fn links(&mut self) -> impl Iterator<Item = &mut Link<P>> {
        let others = self.others.iter_mut().filter_map(|lane| match lane {
            Lane::Link(link) => Some(&mut **link),
            Lane::Delay(_) => None,
        });
        self.links.iter_mut().chain(others)
    }

    /// A packet arrives at the near end. Returns the time of the lane's next exit if that has changed: if no packet was
    /// on the lane before.
    #[inline]
    pub fn arrive(&mut self, lane: u32, now: Time, packet: &P) -> Option<Time> {
        self.arrive_with(lane, now, packet.size(), || *packet)
    }

    /// [`Lanes::arrive`] for a packet of `size` that `make` makes, in its place in memory as
    /// [`Link::arrive_with`] says.
    #[inline(always)]
    pub fn arrive_with(&mut self, lane: u32, now: Time, size: Bytes, make: impl FnOnce() -> P) -> Option<Time> {
        match self.using(lane) {
            Used::Link(link) => {
                if link.arrive_with(now, size, make) {
                    link.next_exit()
                } else {
                    None
                }
            }
            Used::Delay(delay, pool) => {
                let exit = now + delay.delay;
                let was_empty = delay.packets.is_empty();
                let place = pool.push_place(&mut delay.packets);
                place.exit = exit;
                place.packet = make();
                delay.direct(&mut place.packet);
                was_empty.then_some(exit)
            }
        }
    }

    /// When the next packet leaves the far end; none if no packet is on the lane.
    #[inline]
    pub fn next_exit(&self, lane: u32) -> Option<Time> {
        match self.show(lane) {
            Shown::Link(link) => link.next_exit(),
            Shown::Delay(delay, pool) => pool.time(&delay.packets),
        }
    }

    /// The packet that leaves the far end next.
    ///
    /// # Panics
    /// If no packet is on the lane.
    #[inline(always)]
    pub fn first(&self, lane: u32) -> &P {
        match self.show(lane) {
            Shown::Link(link) => link.first(),
            Shown::Delay(delay, pool) => &pool.front(&delay.packets).expect("a packet is due").packet,
        }
    }

    /// The packet of [`Lanes::first`] leaves the far end. Returns its fate, which the driver carries out, and when the
    /// next packet leaves.
    ///
    /// # Panics
    /// If no packet is on the lane.
    #[inline(always)]
    pub fn exit(&mut self, lane: u32) -> (Fate, Option<Time>) {
        match self.using(lane) {
            Used::Link(link) => {
                let fate = link.exit();
                (fate, link.next_exit())
            }
            Used::Delay(delay, pool) => {
                pool.pop(&mut delay.packets);
                (Fate::Intact, pool.time(&delay.packets))
            }
        }
    }

    /// The packet that leaves the far end behind `before` others, fewer than eight; none if there is no such packet
    /// beyond the lane's queue.
    #[inline]
    pub fn peek(&self, lane: u32, before: usize) -> Option<&P> {
        match self.show(lane) {
            Shown::Link(link) => link.peek(before),
            Shown::Delay(delay, pool) => pool.get(&delay.packets, before).map(|place| &place.packet),
        }
    }

    /// Prefetches what tells the places of the lane's packets.
    #[inline]
    pub fn prefetch(&self, lane: u32) {
        if let Some(lane) = (lane as usize).checked_sub(self.links.len()).and_then(|other| self.others.get(other)) {
            prefetch::lines(lane);
        }
    }

    /// Prefetches the lane's packet behind `before` others, if the lane is a delay.
    #[inline]
    pub fn prefetch_packet(&self, lane: u32, before: usize) {
        if let Shown::Delay(delay, pool) = self.show(lane) {
            pool.prefetch(&delay.packets, before);
        }
    }

    /// Takes out a packet that a link's queue has dropped, if the link [keeps](Link::keep_drops) them.
    pub fn dropped(&mut self, lane: u32) -> Option<P> {
        self.link(lane)?.dropped()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Parcel;
    use std::collections::VecDeque;

    #[test]
    fn delays_keep_their_packets_in_order() {
        let mut lanes: Lanes<Parcel> = Lanes::new(Vec::new());
        let delays = [5, 0, 1000, 70].map(Duration);
        let numbers = delays.map(|delay| lanes.add_delay(delay, None));
        let mut expected = delays.map(|_| VecDeque::new());
        let mut random = 1u64;
        for step in 0..100_000u64 {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let which = (random >> 33) as usize % 4;
            let (lane, expected) = (numbers[which], &mut expected[which]);
            // Phases of growth and of decline.
            if (random >> 40) % 100 < if step / 5000 % 2 == 0 { 60 } else { 45 } {
                let exit = Time(step) + delays[which];
                let changed = lanes.arrive(lane, Time(step), &Parcel::new(step));
                assert_eq!(changed, expected.is_empty().then_some(exit));
                expected.push_back((exit, step));
            } else if let Some((_, id)) = expected.pop_front() {
                assert_eq!(lanes.first(lane).id, id);
                assert_eq!(lanes.exit(lane), (Fate::Intact, expected.front().map(|&(exit, _)| exit)));
            }
            assert_eq!(lanes.next_exit(lane), expected.front().map(|&(exit, _)| exit));
        }
    }

    #[test]
    fn a_delay_takes_half_a_cache_line() {
        assert_eq!(size_of::<Lane<Parcel>>(), 32);
    }
}
