//! The access links of flows whose packets carry no stamps that anybody reads, as those of window protocols: what is
//! handled ahead on them ([`ahead`](crate::ahead)) needs half of a packet, so that two packets share a cache line, and
//! the two links of a flow are in one line.

use crate::packet::{Body, Head, Packet};
use control::{Duration, Stamp, Time};
use path::{Fifo, Pool, Timed, prefetch};

/// The access links of all flows. See the [module](self).
pub struct AccessPairs {
    /// By the number of the flow; empty if there is none such.
    pairs: Vec<AccessPair>,
    packets: Pool<Lean>,
}

/// The two access links of a flow, both of which are delays.
#[derive(Debug)]
#[repr(C, align(64))]
struct AccessPair {
    out: Side,
    back: Side,
    /// The number of the lane that `out` stands for, whose exits are events; `back` stands for the next one. [`NONE`] if
    /// the flow has no such links.
    lane: u32,
    /// The link behind `out`, which is plain.
    link: u32,
    /// The position of a route at which acknowledgments go on behind `back`.
    onto: u32,
    /// Size of an acknowledgment, in bytes.
    ack_size: u32,
}

/// How the access links of a flow are connected.
pub struct Connection {
    /// The delays of the links before data's and acknowledgments' ways.
    pub delays: [Duration; 2],
    /// The lane of the first one; the other one is the next lane.
    pub lane: u32,
    /// The link behind the first one, which is plain.
    pub link: u32,
    /// The position of a route at which acknowledgments go on behind the other one.
    pub onto: u32,
    /// Size of an acknowledgment, in bytes.
    pub ack_size: u32,
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
        lane: NONE,
        link: NONE,
        onto: NONE,
        ack_size: 0,
    };
}

/// In place of the number of a lane.
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
    #[inline(always)]
    fn set_time(&mut self, time: Time) {
        self.exit = time;
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
        AccessPairs { pairs: Vec::new(), packets: Pool::new() }
    }

    /// The access links of `flow`, one of `flows`, are such ones from now on. No packet is on them.
    pub fn connect(&mut self, flow: usize, flows: usize, connection: &Connection) {
        if self.pairs.is_empty() {
            self.pairs.resize_with(flows, || AccessPair::ABSENT);
            self.packets.expect(2 * flows);
        }
        let &Connection { delays: [out, back], lane, link, onto, ack_size } = connection;
        self.pairs[flow] = AccessPair { out: Side::new(out), back: Side::new(back), lane, link, onto, ack_size };
    }

    /// Whether `flow` has such access links.
    #[inline(always)]
    pub fn has(&self, flow: u32) -> bool {
        self.pairs.get(flow as usize).is_some_and(|pair| pair.lane != NONE)
    }

    /// `packet`, which carries data, is put onto the way out. Returns the time of the next exit there and its lane, if
    /// that has changed.
    #[inline(always)]
    pub fn send(&mut self, now: Time, packet: &Packet) -> Option<(Time, u32)> {
        let &Packet { flow, head, order, segment, sent, .. } = packet;
        let AccessPair { out, lane, .. } = &mut self.pairs[flow as usize];
        let was_empty = out.packets.is_empty();
        let exit = now + out.delay;
        *self.packets.push_place(&mut out.packets) = Lean { exit, sent, segment, order, word: head.word() };
        was_empty.then_some((exit, *lane))
    }

    /// The size of the packet that leaves the way out next, and the link that it goes on to.
    ///
    /// # Panics
    /// If no packet is there.
    #[inline(always)]
    pub fn leaving(&self, flow: u32) -> (u32, u32) {
        let pair = &self.pairs[flow as usize];
        let first = self.packets.front(&pair.out.packets).expect("a packet is due");
        (Head::of_word(first.word).size(), pair.link)
    }

    /// The packet of [`AccessPairs::leaving`] leaves, and will arrive at the sink at `arrival`, if at all. Returns when
    /// the next packet leaves the way out, and the time of the next exit from the way back if that has changed.
    #[inline(always)]
    pub fn turn(&mut self, flow: u32, arrival: Option<Time>) -> (Option<Time>, Option<Time>) {
        let AccessPair { out, back, .. } = &mut self.pairs[flow as usize];
        let mut first = None;
        if let Some(arrival) = arrival {
            let exit = arrival + back.delay;
            first = back.packets.is_empty().then_some(exit);
            self.packets.push_front_of(&out.packets, &mut back.packets, exit);
        }
        self.packets.pop(&mut out.packets);
        (self.packets.time(&out.packets), first)
    }

    /// Whether the packet that leaves the way back next is an acknowledgment of [`AccessPairs::settle`], and not data
    /// whose acknowledgment is to be made.
    #[inline(always)]
    pub fn is_settled(&self, flow: u32) -> bool {
        self.pairs[flow as usize].back.packets.is_visited()
    }

    /// The data that leaves the way back next, and when it came there and arrived at the sink.
    ///
    /// # Panics
    /// If no packet is there.
    #[inline(always)]
    pub fn returning(&self, flow: u32) -> (Packet, Time) {
        let AccessPair { back, onto, .. } = &self.pairs[flow as usize];
        let first = self.packets.front(&back.packets).expect("a packet is due");
        (first.data(flow, *onto), first.exit - back.delay)
    }

    /// The acknowledgment that leaves the way back next.
    ///
    /// # Panics
    /// If no packet is there.
    #[cold]
    pub fn settled(&self, flow: u32) -> Packet {
        let AccessPair { back, onto, ack_size, .. } = &self.pairs[flow as usize];
        let &Lean { sent, segment, order, word, .. } = self.packets.front(&back.packets).expect("a packet is due");
        let body = Body::Ack { out_of_order: word, marked: 0, report: None };
        Packet { flow, head: Head::plain(*ack_size), hop: *onto, order, segment, sent, body }
    }

    /// The packet that leaves the way back next does so. Returns when the next one does.
    #[inline(always)]
    pub fn pass(&mut self, flow: u32) -> Option<Time> {
        let back = &mut self.pairs[flow as usize].back;
        self.packets.pop(&mut back.packets);
        self.packets.time(&back.packets)
    }

    /// Makes the acknowledgments of what has arrived at the sink by `now`.
    pub fn settle(&mut self, now: Time, flow: u32, mut acknowledge: impl FnMut(Time, &Packet) -> Packet) {
        let AccessPair { back, onto, .. } = &mut self.pairs[flow as usize];
        self.packets.visit(&mut back.packets, |lean| {
            let arrival = lean.exit - back.delay;
            if arrival > now {
                return false;
            }
            let ack = acknowledge(arrival, &lean.data(flow, *onto));
            if let Body::Ack { out_of_order, .. } = ack.body {
                (lean.segment, lean.word) = (ack.segment, out_of_order);
            }
            true
        });
    }

    /// Prefetches the access links of `flow`.
    #[inline(always)]
    pub fn prefetch(&self, flow: u32) {
        if let Some(pair) = self.pairs.get(flow as usize) {
            prefetch::lines(pair);
        }
    }

    /// Prefetches the packet behind `before` others on the way out of `flow`, or on its way back.
    #[inline(always)]
    pub fn prefetch_packet(&self, flow: u32, is_back: bool, before: usize) {
        if let Some(AccessPair { out, back, .. }) = self.pairs.get(flow as usize)
            && let Some(packet) = self.packets.get(if is_back { &back.packets } else { &out.packets }, before)
        {
            prefetch::lines(packet);
        }
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
