//! The access links of flows whose packets carry no stamps that anybody reads, as those of window protocols: what is
//! handled ahead on them ([`ahead`](crate::ahead)) needs a quarter of a packet on the way out and half of one on the
//! way back, so that several packets share a cache line, and the two links of a flow are in one line.

use crate::packet::{Body, Head, Heads, Packet, near};
use control::{Duration, Stamp, Time};
use path::{Fifo, Pool, Timed};

/// The access links of all flows. See the [module](self).
pub struct AccessPairs {
    /// The lane of the way out of the first pair. Each pair has two lanes, of which the second is that of its way back.
    /// So the pair of a lane follows from the lane's number, without a table.
    first: u32,
    pairs: Vec<AccessPair>,
    memory: Memory,
}

/// The packets on all access links, and what connects the two links of each flow.
struct Memory {
    out: Pool<Leaving>,
    back: Pool<Returning>,
    /// Flows that follow each other and have the same share one entry.
    between: Vec<Between>,
}

/// The two access links of a flow, both of which are delays.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct AccessPair {
    out: Side,
    back: Side,
    flow: u32,
    /// What is between the two, by its number in [`Memory::between`]; [`NONE`] if the two lanes are no such access
    /// links.
    between: u32,
}

/// A pair that is used: what is done with it at one event looks it up once.
pub struct Pair<'a> {
    links: &'a mut AccessPair,
    memory: &'a mut Memory,
}

/// What is between the access links of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Between {
    /// The link behind the way out, which is plain.
    pub link: u32,
    /// The link behind the way back, if that is plain.
    pub link_back: Option<u32>,
    /// The position of a route at which acknowledgments go on behind the way back.
    pub onto: u32,
    /// What the flow's packets look like.
    pub heads: Heads,
}

/// One of the two access links of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// That before data's way, of this pair.
    Out(u32),
    /// That before the acknowledgments' way, of this pair.
    Back(u32),
}

/// One access link.
#[derive(Debug)]
struct Side {
    delay: Duration,
    packets: Fifo,
}

impl Side {
    const fn new(delay: Duration) -> Side {
        Side { delay, packets: Fifo::new() }
    }
}

impl AccessPair {
    const ABSENT: AccessPair =
        AccessPair { out: Side::new(Duration::ZERO), back: Side::new(Duration::ZERO), flow: NONE, between: NONE };
}

/// In place of a number: there is none.
const NONE: u32 = u32::MAX;

/// What is kept of a packet on the way out. The access link tells its flow and its way, and when it was sent; its
/// segment tells its head.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(16))]
struct Leaving {
    /// When it leaves the access link.
    exit: Time,
    /// Modulo 2^32.
    segment: u32,
    order: u32,
}

/// What is kept of a packet on the way back.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
struct Returning {
    /// When it leaves the access link.
    exit: Time,
    sent: Time,
    /// Of data, modulo 2^32.
    segment: u64,
    order: u32,
    /// Of an acknowledgment, how many segments have arrived out of order.
    out_of_order: u32,
}

impl Timed for Leaving {
    #[inline(always)]
    fn time(&self) -> Time {
        self.exit
    }
}

impl Timed for Returning {
    #[inline(always)]
    fn time(&self) -> Time {
        self.exit
    }
}

impl Returning {
    /// Data of `flow`, at whose sink all segments before `cumulative` have arrived.
    #[inline(always)]
    fn data(&self, flow: u32, between: &Between, cumulative: u64) -> Packet {
        let &Returning { sent, segment, order, .. } = self;
        let head = between.heads.of(segment as u32);
        let segment = near(cumulative, segment as u32);
        Packet { flow, head, hop: between.onto, order, segment, sent, body: Body::Data(Stamp::None) }
    }
}

impl AccessPairs {
    /// No flow has such access links.
    pub fn new() -> AccessPairs {
        let memory = Memory { out: Pool::new(), back: Pool::new(), between: Vec::new() };
        AccessPairs { first: 0, pairs: Vec::new(), memory }
    }

