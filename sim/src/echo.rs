//! Where all data crosses one plain link, at whose far end hosts answer at once, and nothing but these answers crosses
//! the same link back: that is never busy when an answer arrives. So when data enters the link, it is known when its
//! answer reaches the source, and neither is an event: what is next is the first answer, or an event before it.

use crate::packet::{Body, Head, Packet, near};
use control::{Duration, Stamp, Time};
use path::ring::Ring;

/// The answers that are under way. See the [module](self).
pub struct Echo {
    /// The link that data crosses.
    pub link: u32,
    /// The position in the topology at which all data begins; [`NONE`] if there is no echo.
    way_out: u32,
    /// In place of the number of a lane, to decide between an answer and events at the same time.
    pub lane: u32,
    /// How long an answer takes from the sink to the source.
    delay: Duration,
    /// In the order of time.
    answers: Ring<Answer>,
    /// The stamps of the data that is answered, if receivers read them.
    stamps: Option<Ring<Stamp>>,
}

/// Data whose answer is under way, in half a cache line: thousands of them are walked through again and again.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub struct Answer {
    /// When the answer reaches the source.
    pub exit: Time,
    /// When the data was sent.
    sent: Time,
    /// The number of the data's flow.
    pub flow: u32,
    /// Its segment, modulo 2^32.
    segment: u32,
    /// How many packets its flow had sent before it, modulo 2^32.
    order: u32,
    head: Head,
}

/// In place of a position: there is none.
const NONE: u32 = u32::MAX;

impl Echo {
    /// There is no such link.
    pub fn none() -> Echo {
        Echo { link: NONE, way_out: NONE, lane: NONE, delay: Duration::ZERO, answers: Ring::new(), stamps: None }
    }

    /// All data begins at position `way_out` and crosses `link`, and its answers take `delay` back to their sources.
    pub fn new(link: u32, way_out: u32, lane: u32, delay: Duration, stamped: bool) -> Echo {
        let stamps = stamped.then(Ring::new);
        Echo { link, way_out, lane, delay, answers: Ring::new(), stamps }
    }

    /// Whether data that begins at position `hop` is answered so.
    #[inline(always)]
    pub fn answers(&self, hop: u32) -> bool {
        hop == self.way_out
    }

    /// `data` arrives at its sink at `arrival`.
    #[inline(always)]
    pub fn answer(&mut self, arrival: Time, data: Packet) {
        let Packet { flow, head, order, segment, sent, body, .. } = data;
        *self.answers.push_place() =
            Answer { exit: arrival + self.delay, sent, flow, segment: segment as u32, order, head };
        if let Some(stamps) = &mut self.stamps
            && let Body::Data(stamp) = body
        {
            *stamps.push_place() = stamp;
        }
    }

    /// The answer that reaches its source behind `before` others.
    #[inline(always)]
    pub fn get(&self, before: usize) -> Option<&Answer> {
        self.answers.get(before)
    }

    /// The answer that reaches its source next.
    #[inline(always)]
    pub fn first(&self) -> Option<&Answer> {
        self.answers.front()
    }

    /// The stamp of the data that is answered by [`Echo::first`].
    #[inline(always)]
    pub fn stamp(&self) -> Stamp {
        self.stamps.as_ref().and_then(Ring::front).copied().unwrap_or(Stamp::None)
    }

    /// The first answer has reached its source.
    #[inline(always)]
    pub fn pop(&mut self) {
        self.answers.pop();
        if let Some(stamps) = &mut self.stamps {
            stamps.pop();
        }
    }

    /// When the data of `answer` arrived at its sink.
    #[inline(always)]
    pub fn arrived(&self, answer: &Answer) -> Time {
        answer.exit - self.delay
    }
}

impl Answer {
    /// The data, with this `stamp`, at whose sink all segments before `cumulative` have arrived.
    #[inline(always)]
    pub fn data(&self, stamp: Stamp, cumulative: u64) -> Packet {
        let &Answer { sent, flow, segment, order, head, .. } = self;
        Packet { flow, head, hop: 0, order, segment: near(cumulative, segment), sent, body: Body::Data(stamp) }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn two_answers_fill_a_cache_line() {
        assert_eq!(size_of::<super::Answer>(), 32);
    }
}
