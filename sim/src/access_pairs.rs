//! The access links of flows whose packets carry no stamps that anybody reads, as those of window protocols: what is
//! handled ahead on them ([`ahead`](crate::ahead)) needs half of a packet, so that two packets share a cache line, and
//! the two links of a flow are in one line.

use crate::packet::{Body, Head, Packet};
use control::{Duration, Stamp, Time};
use path::{Fifo, Pool, Timed, prefetch};

/// The access links of all flows. See the [module](self).
pub struct AccessPairs {
    /// The lane of the way out of the first pair. Each pair has two lanes, of which the second is that of its way back.
    /// So the pair of a lane follows from the lane's number, without a table.
    first: u32,
    pairs: Vec<AccessPair>,
    packets: Pool<Lean>,
}

/// The two access links of a flow, both of which are delays.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct AccessPair {
    out: Side,
    back: Side,
    flow: u32,
    /// The link behind `out`, which is plain; [`NONE`] if the two lanes are no such access links.
    link: u32,
    /// The link behind `back`; [`NONE`] if it is not plain.
    link_back: u32,
    /// The position of a route at which acknowledgments go on behind `back`.
    onto: u32,
}

/// A pair that is used: what is done with it at one event looks it up once.
pub struct Pair<'a> {
    links: &'a mut AccessPair,
    packets: &'a mut Pool<Lean>,
}

/// How the access links of a flow are connected.
pub struct Connection {
    /// The number of the flow.
    pub flow: u32,
    /// The delays of the links before data's and acknowledgments' ways.
    pub delays: [Duration; 2],
    /// The link behind the first one, which is plain.
    pub link: u32,
    /// The link behind the other one, if that is plain.
    pub link_back: Option<u32>,
    /// The position of a route at which acknowledgments go on behind the other one.
    pub onto: u32,
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
    const ABSENT: AccessPair = AccessPair {
        out: Side::new(Duration::ZERO),
        back: Side::new(Duration::ZERO),
        flow: NONE,
        link: NONE,
        link_back: NONE,
        onto: NONE,
    };
}

/// In place of a number: there is none.
const NONE: u32 = u32::MAX;

/// What is kept of a packet: all but its flow and its place on its route, which the access link tells, and its stamp.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
struct Lean {
    /// When it leaves the access link.
    exit: Time,
    sent: Time,
    segment: u64,
    order: u32,
    /// Of data, its [`Head`]; of an acknowledgment, how many segments have arrived out of order.
    word: u32,
}

impl Timed for Lean {
    #[inline(always)]
    fn time(&self) -> Time {
        self.exit
    }
}

impl Lean {
    /// Data of `flow` that goes on at position `hop`.
    #[inline(always)]
    fn data(&self, flow: u32, hop: u32) -> Packet {
        let &Lean { sent, segment, order, word, .. } = self;
        Packet { flow, head: Head::of_word(word), hop, order, segment, sent, body: Body::Data(Stamp::None) }
    }
}

impl AccessPairs {
    /// No flow has such access links.
    pub fn new() -> AccessPairs {
        AccessPairs { first: 0, pairs: Vec::new(), packets: Pool::new() }
    }

    /// Makes a pair of `lane` and the next lane, on which no packet is yet. The lanes of pairs follow each other, up to
    /// `most` pairs from the first one on. A lane that is not in this row stays as it is.
    pub fn connect(&mut self, lane: u32, most: usize, connection: &Connection) {
        if self.pairs.is_empty() {
            self.first = lane;
            self.pairs.reserve_exact(most);
            self.packets.expect(2 * most);
        }
        let (at, is_back) = ((lane - self.first) as usize / 2, (lane - self.first) % 2 == 1);
        if is_back || at >= most {
            return;
        }
        let &Connection { flow, delays: [out, back], link, link_back, onto } = connection;
        self.pairs.resize_with(at + 1, || AccessPair::ABSENT);
        let link_back = link_back.unwrap_or(NONE);
        self.pairs[at] = AccessPair { out: Side::new(out), back: Side::new(back), flow, link, link_back, onto };
    }

    /// The access link that is this lane, if it is one of a pair.
    #[inline(always)]
    pub fn find(&self, lane: u32) -> Option<Way> {
        let at = lane.wrapping_sub(self.first);
        let pair = self.pairs.get((at / 2) as usize)?;
        (pair.link != NONE).then_some(if at.is_multiple_of(2) { Way::Out(at / 2) } else { Way::Back(at / 2) })
    }

    /// Where the pair of `lane` is in memory, if there is any.
    #[inline(always)]
    pub fn place(&self, lane: u32) -> Option<&AccessPair> {
        self.pairs.get((lane.wrapping_sub(self.first) / 2) as usize)
    }

