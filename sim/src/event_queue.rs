//! The event queue: a priority queue of timed events, of which there are a few per flow and one per busy link
//! direction.
//!
//! What is due soon is in a 4-ary heap of 16-byte entries. Almost every event adds another one; so taking the first
//! event leaves a hole at the root, which the next event added fills by sinking from there, often not far.
//!
//! With many flows, the heap would be deep, and each event would walk down through memory that has left the caches. So
//! events that are due later than the present slot of time wait in a timing wheel of two levels, unless the heap is
//! small: first in the slot of their millisecond, then, when that begins, in one of the 4096 slots that it consists of.
//! When such a slot begins, its events are sorted, and taken from there or from the heap, whichever is first; a
//! millisecond with few events is sorted as a whole. Timers, of which each flow has one and which seldom expire, wait
//! in the wheel in any case.
//!
//! The order in which events are taken depends on nothing but the events.

mod entry;
mod wheel;

pub use entry::{Event, Kind};

use control::Time;
use entry::{Entry, entry, event_of, time_of};
use wheel::Wheel;

/// The event queue. See the [module](self).
#[derive(Debug)]
pub struct EventQueue {
    /// The heap, and behind it [`PADDING`] entries that are [`NEVER`].
    heap: Vec<Entry>,
    /// Up to this size of the heap, entries behind it included, events that are due late are put there.
    small: usize,
    /// The root has been taken, and no other entry put there yet.
    hole: bool,
    /// The events of the wheel's present slot that have not been taken, the last one first.
    due: Vec<Entry>,
    /// The events that are due later.
    wheel: Wheel,
    /// A slot of the wheel with events has begun since [`EventQueue::has_turned`] was last called.
    turned: bool,
    /// No event is before this time.
    none_before: Time,
}

/// Up to this size of the heap, which is 512 kB, events wait there and not in the wheel, however late they are due: the
/// way down through a heap that stays in the caches costs less than that through the wheel.
const SMALL_HEAP: usize = 32_768;
/// The same once the heap has been larger, so that what is due late does not linger there.
const EMPTIED_HEAP: usize = 8;
/// An entry later than every event.
const NEVER: Entry = Entry::MAX;
/// Entries behind the heap that are [`NEVER`], so that a node always has four children or none.
const PADDING: usize = 3;

impl EventQueue {
    /// An empty queue.
    pub fn new() -> EventQueue {
        EventQueue {
            heap: vec![NEVER; PADDING],
            small: SMALL_HEAP + PADDING,
            hole: false,
            due: Vec::new(),
            wheel: Wheel::new(),
            turned: false,
            none_before: Time::ZERO,
        }
    }

    /// Adds an event.
    #[inline(always)]
    pub fn add(&mut self, time: Time, event: Event) {
        let entry = entry(time, event);
        if time < self.none_before {
            self.none_before = time;
        }
        if time >= self.wheel.turned() && self.heap.len() > self.small {
            self.small = EMPTIED_HEAP + PADDING;
            self.wheel.put(entry);
        } else if self.hole {
            self.hole = false;
            self.sink(entry);
        } else {
            self.rise(entry);
        }
    }

    /// Adds the next exit from `lane`, if there is one.
    #[inline(always)]
    pub fn add_exit(&mut self, lane: u32, time: Option<Time>) {
        if let Some(time) = time {
            self.add(time, (Kind::Exit, lane));
        }
    }

    /// Adds an event that is due in a while, as timers are. `time` must not be before that of an event already taken.
    #[inline]
    pub fn add_timer(&mut self, time: Time, event: Event) {
        if time < self.wheel.turned() {
            return self.add(time, event);
        }
        self.none_before = self.none_before.min(time);
        self.wheel.put(entry(time, event));
    }

    /// Whether all events come after that of a packet which leaves `lane` at `time`. The wheel turns no further than to
    /// the first of them all.
    #[inline(always)]
    pub fn are_after(&mut self, time: Time, lane: u32) -> bool {
        time < self.none_before || self.find_out_whether_after(time, lane)
    }

