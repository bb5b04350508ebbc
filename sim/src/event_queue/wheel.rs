//! The timing wheel of the event queue, in two levels: slots of a millisecond, and the millisecond that is under way in
//! slots of a quarter of a microsecond.

use super::entry::{Entry, time_of};
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
    /// The first chunk of each slot's events, or [`NONE`].
    slots: Vec<u32>,
    /// One bit per slot that is not empty.
    occupied: Vec<u64>,
    /// Number of events in all slots.
    waiting: usize,
}

/// Events in chunks, which are lent to slots and returned, so that the memory is that of the events that wait, however
/// they are spread over slots.
#[derive(Debug)]
struct Bags {
    chunks: Vec<Chunk>,
    /// The first chunk that is not in use, or [`NONE`].
    free: u32,
}

/// Two cache lines.
#[derive(Clone, Debug)]
struct Chunk {
    entries: [Entry; CHUNK],
    /// Number of entries in use.
    len: u32,
    /// The next chunk of the same slot, or the next free one; or [`NONE`].
    next: u32,
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
            if let Some(slot) = self.fine.next((self.turned.0 / FINE) as usize) {
                self.turned = Time(slot as u64 * FINE);
                if first >= self.turned {
                    self.turned = Time((slot as u64 + 1) * FINE);
                    self.fine.empty(slot, &mut self.bags, |entry| due.push(entry));
                    due.sort_unstable_by(|a, b| b.cmp(a));
                    return;
                }
            } else if let Some(slot) = self.coarse.next(self.opened as usize + 1) {
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
            let Some(next) = self.fine.next(slot) else { return };
            slot = next + usize::from(step + 1 < steps);
        }
        let mut chunk = self.fine.slots[slot % FINE_SLOTS];
        while let Some(Chunk { entries, len, next }) = self.bags.chunks.get(chunk as usize) {
            entries[..*len as usize].iter().for_each(|&entry| each(entry));
            chunk = *next;
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
        let mut chunk = coarse.take(number as usize);
        while chunk != NONE {
            let Chunk { entries, len, next } = bags.chunks[chunk as usize].clone();
            bags.give_back(chunk);
            coarse.waiting -= len as usize;
            for &entry in &entries[..len as usize] {
                if time_of(entry).0 / COARSE == number {
                    due.push(entry);
                } else {
                    coarse.put(number as usize, entry, bags);
                }
            }
            chunk = next;
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
        Level { slots: vec![NONE; slots], occupied: vec![0; slots / 64], waiting: 0 }
    }

    /// Adds an entry to slot `number` modulo the number of slots.
    #[inline]
    fn put(&mut self, number: usize, entry: Entry, bags: &mut Bags) {
        let slot = number & (self.slots.len() - 1);
        self.occupied[slot / 64] |= 1 << (slot % 64);
        self.waiting += 1;
        bags.put(&mut self.slots[slot], entry);
    }

    /// The number, at or after `from` and within a turn, of the next slot that is not empty.
    fn next(&self, from: usize) -> Option<usize> {
        if self.waiting == 0 {
            return None;
        }
        let mask = self.slots.len() - 1;
        let words = self.occupied.len(); // a power of two, as the number of slots is
        let (first, bit) = ((from & mask) / 64, from % 64);
        for step in 0..=words {
            let mut word = self.occupied[(first + step) & (words - 1)];
            if step == 0 {
                word &= !0 << bit;
            }
            if word != 0 {
                let slot = ((first + step) & (words - 1)) * 64 + word.trailing_zeros() as usize;
                return Some(from + (slot.wrapping_sub(from) & mask));
            }
        }
        None
    }

    /// Empties slot `number` modulo the number of slots without giving its chunks back. Returns the first of them.
    fn take(&mut self, number: usize) -> u32 {
        let slot = number & (self.slots.len() - 1);
        self.occupied[slot / 64] &= !(1 << (slot % 64));
        std::mem::replace(&mut self.slots[slot], NONE)
    }

    /// Empties slot `number` modulo the number of slots.
    fn empty(&mut self, number: usize, bags: &mut Bags, mut each: impl FnMut(Entry)) {
        let mut chunk = self.take(number);
        while chunk != NONE {
            let Chunk { entries, len, next } = &bags.chunks[chunk as usize];
            let (len, next) = (*len as usize, *next);
            entries[..len].iter().for_each(|&entry| each(entry));
            self.waiting -= len;
            bags.give_back(chunk);
            chunk = next;
        }
    }
}

impl Bags {
    /// Adds an entry to the slot that begins with chunk `first`.
    #[inline]
    fn put(&mut self, first: &mut u32, entry: Entry) {
        if let Some(chunk) = self.chunks.get_mut(*first as usize)
            && (chunk.len as usize) < CHUNK
        {
            chunk.entries[chunk.len as usize] = entry;
            chunk.len += 1;
            return;
        }
        *first = self.lend(*first, entry);
    }

    /// A chunk with `entry`, which `next` follows.
    fn lend(&mut self, next: u32, entry: Entry) -> u32 {
        let number = self.free;
        let number = match self.chunks.get(number as usize) {
            Some(chunk) => {
                self.free = chunk.next;
                number
            }
            None => {
                self.chunks.push(Chunk { entries: [0; CHUNK], len: 0, next: NONE });
                self.chunks.len() as u32 - 1
            }
        };
        let chunk = &mut self.chunks[number as usize];
        (chunk.entries[0], chunk.len, chunk.next) = (entry, 1, next);
        number
    }

    fn give_back(&mut self, number: u32) {
        self.chunks[number as usize].next = self.free;
        self.free = number;
    }
}
