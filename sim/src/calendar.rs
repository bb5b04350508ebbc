//! Packets in the order of time at which they leave the access links that they are on, of which there are thousands.
//!
//! Each packet is put where its time is, and not behind the last one of its link: into a slot of some microseconds, at
//! its end. When a slot begins, its packets are sorted, and are taken one behind the other then. So a packet takes the
//! same few steps with one link as with a hundred thousand, without a comparison that the processor cannot predict, and
//! memory is written at the ends of slots and read in the order in which it lies there. Packets that leave at the same
//! time do so by the number of their link, and those of one link as they came.

use crate::occupied::Occupied;
use crate::pages;
use control::{Duration, Time};
use path::prefetch;

/// A packet on an access link, in half a cache line: with four bytes less, it would be in two of them now and then.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub struct Passing {
    /// When it leaves the link.
    pub exit: Time,
    /// When it was sent.
    pub sent: Time,
    /// Which link it is on. Decides between packets that leave at the same time.
    pub link: u32,
    /// Its segment, modulo 2^32.
    pub segment: u32,
    /// How many packets its flow had sent before it, modulo 2^32.
    pub order: u32,
}

/// See the [module](self).
#[derive(Debug)]
pub struct Calendar {
    /// A slot stands for 2 to the power of this in picoseconds.
    shift: u32,
    /// How many packets a chunk has, a power of two.
    chunk: u32,
    /// The packets of slot number n are in slot n modulo [`SLOTS`], with those of later turns.
    slots: Box<[Slot; SLOTS]>,
    occupied: Occupied,
    /// Chunks of packets, each of which belongs to one slot or to none.
    places: Vec<Passing>,
    /// For each chunk, the next one of its slot, or of those that belong to none.
    next: Vec<u32>,
    /// The first chunk that belongs to no slot, or [`NONE`].
    free: u32,
    /// All slots before the one of this number have begun.
    begun: u64,
    /// The number of the next slot in which there are packets, or `u64::MAX` if none are in any, so that nobody has to
    /// look for it at every event while only later packets are on access links.
    next_slot: u64,
    /// The packets of the last slot that has begun, in order, and what was put there since: of each, how long after the
    /// beginning of the slot it leaves, in the upper half, and its place.
    due: Vec<u64>,
    /// How many packets of `due` have been taken.
    taken: usize,
    /// The chunks of that slot, and of what was put there since.
    under_way: [Slot; 2],
    /// The next place to prefetch of the slot that begins next, or [`NONE`].
    ahead: u32,
    /// For sorting: the packets of a slot as they came, as in `due`.
    came: Vec<u64>,
    /// For sorting: where in `due` the packets of each part of a slot go.
    parts: Box<[u32; PARTS]>,
}

/// The packets that leave within some microseconds, as they came.
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// Its first chunk.
    first: u32,
    /// The place behind its last packet; that of the beginning of a chunk if the next packet needs another chunk.
    tail: u32,
}

impl Slot {
    const EMPTY: Slot = Slot { first: NONE, tail: 0 };
}

/// Number of slots. Packets that leave later than a turn takes wait for several turns.
const SLOTS: usize = 1 << 13;
/// The least time that a slot stands for, and the most, as powers of two: 67 us and 2.1 ms, in picoseconds. At 100
/// Gbps, some 1700 packets and acknowledgments leave in 67 us, and a turn takes half a second.
const SHORTEST: u32 = 26;
const LONGEST: u32 = 31;
/// At lower rates, a slot has this number of packets that the fastest link transmits, so that the way through a slot is
/// shared by several, and it costs little to put one between them.
const IN_SLOT: u64 = 32;
/// The most packets in a chunk, which is nearly as large as a page of memory then: in a larger part of memory than the
/// processor knows the addresses of, each page costs more than what is read there. Slots with few packets have smaller
/// chunks.
const LARGEST_CHUNK: u64 = 128;
/// The most packets for which there is room from the beginning on: 67 MB.
const MOST_RESERVED: u64 = 1 << 21;
/// The most parts that a slot is divided into to be sorted.
const PARTS: usize = 1 << 12;
/// From this number of packets in a part on, a power of two, as after a burst of many links at nearly the same time,
/// insertion would take too long.
const MANY_IN_PART: u32 = 64;
/// In place of the number of a chunk: there is none.
const NONE: u32 = u32::MAX;

