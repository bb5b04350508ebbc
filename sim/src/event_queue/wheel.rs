//! The timing wheel of the event queue, in two levels: slots of a millisecond, and the millisecond that is under way in
//! slots of a quarter of a microsecond.

use super::entry::{Entry, time_of};
use crate::occupied::Occupied;
use control::Time;

/// The time that a slot of the upper level stands for: about a millisecond, in picoseconds.
pub const COARSE: u64 = 1 << 30;
/// Number of slots of the upper level: a turn takes about a second. Events that are due later wait for several turns.
pub const SLOTS: usize = 1 << 10;
/// The time that a slot of the lower level stands for: about a quarter of a microsecond, in picoseconds. At 100 Gbps,
/// some ten events fall into it.
pub const FINE: u64 = 1 << 18;
/// Number of slots of the lower level.
const FINE_SLOTS: usize = (COARSE / FINE) as usize;

/// See the [module](self).
#[derive(Debug)]
pub struct Wheel {
    /// No event before this time is in the wheel. A multiple of [`FINE`].
    turned: Time,
    /// The number of the millisecond whose events are in the lower level.
    opened: u64,
    /// The events of millisecond n are in slot n modulo [`SLOTS`], with those of later turns.
    coarse: Level,
    /// The events of millisecond `opened`.
    fine: Level,
    bags: Bags,
}

/// Slots of equal length.
#[derive(Debug)]
struct Level {
    /// The newest events of each slot; older ones are in other chunks. So what begins after each other is side by side
    /// in memory, and most events take one look there. Empty until there is an event.
    slots: Vec<Chunk>,
    occupied: Occupied,
}

/// Events that do not fit into their slots, in chunks, which are lent to slots and returned, so that the memory is that
/// of the events that wait, however they are spread over slots.
#[derive(Debug)]
struct Bags {
    chunks: Vec<Chunk>,
    /// The first chunk that is not in use, or [`NONE`].
    free: u32,
}

/// Events of a slot, in two cache lines.
#[derive(Clone, Debug)]
struct Chunk {
    entries: [Entry; CHUNK],
    /// Number of entries in use.
    len: u32,
    /// The next chunk of the same slot, or the next free one; or [`NONE`].
    next: u32,
}

impl Chunk {
    const EMPTY: Chunk = Chunk { entries: [0; CHUNK], len: 0, next: NONE };

    fn events(&self) -> &[Entry] {
        &self.entries[..self.len as usize]
    }
}

const CHUNK: usize = 7;
/// Up to this number of events of a millisecond, sorting them costs less than the way through the lower level.
const FEW: usize = 256;
/// In place of the number of a chunk: there is none.
const NONE: u32 = u32::MAX;

impl Wheel {
    /// An empty wheel.
    pub fn new() -> Wheel {
        Wheel {
            turned: Time::ZERO,
            opened: 0,
            coarse: Level::new(SLOTS),
            fine: Level::new(FINE_SLOTS),
            bags: Bags { chunks: Vec::new(), free: NONE },
        }
    }

    /// No event before this time is in the wheel.
    #[inline(always)]
    pub fn turned(&self) -> Time {
        self.turned
    }