    /// The pair number `pair`, to be used.
    #[inline(always)]
    pub fn using(&mut self, pair: u32) -> Pair<'_> {
        Pair { links: &mut self.pairs[pair as usize], packets: &mut self.packets }
    }

    /// The flow of `pair`.
    #[inline(always)]
    pub fn flow(&self, pair: u32) -> u32 {
        self.pairs[pair as usize].flow
    }

    /// Makes the acknowledgments of what has arrived at the sink by `now`.
    pub fn settle(&mut self, now: Time, pair: u32, mut acknowledge: impl FnMut(Time, &Packet) -> Packet) {
        let AccessPair { back, flow, onto, .. } = &mut self.pairs[pair as usize];
        self.packets.visit(&mut back.packets, |lean| {
            let arrival = lean.exit - back.delay;
            if arrival > now {
                return false;
            }
            let ack = acknowledge(arrival, &lean.data(*flow, *onto));
            if let Body::Ack { out_of_order, .. } = ack.body {
                (lean.segment, lean.word) = (ack.segment, out_of_order);
            }
            true
        });
    }

    /// Prefetches the packet behind `before` others on an access link.
    #[inline(always)]
    pub fn prefetch_packet(&self, way: Way, before: usize) {
        let side = match way {
            Way::Out(pair) => self.pairs.get(pair as usize).map(|pair| &pair.out),
            Way::Back(pair) => self.pairs.get(pair as usize).map(|pair| &pair.back),
        };
        if let Some(packet) = side.and_then(|side| self.packets.get(&side.packets, before)) {
            prefetch::lines(packet);
        }
    }
}

impl Pair<'_> {
    /// The flow whose pair this is.
    #[inline(always)]
    pub fn flow(&self) -> u32 {
        self.links.flow
    }

    /// The link behind the way back, if that is plain.
    #[inline(always)]
    pub fn link_back(&self) -> Option<u32> {
        let link = self.links.link_back;
        (link != NONE).then_some(link)
    }

    /// `packet`, which carries data, is put onto the way out. Returns the time of the next exit there, if that has
    /// changed.
    #[inline(always)]
    pub fn send(self, now: Time, packet: &Packet) -> Option<Time> {
        let &Packet { head, order, segment, sent, .. } = packet;
        let out = &mut self.links.out;
        let was_empty = out.packets.is_empty();
        let exit = now + out.delay;
        *self.packets.push_place(&mut out.packets) = Lean { exit, sent, segment, order, word: head.word() };
        was_empty.then_some(exit)
    }

    /// The size of the packet that leaves the way out next, and the link that it goes on to.
    ///
    /// # Panics
    /// If no packet is there.
    #[inline(always)]
    pub fn leaving(&self) -> (u32, u32) {
        let first = self.packets.front(&self.links.out.packets).expect("a packet is due");
        (Head::of_word(first.word).size(), self.links.link)
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
        let mut first = None;
        if let Some(arrival) = arrival {
            let exit = arrival + back.delay;
            first = back.packets.is_empty().then_some(exit);
            self.packets.push_front_of(&out.packets, &mut back.packets).expect("a packet is due").exit = exit;
        }
        self.packets.pop(&mut out.packets);
        (self.packets.time(&out.packets), first)
    }

    /// Whether the packet that leaves the way back next is an acknowledgment of [`AccessPairs::settle`], and not data
    /// whose acknowledgment is to be made.
    #[inline(always)]
    pub fn is_settled(&self) -> bool {
        self.links.back.packets.is_visited()
    }

    /// The data that leaves the way back next, and when it came there and arrived at the sink.
    ///
    /// # Panics
    /// If no packet is there.
    #[inline(always)]
    pub fn returning(&self) -> (Packet, Time) {
        let &AccessPair { ref back, flow, onto, .. } = &*self.links;
        let first = self.packets.front(&back.packets).expect("a packet is due");
        (first.data(flow, onto), first.exit - back.delay)
    }

    /// The acknowledgment that leaves the way back next, of `size` bytes.
    ///
    /// # Panics
    /// If no packet is there.
    #[cold]
    pub fn settled(&self, size: u32) -> Packet {
        let &AccessPair { ref back, flow, onto, .. } = &*self.links;
        let &Lean { sent, segment, order, word, .. } = self.packets.front(&back.packets).expect("a packet is due");
        let body = Body::Ack { out_of_order: word, marked: 0, report: None };
        Packet { flow, head: Head::plain(size), hop: onto, order, segment, sent, body }
    }

    /// The packet that leaves the way back next does so. Returns when the next one does.
    #[inline(always)]
    pub fn pass(self) -> Option<Time> {
        let back = &mut self.links.back;
        self.packets.pop(&mut back.packets);
        self.packets.time(&back.packets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_packets_or_the_links_of_a_flow_take_a_cache_line() {
        assert_eq!((size_of::<Lean>(), size_of::<AccessPair>()), (32, 64));
    }
}