impl Calendar {
    /// A calendar without room.
    pub fn new() -> Calendar {
        Calendar {
            shift: SHORTEST,
            chunk: 2,
            slots: Box::new([Slot::EMPTY; SLOTS]),
            occupied: Occupied::new(SLOTS),
            places: Vec::new(),
            next: Vec::new(),
            free: NONE,
            begun: 0,
            next_slot: u64::MAX,
            due: Vec::new(),
            taken: 0,
            under_way: [Slot::EMPTY; 2],
            ahead: NONE,
            came: Vec::new(),
            parts: Box::new([0; PARTS]),
        }
    }

    /// To be called before the first packet is put there. The fastest link that packets come from transmits each for
    /// this time at least, and no link delays them for longer than `longest`.
    pub fn make_room(&mut self, fastest: Duration, longest: Duration) {
        let lasts = fastest.0.max(1);
        let slot = lasts.saturating_mul(IN_SLOT).checked_next_power_of_two().map_or(LONGEST, u64::trailing_zeros);
        self.shift = slot.clamp(SHORTEST, LONGEST);
        self.chunk = ((1 << self.shift) / lasts / 8).next_power_of_two().clamp(2, LARGEST_CHUNK) as u32;
        // Room for what the fastest link transmits in the delays of two links, and for as much again, as slow start
        // overshoots. The system gives memory only where packets are put. Memory that grew piece by piece would get few
        // large pages.
        self.places.reserve_exact((longest.0.saturating_mul(4) / lasts).min(MOST_RESERVED) as usize);
        pages::large(&self.places);
    }

    /// The number of the slot of a packet that leaves at `exit`.
    #[inline(always)]
    fn number(&self, exit: Time) -> u64 {
        exit.0 >> self.shift
    }

    /// Whether the next packet of `slot` needs another chunk.
    #[inline(always)]
    fn is_full(&self, slot: Slot) -> bool {
        slot.tail & (self.chunk - 1) == 0
    }

    /// The number of the chunk that `place` is in.
    #[inline(always)]
    fn chunk_of(&self, place: u32) -> usize {
        (place >> self.chunk.trailing_zeros()) as usize
    }

    /// Puts a packet there that leaves no earlier than the last one that was taken, and no earlier than others of its
    /// link.
    #[inline(always)]
    pub fn put(&mut self, packet: Passing) {
        let number = self.number(packet.exit);
        let slot = &mut self.slots[number as usize % SLOTS];
        let place = slot.tail;
        if number < self.begun || place & (self.chunk - 1) == 0 {
            let Passing { exit, sent, link, segment, order } = packet;
            return self.put_rarely(exit, sent, link, segment, order);
        }
        slot.tail += 1;
        self.places[place as usize] = packet;
        // By the time the next packet of this slot comes, thousands have been put into others, so that its place is in
        // no cache.
        if let Some(next) = self.places.get(place as usize + 1) {
            prefetch::lines(next);
        }
    }

    /// [`Calendar::put`] where the slot has begun or needs another chunk. It is given the fields of the packet, so that
    /// the packet need not be in memory.
    #[inline(never)]
    fn put_rarely(&mut self, exit: Time, sent: Time, link: u32, segment: u32, order: u32) {
        let packet = Passing { exit, sent, link, segment, order };
        let number = self.number(exit);
        if number < self.begun {
            return self.put_among_due(packet);
        }
        let slot = number as usize % SLOTS;
        let Slot { first, tail } = self.add_chunk(self.slots[slot]);
        self.slots[slot] = Slot { first, tail: tail + 1 };
        self.places[tail as usize] = packet;
        self.occupied.set(slot);
        self.next_slot = self.next_slot.min(self.begun + (number - self.begun) % SLOTS as u64);
    }