    /// Whether no event is in the wheel.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.fine.occupied.is_none() && self.coarse.occupied.is_none()
    }

    /// Adds an entry at or after [`Wheel::turned`].
    #[inline]
    pub fn put(&mut self, entry: Entry) {
        let time = time_of(entry).0;
        if time / COARSE == self.opened {
            self.fine.put((time / FINE) as usize, entry, &mut self.bags);
        } else {
            self.coarse.put((time / COARSE) as usize, entry, &mut self.bags);
        }
    }

    /// Turns the wheel up to the first slot with events that does not begin after `first`, and puts these events into
    /// `due`, which is empty, in descending order. If there is no such slot, the wheel is turned past `first`, as far
    /// as no events are.
    #[inline(never)]
    pub fn turn(&mut self, first: Time, due: &mut Vec<Entry>) {
        while first >= self.turned {
            if let Some(slot) = self.fine.occupied.next((self.turned.0 / FINE) as usize) {
                self.turned = Time(slot as u64 * FINE);
                if first >= self.turned {
                    self.turned = Time((slot as u64 + 1) * FINE);
                    self.fine.empty(slot, &mut self.bags, due);
                    due.sort_unstable_by(|a, b| b.cmp(a));
                    return;
                }
            } else if let Some(slot) = self.coarse.occupied.next(self.opened as usize + 1) {
                self.open(slot as u64, first, due);
                if !due.is_empty() {
                    return;
                }
            } else {
                return;
            }
        }
    }

    /// Tells `each` of the entries in the slot of the lower level that is `steps` slots ahead, not counting empty ones.
    pub fn ahead(&self, steps: usize, each: &mut dyn FnMut(Entry)) {
        let mut slot = (self.turned.0 / FINE) as usize;
        for step in 0..steps {
            let Some(next) = self.fine.occupied.next(slot) else { return };
            slot = next + usize::from(step + 1 < steps);
        }
        let mut chunk = self.fine.slots.get(slot % FINE_SLOTS);
        while let Some(events) = chunk {
            events.events().iter().for_each(|&entry| each(entry));
            chunk = self.bags.chunks.get(events.next as usize);
        }
    }

    /// Turns the wheel to the beginning of millisecond `number`. If that is not after `first`, its events go to the
    /// lower level, which is empty. If there are few of them, they go to `due` instead, in descending order, and the
    /// wheel is turned past them.
    fn open(&mut self, number: u64, first: Time, due: &mut Vec<Entry>) {
        self.turned = Time(number.saturating_mul(COARSE));
        self.opened = number - 1;
        if first < self.turned {
            return;
        }
        self.opened = number;
        let Wheel { coarse, fine, bags, .. } = self;
        let mut chunk = Some(coarse.take(number as usize));
        while let Some(events) = chunk {
            for &entry in events.events() {
                if time_of(entry).0 / COARSE == number {
                    due.push(entry);
                } else {
                    coarse.put(number as usize, entry, bags);
                }
            }
            chunk = bags.take(events.next);
        }
        if due.len() > FEW {
            due.drain(..).for_each(|entry| fine.put((time_of(entry).0 / FINE) as usize, entry, bags));
        } else {
            self.turned = Time((number + 1).saturating_mul(COARSE));
            due.sort_unstable_by(|a, b| b.cmp(a));
        }
    }
}

impl Level {
    fn new(slots: usize) -> Level {
        Level { slots: Vec::new(), occupied: Occupied::new(slots) }
    }

    /// Adds an entry to slot `number` modulo the number of slots.
    #[inline]
    fn put(&mut self, number: usize, entry: Entry, bags: &mut Bags) {
        let slot = number & self.occupied.mask();
        self.occupied.set(slot);
        if self.slots.is_empty() {
            self.slots.resize(self.occupied.mask() + 1, Chunk::EMPTY);
        }
        let events = &mut self.slots[slot];
        if events.len as usize == CHUNK {
            *events = Chunk { next: bags.keep(events), ..Chunk::EMPTY };
        }
        events.entries[events.len as usize] = entry;
        events.len += 1;
    }

    /// Empties slot `number` modulo the number of slots. Returns its newest events, behind which others may be.
    fn take(&mut self, number: usize) -> Chunk {
        let slot = number & self.occupied.mask();
        self.occupied.clear(slot);
        std::mem::replace(&mut self.slots[slot], Chunk::EMPTY)
    }

    /// Empties slot `number` modulo the number of slots.
    fn empty(&mut self, number: usize, bags: &mut Bags, due: &mut Vec<Entry>) {
        let slot = number & self.occupied.mask();
        self.occupied.clear(slot);
        let events = &mut self.slots[slot];
        due.extend_from_slice(events.events());
        events.len = 0;
        let mut next = std::mem::replace(&mut events.next, NONE);
        while let Some(events) = bags.chunks.get(next as usize) {
            due.extend_from_slice(events.events());
            next = bags.give_back(next);
        }
    }
}

impl Bags {
    /// Keeps the events of a full chunk. Returns their number.
    #[cold]
    fn keep(&mut self, events: &Chunk) -> u32 {
        let number = self.free;
        match self.chunks.get_mut(number as usize) {
            Some(chunk) => {
                self.free = chunk.next;
                chunk.clone_from(events);
                number
            }
            None => {
                self.chunks.push(events.clone());
                self.chunks.len() as u32 - 1
            }
        }
    }

    /// Takes out the chunk of this number, if it is one.
    fn take(&mut self, number: u32) -> Option<Chunk> {
        let events = self.chunks.get(number as usize)?.clone();
        self.give_back(number);
        Some(events)
    }

    /// A chunk is in use no longer. Returns the number of the next one of its slot.
    fn give_back(&mut self, number: u32) -> u32 {
        let free = std::mem::replace(&mut self.free, number);
        std::mem::replace(&mut self.chunks[number as usize].next, free)
    }
}