    #[inline(never)]
    fn find_out_whether_after(&mut self, time: Time, lane: u32) -> bool {
        let first = if self.hole { self.first_behind_hole() } else { self.heap[0] };
        if self.due.is_empty() && time >= self.wheel.turned() && !self.wheel.is_empty() {
            self.turn(first.min(entry(time, (Kind::Exit, lane))));
        }
        let first = self.due.last().map_or(first, |&due| first.min(due));
        let in_wheel = if self.wheel.is_empty() { Time::MAX } else { self.wheel.turned() };
        self.none_before = time_of(first).min(in_wheel);
        entry(time, (Kind::Exit, lane)) < first
    }

    /// The first entry of the heap, whose root has been taken.
    #[cold]
    fn first_behind_hole(&self) -> Entry {
        self.heap.get(1..5).and_then(|children| children.iter().min()).copied().unwrap_or(NEVER)
    }

    /// Turns the wheel, of whose present slot no events are left, up to the time of `first`, before which no event is.
    #[cold]
    fn turn(&mut self, first: Entry) {
        self.wheel.turn(time_of(first), &mut self.due);
        self.turned = !self.due.is_empty();
    }

    /// Removes and returns the first event.
    #[inline]
    pub fn take(&mut self) -> Option<(Time, Event)> {
        if self.hole {
            self.fill_hole();
        }
        if self.due.is_empty() && time_of(self.heap[0]) >= self.wheel.turned() {
            self.turn(self.heap[0]);
        }
        let first = self.heap[0];
        if let Some(&due) = self.due.last()
            && due < first
        {
            self.due.pop();
            if let Some(&next) = self.due.last() {
                self.none_before = time_of(next.min(first));
            }
            return Some((time_of(due), event_of(due)));
        }
        if first == NEVER {
            return None;
        }
        self.hole = true;
        Some((time_of(first), event_of(first)))
    }

    /// Whether a slot of the wheel with events has begun since the last call: then [`EventQueue::ahead`] has
    /// changed.
    #[inline]
    pub fn has_turned(&mut self) -> bool {
        std::mem::take(&mut self.turned)
    }

    /// Tells `each` of the events that wait in the wheel's present slot (0), in the next one that is not empty (1), and
    /// in the one after that (2), as far as these are in the same millisecond. In every slot there are some ten or
    /// twenty if there are many at all.
    pub fn ahead(&self, mut each: impl FnMut(u32, Event)) {
        self.wheel.ahead(2, &mut |entry| each(2, event_of(entry)));
        self.wheel.ahead(1, &mut |entry| each(1, event_of(entry)));
        self.due.iter().for_each(|&entry| each(0, event_of(entry)));
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
    use super::entry::KINDS;
    use super::wheel::{COARSE, FINE, SLOTS};
    use super::*;
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

    /// Compares with the standard library's heap, in phases of growth and of decline. Events are up to `ahead`
    /// picoseconds after the last one taken, in steps of `step`; half of them are timers.
    fn compare_with_a_plain_heap(ahead: u64, step: u64) {
        for small in [SMALL_HEAP + PADDING, 20 + PADDING] {
            compare_with(EventQueue { small, ..EventQueue::new() }, ahead, step);
        }
    }

    fn compare_with(mut queue: EventQueue, ahead: u64, step: u64) {
        let mut reference = BinaryHeap::new();
        let (mut random, mut now) = (1u64, 0);
        for round in 0..20_000 {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            if reference.is_empty() || (random >> 33) % 100 < if round / 4000 % 2 == 0 { 80 } else { 20 } {
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
        compare_with_a_plain_heap(10 * FINE, 1000);
        compare_with_a_plain_heap(3 * COARSE, 1000); // many events in a millisecond
        compare_with_a_plain_heap(40 * COARSE, 1000); // few
        compare_with_a_plain_heap(3 * SLOTS as u64 * COARSE, COARSE / 4); // several turns ahead
        compare_with_a_plain_heap(1_000_000_000_000_000, 1); // many turns
    }
}