    /// The packet's slot has begun: its link delays by less than a slot stands for.
    fn put_among_due(&mut self, packet: Passing) {
        if self.is_full(self.under_way[1]) {
            self.under_way[1] = self.add_chunk(self.under_way[1]);
        }
        let place = self.under_way[1].tail;
        self.under_way[1].tail += 1;
        let entry = (packet.exit.0 - ((self.begun - 1) << self.shift)) << 32 | u64::from(place);
        let places = &mut self.places;
        places[place as usize] = packet;
        let before = self.due[self.taken..].partition_point(|&other| !is_before(places, entry, other));
        self.due.insert(self.taken + before, entry);
    }

    /// `slot` with another chunk.
    #[cold]
    fn add_chunk(&mut self, slot: Slot) -> Slot {
        let chunk = match self.next.get(self.free as usize) {
            Some(&next) => std::mem::replace(&mut self.free, next),
            None => {
                self.next.push(NONE);
                let room = self.places.capacity();
                self.places.resize(self.places.len() + self.chunk as usize, Passing::default());
                if self.places.capacity() > room {
                    pages::large(&self.places);
                }
                self.next.len() as u32 - 1
            }
        };
        self.next[chunk as usize] = NONE;
        let tail = chunk * self.chunk;
        if slot.first == NONE {
            return Slot { first: chunk, tail };
        }
        let last = self.chunk_of(slot.tail - 1);
        self.next[last] = chunk;
        Slot { tail, ..slot }
    }

    /// The chunks of `slot` belong to none from now on.
    fn free(&mut self, slot: Slot) {
        if slot.first != NONE {
            let last = self.chunk_of(slot.tail - 1);
            self.next[last] = self.free;
            self.free = slot.first;
        }
    }

    /// The packet that leaves behind `before` others, if its slot has begun.
    #[inline(always)]
    pub fn get(&self, before: usize) -> Option<&Passing> {
        self.due.get(self.taken + before).and_then(|&entry| self.places.get(entry as u32 as usize))
    }

    /// The packet of `get(0)` is taken out.
    #[inline(always)]
    pub fn pass(&mut self) {
        self.taken += 1;
        if self.taken.is_multiple_of(2) {
            self.prefetch_line();
        }
    }

    /// Whether the packet that was taken out last was the first one of its slot.
    #[inline(always)]
    pub fn has_begun(&self) -> bool {
        self.taken == 1
    }

    /// Prefetches a cache line of the slot that begins next.
    #[inline(always)]
    fn prefetch_line(&mut self) {
        let Some(place) = self.places.get(self.ahead as usize) else { return };
        prefetch::lines(place);
        self.ahead += 2;
        if self.ahead & (self.chunk - 1) == 0 {
            self.ahead = self.next[self.chunk_of(self.ahead - 1)].saturating_mul(self.chunk);
        }
    }

    /// The number of the next slot that has not begun and in which there are packets, and when that begins. Those
    /// packets may all leave in later turns.
    #[inline(always)]
    pub fn next_slot(&self) -> Option<(u64, Time)> {
        let number = self.next_slot;
        (number != u64::MAX).then(|| (number, Time(number.saturating_mul(1 << self.shift))))
    }

    /// Slot `number`, that of [`Calendar::next_slot`], begins. All packets of earlier ones have been taken.
    #[inline(never)]
    pub fn begin(&mut self, number: u64) {
        self.begun = number + 1;
        self.taken = 0;
        let slot = number as usize % SLOTS;
        self.occupied.clear(slot);
        let slot = std::mem::replace(&mut self.slots[slot], Slot::EMPTY);
        let [before, since] = std::mem::replace(&mut self.under_way, [slot, Slot::EMPTY]);
        self.free(before);
        self.free(since);
        if !self.list(&slot, number) {
            self.put_off(number);
        }
        self.next_slot = self.occupied.next(self.begun as usize).map_or(u64::MAX, |next| next as u64);
        self.sort();
        self.ahead = self.slots[self.begun as usize % SLOTS].first.saturating_mul(self.chunk);
    }

