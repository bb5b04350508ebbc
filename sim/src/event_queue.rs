//! The event queue: a priority queue of timed events, of which there are a few per flow and one per busy link
//! direction.
//!
//! It is a 4-ary heap of 16-byte entries. Almost every event adds another one; so taking the first event leaves a hole
//! at the root, which the next event added fills by sinking from there, often not far.
//!
//! Timers, of which each flow has one and which seldom expire, would make the heap deep. They wait in a timing wheel,
//! in the slot of the millisecond in which they are due, and enter the heap when that millisecond begins.

use control::Time;

/// The kind of an event. The order of the kinds decides between events at the same time, so that a run is always the
/// same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Kind {
    /// The first packet on a link leaves it.
    Exit = 0,
    /// A flow starts or stops, or its controller has asked for this time.
    Wake = 1,
    /// A retransmission timeout may have passed.
    Timeout = 2,
    /// A delayed acknowledgment may be due.
    DelayedAck = 3,
    /// A source of traffic that does not react sends a packet; or a connection begins or goes on.
    Cross = 4,
    /// The measured interval begins or ends.
    Measure = 5,
    /// A sampling interval ends.
    Sample = 6,
    /// A host's interface passes on packets that it has held.
    Interface = 7,
}

const KINDS: [Kind; 8] = [
    Kind::Exit,
    Kind::Wake,
    Kind::Timeout,
    Kind::DelayedAck,
    Kind::Cross,
    Kind::Measure,
    Kind::Sample,
    Kind::Interface,
];

/// An event: its kind, and the number of the link, flow, source or interface.
pub type Event = (Kind, u32);

/// Time in the upper 64 bits, kind and number below: the order of these integers is the order of events.
type Entry = u128;

/// The event queue. See the [module](self).
#[derive(Debug)]
pub struct EventQueue {
    /// The heap, and behind it [`PADDING`] entries that are [`NEVER`].
    heap: Vec<Entry>,
    /// The root has been taken, and no other entry put there yet.
    hole: bool,
    /// Events of the wheel before this time are in the heap.
    turned: Time,
    /// The wheel: events at times from n to n + 1 times [`SLOT`] are in slot n modulo [`SLOTS`], with those of later
    /// turns.
    slots: Vec<Vec<Entry>>,
    /// Number of events in the wheel.
    waiting: usize,
}

/// The time that a slot of the wheel stands for: about a millisecond, in picoseconds.
const SLOT: u64 = 1 << 30;
/// Number of slots: a turn of the wheel takes about a second.
const SLOTS: usize = 1 << 10;
/// An entry later than every event.
const NEVER: Entry = Entry::MAX;
/// Entries behind the heap that are [`NEVER`], so that a node always has four children or none.
const PADDING: usize = 3;

fn entry(time: Time, (kind, index): Event) -> Entry {
    (time.0 as u128) << 64 | (kind as u128) << 32 | index as u128
}

fn time_of(entry: Entry) -> Time {
    Time((entry >> 64) as u64)
}

impl EventQueue {
    /// An empty queue.
    pub fn new() -> EventQueue {
        let slots = vec![Vec::new(); SLOTS];
        EventQueue { heap: vec![NEVER; PADDING], hole: false, turned: Time::ZERO, slots, waiting: 0 }
    }

    /// Adds an event.
    #[inline(always)]
    pub fn add(&mut self, time: Time, event: Event) {
        let entry = entry(time, event);
        if self.hole {
            self.hole = false;
            self.sink(entry);
        } else {
            self.rise(entry);
        }
    }

    /// Adds an event that is due in a while, as timers are. `time` must not be before that of an event already taken.
    #[inline]
    pub fn add_timer(&mut self, time: Time, event: Event) {
        if time < self.turned {
            return self.add(time, event);
        }
        let slot = time.0 / SLOT;
        if self.waiting == 0 {
            self.turned = Time(slot * SLOT);
        }
        self.slots[slot as usize % SLOTS].push(entry(time, event));
        self.waiting += 1;
    }