    /// Makes a pair of `lane` and the next lane, on which no packet is yet, and which have these `delays`, for `flow`.
    /// The lanes of pairs follow each other, up to `most` pairs from the first one on. A lane that is not in this row
    /// stays as it is.
    pub fn connect(&mut self, lane: u32, most: usize, flow: u32, delays: [Duration; 2], between: &Between) {
        let Memory { out, back, between: all } = &mut self.memory;
        if self.pairs.is_empty() {
            self.first = lane;
            self.pairs.reserve_exact(most);
            out.expect(2 * most);
            back.expect(2 * most);
        }
        let (at, is_back) = ((lane - self.first) as usize / 2, (lane - self.first) % 2 == 1);
        if is_back || at >= most {
            return;
        }
        // Flows of a group follow each other.
        if all.last() != Some(between) {
            all.push(*between);
        }
        let [out, back] = delays.map(Side::new);
        self.pairs.resize_with(at + 1, || AccessPair::ABSENT);
        self.pairs[at] = AccessPair { out, back, flow, between: all.len() as u32 - 1 };
    }

    /// The access link that is this lane, if it is one of a pair.
    #[inline(always)]
    pub fn find(&self, lane: u32) -> Option<Way> {
        let at = lane.wrapping_sub(self.first);
        let pair = self.pairs.get((at / 2) as usize)?;
        (pair.between != NONE).then_some(if at.is_multiple_of(2) { Way::Out(at / 2) } else { Way::Back(at / 2) })
    }

    /// The first lane from which on all lanes are those of pairs, up to the last of this number of `lanes`; none if the
    /// last one is not.
    pub fn all_from(&self, lanes: usize) -> Option<u32> {
        let ends = self.first as usize + 2 * self.pairs.len() == lanes;
        (ends && self.pairs.iter().all(|pair| pair.between != NONE)).then_some(self.first)
    }

    /// Where the pair of `lane` is in memory, if there is any.
    #[inline(always)]
    pub fn place(&self, lane: u32) -> Option<&AccessPair> {
        self.pairs.get((lane.wrapping_sub(self.first) / 2) as usize)
    }

    /// The pair number `pair`, to be used.
    #[inline(always)]
    pub fn using(&mut self, pair: u32) -> Pair<'_> {
        Pair { links: &mut self.pairs[pair as usize], memory: &mut self.memory }
    }

    /// The flow of `pair`.
    #[inline(always)]
    pub fn flow(&self, pair: u32) -> u32 {
        self.pairs[pair as usize].flow
    }

    /// Makes the acknowledgments of what has arrived at the sink by `now`. `acknowledge` is given the time of each
    /// arrival, and what makes the data that arrives, after all segments before the one that it is told.
    pub fn settle(
        &mut self,
        now: Time,
        pair: u32,
        mut acknowledge: impl FnMut(Time, &dyn Fn(u64) -> Packet) -> Packet,
    ) {
        let AccessPair { back, flow, between, .. } = &mut self.pairs[pair as usize];
        let between = &self.memory.between[*between as usize];
        self.memory.back.visit(&mut back.packets, |packet| {
            let arrival = packet.exit - back.delay;
            if arrival > now {
                return false;
            }
            let ack = acknowledge(arrival, &|cumulative| packet.data(*flow, between, cumulative));
            if let Body::Ack { out_of_order, .. } = ack.body {
                (packet.segment, packet.out_of_order) = (ack.segment, out_of_order);
            }
            true
        });
    }

    /// Prefetches the packet behind `before` others on an access link.
    #[inline(always)]
    pub fn prefetch_packet(&self, way: Way, before: usize) {
        let (Way::Out(pair) | Way::Back(pair)) = way;
        let Some(pair) = self.pairs.get(pair as usize) else { return };
        match way {
            Way::Out(_) => self.memory.out.prefetch(&pair.out.packets, before),
            Way::Back(_) => self.memory.back.prefetch(&pair.back.packets, before),
        }
    }
}