    /// Lists the packets of `slot` in `came`. Returns whether all of them are of slot number `number`, and not of later
    /// turns.
    fn list(&mut self, slot: &Slot, number: u64) -> bool {
        self.came.clear();
        let (mut later, mut chunk, shift) = (0, slot.first, self.shift);
        while chunk != NONE {
            let (first, next) = (chunk * self.chunk, self.next[chunk as usize]);
            let end = if next == NONE { slot.tail } else { first + self.chunk };
            let packets = self.places[first as usize..end as usize].iter().zip(first..);
            self.came.extend(packets.map(|(packet, place)| {
                later |= packet.exit.0 >> shift ^ number;
                (packet.exit.0 & ((1 << shift) - 1)) << 32 | u64::from(place)
            }));
            chunk = next;
        }
        later == 0
    }

    /// Takes the packets of later turns out of `came`, and puts them where they were.
    #[cold]
    fn put_off(&mut self, number: u64) {
        let mut came = std::mem::take(&mut self.came);
        came.retain(|&entry| {
            let packet = self.places[entry as u32 as usize];
            let stays = self.number(packet.exit) == number;
            if !stays {
                self.put(packet);
            }
            stays
        });
        self.came = came;
    }

    /// Puts the packets of `came` into `due` in order: first into as many parts as there are packets, by their time,
    /// and then, if few are in the same part, by insertion.
    fn sort(&mut self) {
        let Calendar { places, came, due, parts, .. } = self;
        let number_of_parts = came.len().next_power_of_two().min(PARTS);
        let shift = 32 + self.shift - number_of_parts.trailing_zeros();
        let part_of = |entry: u64| (entry >> shift) as usize % PARTS;
        parts[..number_of_parts].fill(0);
        for &entry in &*came {
            parts[part_of(entry)] += 1;
        }
        let (mut before, mut any) = (0, 0);
        for part in &mut parts[..number_of_parts] {
            let packets = std::mem::replace(part, before);
            before += packets;
            any |= packets;
        }
        // All of them are written below.
        due.resize(came.len(), 0);
        for &entry in &*came {
            let place = &mut parts[part_of(entry)];
            due[*place as usize] = entry;
            *place += 1;
        }
        if any >= MANY_IN_PART {
            due.sort_by_key(|&entry| order_of(places, entry));
            return;
        }
        let mut last = 0;
        for end in 0..due.len() {
            let entry = due[end];
            if entry <= last | u64::from(u32::MAX) {
                last = insert(places, &mut due[..=end]);
            } else {
                last = entry;
            }
        }
    }

    /// Passes all packets that leave up to `until` to `each`, those of one link in order, and perhaps later ones.
    pub fn visit(&self, until: Time, mut each: impl FnMut(&Passing)) {
        let due = self.due.get(self.taken..).unwrap_or_default();
        due.iter().for_each(|&entry| each(&self.places[entry as u32 as usize]));
        let mut later_turns = Vec::new();
        for number in (self.begun..).take(SLOTS) {
            let Slot { first: mut chunk, tail } = self.slots[number as usize % SLOTS];
            while chunk != NONE {
                let (first, next) = (chunk * self.chunk, self.next[chunk as usize]);
                let end = if next == NONE { tail } else { first + self.chunk };
                for packet in &self.places[first as usize..end as usize] {
                    let exit = packet.exit;
                    if self.number(exit) == number {
                        each(packet);
                    } else if exit <= until {
                        later_turns.push(packet);
                    }
                }
                chunk = next;
            }
        }
        later_turns.sort_by_key(|packet| packet.exit);
        later_turns.into_iter().for_each(each);
    }
}

/// Decides when the packet of `entry`, one of [`Calendar::due`] whose places are these, leaves among others: those of
/// one link that leave at the same time are alike.
#[inline(always)]
fn order_of(places: &[Passing], entry: u64) -> (u64, u32) {
    (entry >> 32, places[entry as u32 as usize].link)
}

/// Whether the packet of `entry` leaves before that of `other`, as [`order_of`] decides. Their links are looked at if
/// they leave at the same time alone.
#[inline(always)]
fn is_before(places: &[Passing], entry: u64, other: u64) -> bool {
    entry >> 32 < other >> 32 || entry >> 32 == other >> 32 && order_of(places, entry) < order_of(places, other)
}