    /// Removes and returns the first event.
    #[inline]
    pub fn take(&mut self) -> Option<(Time, Event)> {
        if self.hole {
            self.fill_hole();
        }
        let mut first = self.heap[0];
        if time_of(first) >= self.turned && self.waiting > 0 {
            self.turn();
            first = self.heap[0];
        }
        if first == NEVER {
            return None;
        }
        self.hole = true;
        Some((time_of(first), (KINDS[(first >> 32) as usize & 7], first as u32)))
    }

    /// Turns the wheel up to the first event in the heap.
    #[cold]
    fn turn(&mut self) {
        while self.waiting > 0 && time_of(self.heap[0]) >= self.turned {
            let number = self.turned.0 / SLOT;
            let slot = number as usize % SLOTS;
            self.turned = Time((number + 1).saturating_mul(SLOT));
            let mut events = std::mem::take(&mut self.slots[slot]);
            events.retain(|&entry| {
                let later = time_of(entry).0 / SLOT > number;
                if !later {
                    self.waiting -= 1;
                    self.rise(entry);
                }
                later
            });
            self.slots[slot] = events;
        }
    }

    /// No entry was put at the root since it was taken: the last entry goes there.
    #[cold]
    fn fill_hole(&mut self) {
        self.hole = false;
        let last = self.heap.len() - PADDING - 1;
        let entry = std::mem::replace(&mut self.heap[last], NEVER);
        self.heap.pop();
        if last > 0 {
            self.sink(entry);
        }
    }

    /// Puts `entry` at the root, from where it sinks to its place.
    #[inline]
    fn sink(&mut self, entry: Entry) {
        let heap = &mut self.heap[..];
        let mut at = 0;
        while let Some(&[a, b, c, d]) = heap.get(4 * at + 1..4 * at + 5) {
            let (ab, i) = if b < a { (b, 2) } else { (a, 1) };
            let (cd, j) = if d < c { (d, 4) } else { (c, 3) };
            let (least, which) = if cd < ab { (cd, j) } else { (ab, i) };
            if entry <= least {
                break;
            }
            heap[at] = least;
            at = 4 * at + which;
        }
        heap[at] = entry;
    }

    /// Puts `entry` at the end, from where it rises to its place.
    #[cold]
    fn rise(&mut self, entry: Entry) {
        let mut at = self.heap.len() - PADDING;
        self.heap.push(NEVER);
        while at > 0 {
            let parent = (at - 1) / 4;
            if self.heap[parent] <= entry {
                break;
            }
            self.heap[at] = self.heap[parent];
            at = parent;
        }
        self.heap[at] = entry;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

    /// Compares with the standard library's heap, in phases of growth and of decline. Events are up to `ahead`
    /// picoseconds after the last one taken, in steps of `step`; half of them are timers.
    fn compare_with_a_plain_heap(ahead: u64, step: u64) {
        let mut queue = EventQueue::new();
        let mut reference = BinaryHeap::new();
        let (mut random, mut now) = (1u64, 0);
        for round in 0..20_000 {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            if reference.is_empty() || (random >> 33) % 100 < if round / 1000 % 2 == 0 { 60 } else { 40 } {
                let time = now + (random >> 40) % (ahead / step) * step;
                let (kind, index) = ((random >> 20) % 8, (random >> 10) as u32 % 9);
                let event = (KINDS[kind as usize], index);
                if random >> 63 == 0 {
                    queue.add(Time(time), event)
                } else {
                    queue.add_timer(Time(time), event)
                }
                reference.push(Reverse((time, kind, index)));
            } else {
                let (time, (kind, index)) = queue.take().unwrap();
                assert_eq!(Some(Reverse((time.0, kind as u64, index))), reference.pop());
                now = time.0;
            }
        }
        while let Some(Reverse(expected)) = reference.pop() {
            let (time, (kind, index)) = queue.take().unwrap();
            assert_eq!((time.0, kind as u64, index), expected);
        }
        assert_eq!(queue.take(), None);
    }

    #[test]
    fn takes_in_the_order_of_time_kind_and_index() {
        compare_with_a_plain_heap(500, 1); // many equal times
        compare_with_a_plain_heap(10 * SLOT, 1000);
        compare_with_a_plain_heap(3 * SLOTS as u64 * SLOT, SLOT / 4); // several turns ahead
        compare_with_a_plain_heap(1_000_000_000_000_000, 1); // many turns
    }
}