impl Pair<'_> {
    /// The flow whose pair this is.
    #[inline(always)]
    pub fn flow(&self) -> u32 {
        self.links.flow
    }

    #[inline(always)]
    fn between(&self) -> &Between {
        &self.memory.between[self.links.between as usize]
    }

    /// The link behind the way back, if that is plain.
    #[inline(always)]
    pub fn link_back(&self) -> Option<u32> {
        self.between().link_back
    }

    /// The packet of `segment`, modulo 2^32, is sent `now`, and is put onto the way out. Returns the time of the next
    /// exit there, if that has changed.
    #[inline(always)]
    pub fn send(self, now: Time, segment: u32, order: u32) -> Option<Time> {
        let out = &mut self.links.out;
        let was_empty = out.packets.is_empty();
        let exit = now + out.delay;
        let place = self.memory.out.push_place(&mut out.packets);
        *place = Leaving { exit, segment, order };
        was_empty.then_some(exit)
    }

    /// The size of the packet that leaves the way out next, and the link that it goes on to.
    ///
    /// # Panics
    /// If no packet is there.
    #[inline(always)]
    pub fn leaving(&self) -> (u32, u32) {
        let first = self.memory.out.front(&self.links.out.packets).expect("a packet is due");
        let between = self.between();
        (between.heads.of(first.segment).size(), between.link)
    }

    /// The packet of [`Pair::leaving`] leaves. It will arrive at the sink at `arrival`, or is dropped if there is none.
    /// Returns when the next packet leaves the way out, and the time of the next exit from the way back if that has
    /// changed.
    ///
    /// # Panics
    /// If no packet is there.
    #[inline(always)]
    pub fn turn(self, arrival: Option<Time>) -> (Option<Time>, Option<Time>) {
        let AccessPair { out, back, .. } = self.links;
        let memory = self.memory;
        let mut first = None;
        if let Some(arrival) = arrival {
            let &Leaving { exit: left, segment, order } = memory.out.front(&out.packets).expect("a packet is due");
            let (exit, sent, segment) = (arrival + back.delay, left - out.delay, u64::from(segment));
            first = back.packets.is_empty().then_some(exit);
            *memory.back.push_place(&mut back.packets) = Returning { exit, sent, segment, order, out_of_order: 0 };
        }
        memory.out.pop(&mut out.packets);
        (memory.out.time(&out.packets), first)
    }

    /// Whether the packet that leaves the way back next is an acknowledgment of [`AccessPairs::settle`], and not data
    /// whose acknowledgment is to be made.
    #[inline(always)]
    pub fn is_settled(&self) -> bool {
        self.links.back.packets.is_visited()
    }

    /// The data that leaves the way back next, and when it came there and arrived at the sink, where all segments
    /// before `cumulative` have arrived.
    ///
    /// # Panics
    /// If no packet is there.
    #[inline(always)]
    pub fn returning(&self, cumulative: u64) -> (Packet, Time) {
        let &AccessPair { ref back, flow, .. } = &*self.links;
        let first = self.memory.back.front(&back.packets).expect("a packet is due");
        (first.data(flow, self.between(), cumulative), first.exit - back.delay)
    }

    /// The acknowledgment that leaves the way back next, of `size` bytes.
    ///
    /// # Panics
    /// If no packet is there.
    #[cold]
    pub fn settled(&self, size: u32) -> Packet {
        let &AccessPair { ref back, flow, .. } = &*self.links;
        let first = self.memory.back.front(&back.packets).expect("a packet is due");
        let &Returning { sent, segment, order, out_of_order, .. } = first;
        let body = Body::Ack { out_of_order, marked: 0, report: None };
        Packet { flow, head: Head::plain(size), hop: self.between().onto, order, segment, sent, body }
    }

    /// The packet that leaves the way back next does so. Returns when the next one does.
    #[inline(always)]
    pub fn pass(self) -> Option<Time> {
        let back = &mut self.links.back;
        self.memory.back.pop(&mut back.packets);
        self.memory.back.time(&back.packets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_packets_or_the_links_of_a_flow_take_a_cache_line() {
        assert_eq!((size_of::<Leaving>(), size_of::<Returning>(), size_of::<AccessPair>()), (16, 32, 64));
    }

    #[test]
    fn a_segment_is_known_by_its_number_modulo_2_to_the_32() {
        let heads = Heads { full: Head::plain(1000), last: Head::plain(1000), segments: u64::MAX };
        let between = Between { link: 0, link_back: None, onto: 0, heads };
        for cumulative in [0, 7, (1 << 32) - 2, 1 << 32, (5 << 32) + 7_u64] {
            for segment in [cumulative.saturating_sub(5), cumulative, cumulative + 100] {
                let packet = Returning { segment: u64::from(segment as u32), ..Returning::default() };
                assert_eq!(packet.data(0, &between, cumulative).segment, segment);
            }
        }
    }
}
