//! The access links of flows whose packets carry no stamps that anybody reads, as those of window protocols: what is
//! handled ahead on them ([`ahead`](crate::ahead)) needs half a packet, and no queue of its own per link. The packets
//! of all these links are in one [`Calendar`], in the order in which they leave.

use crate::calendar::{Calendar, Passing};
use crate::event_queue::EventQueue;
use crate::packet::{Body, Heads, Packet, near};
use crate::pages;
use control::{Duration, Stamp, Time};

/// The access links of all flows. See the [module](self).
pub struct AccessPairs {
    /// The lane of the way out of the first pair. Each pair has two lanes, of which the second is that of its way back.
    /// So the pair of a lane follows from the lane's number, without a table.
    first: u32,
    pairs: Vec<AccessPair>,
    /// Flows that follow each other and have the same share one entry.
    between: Vec<Between>,
    packets: Calendar,
    /// The longest delay of a way back.
    longest: Duration,
    /// How long a packet takes the fastest link behind a way out.
    fastest: Duration,
}

/// The two access links of a flow, both of which are delays.
#[derive(Debug)]
#[repr(C, align(32))]
pub struct AccessPair {
    out: Duration,
    back: Duration,
    flow: u32,
    /// What is between the two, by its number in [`AccessPairs::between`]; [`NONE`] if the two lanes are no such access
    /// links.
    between: u32,
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

impl AccessPair {
    const ABSENT: AccessPair = AccessPair { out: Duration::ZERO, back: Duration::ZERO, flow: NONE, between: NONE };
}

/// In place of a number: there is none.
const NONE: u32 = u32::MAX;

/// Which access link of a pair a packet is on. [`Passing::link`] is this and twice the number of the pair: the number
/// of the lane, counted from that of the first pair on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// That before data's way.
    Out = 0,
    /// That before the acknowledgments' way: data is there whose acknowledgment is to be made.
    Back = 1,
}

impl Passing {
    /// Which link of its pair it is on.
    #[inline(always)]
    pub fn stage(&self) -> Stage {
        if self.link.is_multiple_of(2) { Stage::Out } else { Stage::Back }
    }

    /// The number of its pair.
    #[inline(always)]
    pub fn pair(&self) -> u32 {
        self.link / 2
    }

    /// Data of `flow`, at whose sink all segments before `cumulative` have arrived.
    #[inline(always)]
    fn data(&self, flow: u32, between: &Between, cumulative: u64) -> Packet {
        let &Passing { sent, segment, order, .. } = self;
        let head = between.heads.of(segment);
        let segment = near(cumulative, segment);
        Packet { flow, head, hop: between.onto, order, segment, sent, body: Body::Data(Stamp::None) }
    }
}

impl AccessPairs {
    /// No flow has such access links.
    pub fn new() -> AccessPairs {
        AccessPairs {
            first: 0,
            pairs: Vec::new(),
            between: Vec::new(),
            packets: Calendar::new(),
            longest: Duration::ZERO,
            fastest: Duration(u64::MAX),
        }
    }

    /// Makes a pair of `lane` and the next lane, on which no packet is yet, and which have these `delays`, for `flow`.
    /// The lanes of pairs follow each other, up to `most` pairs from the first one on. A lane that is not in this row
    /// stays as it is; returns whether it does not. The link behind the way out transmits a packet for `lasts`.
    pub fn connect(
        &mut self,
        lane: u32,
        most: usize,
        flow: u32,
        [out, back]: [Duration; 2],
        between: &Between,
        lasts: Duration,
    ) -> bool {
        if self.pairs.is_empty() {
            self.first = lane;
            self.pairs.reserve_exact(most);
            pages::large(&self.pairs);
        }
        let (at, is_back) = ((lane - self.first) as usize / 2, (lane - self.first) % 2 == 1);
        if is_back || at >= most {
            return false;
        }
        // Flows of a group follow each other.
        if self.between.last() != Some(between) {
            self.between.push(*between);
        }
        (self.longest, self.fastest) = (self.longest.max(back), self.fastest.min(lasts));
        self.pairs.resize_with(at + 1, || AccessPair::ABSENT);
        self.pairs[at] = AccessPair { out, back, flow, between: self.between.len() as u32 - 1 };
        true
    }

    /// All pairs are connected, and packets may be sent.
    pub fn make_room(&mut self) {
        if !self.pairs.is_empty() {
            self.packets.make_room(self.fastest, self.longest);
        }
    }