/// Puts the last one of `due` where it belongs among the others, which are in order. Returns the last one then.
#[inline]
fn insert(places: &[Passing], due: &mut [u64]) -> u64 {
    let mut at = due.len() - 1;
    let entry = due[at];
    while at > 0 && is_before(places, entry, due[at - 1]) {
        due[at] = due[at - 1];
        at -= 1;
    }
    due[at] = entry;
    due[due.len() - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOT: u64 = 1 << SHORTEST;

    /// Compares with the standard library's stable sort, on links with these delays, whose packets enter them `apart`.
    fn compare(delays: &[u64], apart: u64, fastest: u64) {
        let mut calendar = Calendar::new();
        calendar.make_room(Duration(fastest), Duration::ZERO);
        let (mut random, mut now, mut sent, mut expected, mut found) = (1u64, 0, 0, Vec::new(), Vec::new());
        while found.len() < 50_000 {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            if sent < 50_000 && (found.len() == sent as usize || random >> 63 == 0) {
                now += (random >> 33) % (2 * apart);
                let link = (random >> 20) as usize % delays.len();
                let exit = Time(now + delays[link]);
                expected.push((exit, link as u32, sent));
                calendar.put(Passing { exit, link: link as u32, order: sent, ..Passing::default() });
                sent += 1;
            } else {
                while calendar.get(0).is_none() {
                    let (number, _) = calendar.next_slot().unwrap();
                    calendar.begin(number);
                }
                let first = *calendar.get(0).unwrap();
                // Nothing enters a link before what has left one.
                now = now.max(first.exit.0);
                found.push((first.exit, first.link, first.order));
                calendar.pass();
            }
        }
        expected.sort();
        assert!(found == expected, "{delays:?}, {apart}, {fastest}");
    }

    #[test]
    fn packets_are_taken_in_the_order_of_time_and_link() {
        for fastest in [1, SLOT / 100, SLOT] {
            compare(&[1, 2, 3], 1, fastest); // many equal times
            compare(&[SLOT / 10, SLOT / 2, 0, SLOT], SLOT / 30, fastest); // most packets leave in a slot that has begun
            compare(&[SLOT, 40 * SLOT, 170 * SLOT], SLOT / 500, fastest); // many packets in a slot
            compare(&[SLOT, 40 * SLOT, 170 * SLOT], 2 * SLOT, fastest); // few
            compare(&[SLOT * SLOTS as u64 * 5 / 2, SLOT * SLOTS as u64, 7], SLOT / 3, fastest); // several turns
        }
    }

    #[test]
    fn packets_of_a_burst_are_sorted() {
        let mut calendar = Calendar::new();
        calendar.make_room(Duration(1), Duration::ZERO);
        for link in (0..3000).rev() {
            for order in [0, 1] {
                calendar.put(Passing { exit: Time(SLOT + u64::from(link % 2)), link, order, ..Passing::default() });
            }
        }
        assert_eq!(calendar.next_slot(), Some((1, Time(SLOT))));
        calendar.begin(1);
        let found: Vec<_> = (0..6000).map(|at| calendar.get(at).unwrap()).map(|p| (p.exit, p.link, p.order)).collect();
        assert!(found.is_sorted());
        assert_eq!(calendar.next_slot(), None);
    }

    #[test]
    fn packets_of_each_link_are_visited_in_order() {
        let mut calendar = Calendar::new();
        calendar.make_room(Duration(1), Duration::ZERO);
        let delays = [SLOT / 2, 3 * SLOT, 4 * SLOT * SLOTS as u64, 1000 * SLOT * SLOTS as u64];
        for number in 0..1000 {
            for (link, delay) in delays.into_iter().enumerate() {
                let exit = Time(u64::from(number) * SLOT / 7 + delay);
                calendar.put(Passing { exit, link: link as u32, order: number, ..Passing::default() });
            }
        }
        let mut found = [const { Vec::new() }; 4];
        let until = Time(5 * SLOT * SLOTS as u64);
        calendar.visit(until, |packet| found[packet.link as usize].push(packet.order));
        found[..3].iter().for_each(|found| assert!(found.iter().copied().eq(0..1000)));
    }

    #[test]
    fn two_packets_fill_a_cache_line() {
        assert_eq!(size_of::<Passing>(), 32);
    }
}
