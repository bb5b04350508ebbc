//! The part of a link behind its queue: the transmitter, and the packets that it has sent and that have not left the
//! far end.

use super::Counters;
use crate::capacity::Varying;
use crate::queue::Drops;
use crate::ring::Ring;
use crate::{Fate, Impairments, Packet};
use control::{Bytes, Duration, Rate, Time};
use std::collections::VecDeque;

/// A packet that has left the queue, and not yet the far end: in a cache line of its own, if it fits into one.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub struct Underway<P> {
    /// When it leaves the far end.
    pub exit: Time,
    /// The packet.
    pub packet: P,
}

/// See the [module](self).
pub struct Transmitter<P> {
    /// Picoseconds that a byte takes; zero if packets are transmitted at once.
    pub per_byte: f64,
    /// The size of the last packet transmitted, and how long it took: most packets are of the same size.
    usual: (Bytes, Duration),
    /// Propagation delay.
    pub delay: Duration,
    /// Replaces the three fields above if rate or delay vary.
    pub varying: Option<Box<Varying>>,
    pub impairments: Option<Box<Impairments>>,
    /// When the transmitter has sent all packets that it has begun to send.
    pub free_at: Time,
    /// Packets being transmitted or propagating.
    pub pipe: Ring<Underway<P>>,
    /// How many packets have entered `pipe` so far.
    entered: u64,
    /// How many packets have left `pipe` so far.
    pub left: u64,
    /// Those in `pipe` that will not simply arrive, each by its number among the packets that entered, and its fate.
    marked: VecDeque<(u64, Fate)>,
    /// The first number in `marked`, or `u64::MAX`.
    pub next_marked: u64,
    /// What the queue has dropped.
    pub drops: Drops<P>,
    pub counters: Counters,
}

impl<P: Packet> Transmitter<P> {
    /// A transmitter of `rate` (none: at once) in front of a propagation delay.
    pub fn new(rate: Option<Rate>, delay: Duration) -> Transmitter<P> {
        Transmitter {
            per_byte: rate.map_or(0.0, |rate| 8e12 / rate.as_bps()),
            usual: (Bytes(0), Duration::ZERO),
            delay,
            varying: None,
            impairments: None,
            free_at: Time::ZERO,
            pipe: Ring::new(),
            entered: 0,
            left: 0,
            marked: VecDeque::new(),
            next_marked: u64::MAX,
            drops: Drops::default(),
            counters: Counters::default(),
        }
    }

    /// Returns the fate of the packet that leaves, which is in `marked`.
    #[cold]
    pub(super) fn pass_marked(&mut self) -> Fate {
        let fate = self.marked.pop_front().map_or(Fate::Intact, |(_, fate)| fate);
        self.next_marked = self.marked.front().map_or(u64::MAX, |&(number, _)| number);
        fate
    }

    /// Counts and remembers the `fate` of the packet that enters.
    #[cold]
    fn mark(&mut self, fate: Fate) {
        self.marked.push_back((self.entered, fate));
        self.next_marked = self.next_marked.min(self.entered);
        match fate {
            Fate::Intact => {}
            Fate::Lost => self.counters.lost += 1,
            Fate::Corrupted(_) => self.counters.corrupted += 1,
            Fate::Reordered => self.counters.reordered += 1,
            Fate::Duplicated => self.counters.duplicated += 1,
        }
    }

    /// How long the transmission of a packet of `size` takes at the constant rate.
    pub(super) fn lasts(&self, size: Bytes) -> Duration {
        Duration((size.0 as f64 * self.per_byte + 0.5) as u64)
    }

    /// When the transmission of a packet of `size` from `start` on ends, at the constant rate, and when the packet
    /// leaves the far end.
    #[inline(always)]
    pub(super) fn times(&mut self, start: Time, size: Bytes) -> (Time, Time) {
        if size != self.usual.0 {
            self.usual = (size, self.lasts(size));
        }
        let end = start + self.usual.1;
        (end, end + self.delay)
    }

    /// Transmits `packet`, which takes `lasts` and ends at `end`, so that it leaves the far end at `exit`.
    pub(super) fn put(&mut self, lasts: Duration, end: Time, exit: Time, packet: P) -> &mut P {
        self.free_at = end;
        self.counters.busy += lasts;
        self.entered += 1;
        if let Some(impairments) = &mut self.impairments {
            let fate = impairments.fate();
            if fate != Fate::Intact {
                self.mark(fate);
            }
        }
        let place = self.pipe.push_place();
        *place = Underway { exit, packet };
        place.packet.pass_hop();
        &mut place.packet
    }

    /// Counts the `waiting` packets up to `now`. To be called before their number changes.
    #[inline]
    pub(super) fn account(&mut self, now: Time, waiting: u64) {
        self.counters.waiting += waiting as u128 * now.since(self.counters.at).0 as u128;
        self.counters.at = now;
    }
}