    /// The pair that this lane is of, if it is of one.
    #[inline(always)]
    pub fn find(&self, lane: u32) -> Option<u32> {
        let pair = lane.wrapping_sub(self.first) / 2;
        (self.pairs.get(pair as usize)?.between != NONE).then_some(pair)
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

    /// The packet that leaves an access link behind `before` others, if that is known already.
    #[inline(always)]
    pub fn peek(&self, before: usize) -> Option<&Passing> {
        self.packets.get(before)
    }

    /// Where the pair of `packet` is in memory.
    #[inline(always)]
    pub fn pair_of(&self, packet: &Passing) -> &AccessPair {
        &self.pairs[packet.pair() as usize]
    }

    /// The flow of `packet`.
    #[inline(always)]
    pub fn flow(&self, packet: &Passing) -> u32 {
        self.pair_of(packet).flow
    }

    /// When `packet`, which leaves the way back, arrived at the sink.
    #[inline(always)]
    pub fn arrived(&self, packet: &Passing) -> Time {
        packet.exit - self.pair_of(packet).back
    }

    #[inline(always)]
    fn between(&self, packet: &Passing) -> &Between {
        &self.between[self.pair_of(packet).between as usize]
    }

    /// Whether the packet that was taken out last was the first one of those that were known to leave next.
    #[inline(always)]
    pub fn has_begun(&self) -> bool {
        self.packets.has_begun()
    }

    /// Takes out the packet that leaves its access link next, if it does so before all `events` and no later than
    /// `end`.
    #[inline(always)]
    pub fn take(&mut self, events: &mut EventQueue, end: Time) -> Option<Passing> {
        if self.pairs.is_empty() || self.packets.get(0).is_none() && !self.begin(events) {
            return None;
        }
        let packet = *self.packets.get(0)?;
        let Passing { exit, link, .. } = packet;
        (exit <= end && events.are_after(exit, self.first + link)).then(|| {
            self.packets.pass();
            packet
        })
    }

    /// All packets that were known to leave next have left: finds out about others, as long as all `events` are after
    /// them. Returns whether there are any.
    #[inline(never)]
    fn begin(&mut self, events: &mut EventQueue) -> bool {
        while let Some((slot, begins)) = self.packets.next_slot()
            && events.are_after(begins, 0)
        {
            self.packets.begin(slot);
            if self.packets.get(0).is_some() {
                return true;
            }
        }
        false
    }

    /// The packet of `segment`, modulo 2^32, is sent `now` onto the way out of `pair`.
    #[inline(always)]
    pub fn send(&mut self, now: Time, pair: u32, segment: u32, order: u32) {
        let exit = now + self.pairs[pair as usize].out;
        self.packets.put(Passing { exit, sent: now, link: pair * 2 + Stage::Out as u32, segment, order });
    }

    /// The size of `packet`, which has left the way out, and the link that it goes on to.
    #[inline(always)]
    pub fn leaving(&self, packet: &Passing) -> (u32, u32) {
        let between = self.between(packet);
        (between.heads.of(packet.segment).size(), between.link)
    }

    /// `packet`, which has left the way out, will arrive at the sink at `arrival`, where it turns around.
    #[inline(always)]
    pub fn turn(&mut self, packet: &Passing, arrival: Time) {
        let exit = arrival + self.pair_of(packet).back;
        self.packets.put(Passing { exit, link: packet.pair() * 2 + Stage::Back as u32, ..*packet });
    }

    /// The link behind the way back of `packet`, if that is plain.
    #[inline(always)]
    pub fn link_back(&self, packet: &Passing) -> Option<u32> {
        self.between(packet).link_back
    }

    /// The data that is `packet`, which has left the way back, and when it arrived at the sink, where all segments
    /// before `cumulative` have arrived.
    #[inline(always)]
    pub fn returning(&self, packet: &Passing, cumulative: u64) -> (Packet, Time) {
        let pair = self.pair_of(packet);
        (packet.data(pair.flow, &self.between[pair.between as usize], cumulative), packet.exit - pair.back)
    }

    /// Tells `each` of what has arrived at sinks by `end` and has not left the way back: the flow, and the data, as
    /// [`AccessPairs::returning`] takes it. What is of one flow is in order.
    pub fn settle(&self, end: Time, mut each: impl FnMut(u32, &Passing, &AccessPairs)) {
        self.packets.visit(end + self.longest, |packet| {
            let (pair, exit) = (self.pair_of(packet), packet.exit);
            if packet.stage() == Stage::Back && exit <= end + pair.back {
                each(pair.flow, packet, self);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Head;

    #[test]
    fn two_pairs_fill_a_cache_line() {
        assert_eq!(size_of::<AccessPair>(), 32);
    }

    #[test]
    fn a_segment_is_known_by_its_number_modulo_2_to_the_32() {
        let heads = Heads { full: Head::plain(1000), last: Head::plain(1000), segments: u64::MAX };
        let between = Between { link: 0, link_back: None, onto: 0, heads };
        for cumulative in [0, 7, (1 << 32) - 2, 1 << 32, (5 << 32) + 7_u64] {
            for segment in [cumulative.saturating_sub(5), cumulative, cumulative + 100] {
                let packet = Passing { segment: segment as u32, ..Passing::default() };
                assert_eq!(packet.data(0, &between, cumulative).segment, segment);
            }
        }
    }
}
