//! One direction of a link: a queue, a transmitter, a delay, and perhaps errors and a router.
//!
//! Nothing happens here at the end of a transmission: what the transmitter did is worked out when somebody looks (an
//! arrival, an exit, a sample), in the order and with the times at which it happened. So a packet costs a driver one
//! timed event per link, its exit, however long it queued; and of all packets inside, only the first one's exit time
//! matters to the driver. That is exact for queues that decide at departure, too: what leaves at a time depends only on what
//! arrived before it, and whenever packets wait, another one is inside, whose exit makes somebody look.

use crate::capacity::Varying;
use crate::queue::{Drops, LinkQueue, Queue};
use crate::ring::Ring;
use crate::{Buffer, Change, DropTail, Fate, Impairments, Packet, Trace};
use control::{Bytes, Control, Duration, Rate, Router, Stamp, Time};
use std::collections::VecDeque;
use std::sync::Arc;

/// See the [module](self).
pub struct Link<P> {
    /// A router or another queue than DropTail takes part, or the capacity varies. Most links have none of these, and the way
    /// of a packet through those is as short as can be.
    special: bool,
    queue: LinkQueue<P>,
    line: Line<P>,
    router: Option<Box<dyn Router>>,
    /// What the router has still to hear of the capacity, and when.
    capacities: VecDeque<(Time, Rate)>,
}

/// The link behind its queue: the transmitter and what is on its way.
struct Line<P> {
    /// Picoseconds that a byte takes; zero if the capacity is no limit.
    per_byte: f64,
    /// The size of the last packet transmitted, and how long it took: most are alike.
    usual: (Bytes, Duration),
    delay: Duration,
    /// In place of these three, if capacity or delay is not always the same.
    varying: Option<Box<Varying>>,
    impairments: Option<Box<Impairments>>,
    /// When the transmitter has sent all that it has begun.
    free_at: Time,
    /// Being transmitted or propagating, with the time at which each leaves the far end.
    pipe: Ring<(Time, P)>,
    /// Packets put into `pipe` and taken out of it so far, and the numbers of those in it that will not just arrive.
    entered: u64,
    left: u64,
    marked: VecDeque<(u64, Fate)>,
    /// The first of these numbers, or `u64::MAX`.
    next_marked: u64,
    drops: Drops<P>,
    counters: Counters,
}

/// What happened on a link so far. Subtract an earlier copy to get an interval's figures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// The moment up to which these are counted.
    pub at: Time,
    /// Packets that the queue dropped.
    pub dropped: u64,
    /// Those among them that it dropped before it was full.
    pub early: u64,
    /// Packets lost to transmission errors.
    pub lost: u64,
    /// Packets in which a bit was flipped.
    pub corrupted: u64,
    /// Packets that took a detour, on which later ones overtook them.
    pub reordered: u64,
    /// Packets that arrived twice.
    pub duplicated: u64,
    /// How long the transmitter was busy.
    pub busy: Duration,
    /// Integral over time of the number of packets waiting, in packet-picoseconds.
    pub waiting: u128,
    /// The most packets that waited since [`Link::observe`] last returned a copy.
    pub max_queue: u64,
}

impl<P: Packet> Link<P> {
    /// A link that transmits at `rate` (none: at once) and delivers `delay` later.
    pub fn new(rate: Option<Rate>, delay: Duration, buffer: Buffer) -> Link<P> {
        let line = Line {
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
        };
        Link {
            special: false,
            queue: LinkQueue::DropTail(DropTail::new(buffer)),
            line,
            router: None,
            capacities: VecDeque::new(),
        }
    }

    /// The same link with another queue than drop-tail.
    pub fn with_queue(self, queue: Box<dyn Queue<P>>) -> Link<P> {
        Link { special: true, queue: LinkQueue::Other(queue), ..self }
    }

    /// The same link with errors, detours and copies by chance.
    pub fn with_impairments(mut self, impairments: Impairments) -> Link<P> {
        self.line.impairments = impairments.any().then(|| Box::new(impairments));
        self
    }

    /// Gives an empty link another delay and other impairments.
    pub fn restart(&mut self, delay: Duration, impairments: Impairments) {
        debug_assert!(self.line.pipe.is_empty(), "packets on the way would change their order");
        self.line.delay = delay;
        self.line.impairments = impairments.any().then(|| Box::new(impairments));
    }

    /// The same link with these changes of rate and delay, in the order of time.
    pub fn with_changes(mut self, changes: &[Change]) -> Link<P> {
        let varying = self.vary();
        changes.iter().for_each(|change| varying.change(change));
        self.capacities = changes.iter().filter_map(|change| Some((change.at, change.rate?))).collect();
        self
    }

    /// The same link with the opportunities of `trace` in place of its rate.
    pub fn with_trace(mut self, trace: Arc<Trace>) -> Link<P> {
        self.vary().follow(trace);
        self
    }

    fn vary(&mut self) -> &mut Varying {
        self.special = true;
        let Line { per_byte, delay, varying, .. } = &mut self.line;
        varying.get_or_insert_with(|| Box::new(Varying::new(*per_byte, *delay)))
    }

    /// The same link with a router at its queue.
    pub fn with_router(self, router: Box<dyn Router>) -> Link<P> {
        Link { special: true, router: Some(router), ..self }
    }

    /// From here on, the link keeps the packets that its queue drops for [`Link::dropped`].
    pub fn keep_drops(&mut self) {
        self.line.drops.kept = Some(Vec::new());
        // The short way drops packets without making them.
        self.special = true;
    }

    /// Takes out a packet that the queue has dropped, if the link [keeps](Link::keep_drops) them.
    pub fn dropped(&mut self) -> Option<P> {
        self.line.drops.kept.as_mut()?.pop()
    }

    /// A packet arrives at the near end. Says whether the link was empty: then [`Link::next_exit`] is new.
    #[inline]
    pub fn arrive(&mut self, now: Time, packet: &P) -> bool {
        self.arrive_with(now, packet.size(), || *packet)
    }

    /// The same for a packet of `size` that `make` makes: in the place where it will lie, since a copy of what has just been
    /// written piece by piece waits for the pieces.
    #[inline(always)]
    pub fn arrive_with(&mut self, now: Time, size: Bytes, make: impl FnOnce() -> P) -> bool {
        match &mut self.queue {
            LinkQueue::DropTail(queue) if !self.special => self.line.arrive(now, size, make, queue),
            _ => self.arrive_specially(now, make()),
        }
    }

    #[cold]
    fn arrive_specially(&mut self, now: Time, mut packet: P) -> bool {
        self.advance_specially(now);
        let size = packet.size();
        if let Some(router) = &mut self.router {
            let mut none = Stamp::None;
            let stamp = packet.stamp().unwrap_or(&mut none);
            router.on_arrival(now, stamp, size, self.queue.bytes());
        }
        let line = &mut self.line;
        let was_empty = line.pipe.is_empty();
        line.account(now, self.queue.len());
        self.queue.enqueue(now, &packet, now.since(line.free_at), &mut line.drops);
        if line.free_at <= now {
            if let Some(varying) = &mut line.varying {
                varying.idle_until(now);
            }
            self.begin_next(now);
        }
        self.line.counters.max_queue = self.line.counters.max_queue.max(self.queue.len());
        was_empty
    }

    /// When the next packet leaves the far end; none if the link is empty.
    #[inline]
    pub fn next_exit(&self) -> Option<Time> {
        self.line.pipe.front().map(|&(time, _)| time)
    }

    /// The packet that leaves the far end next.
    ///
    /// # Panics
    /// If the link is empty.
    #[inline]
    pub fn first(&self) -> &P {
        &self.line.pipe.front().expect("a packet is due").1
    }

    /// The packet that leaves the far end next; none if the link is empty.
    #[inline]
    pub fn peek(&self) -> Option<&P> {
        self.line.pipe.front().map(|(_, packet)| packet)
    }

    /// That packet leaves. Says what becomes of it; that is the driver's to do.
    ///
    /// # Panics
    /// If the link is empty.
    #[inline]
    pub fn exit(&mut self) -> Fate {
        let time = self.line.pipe.front().expect("a packet is due").0;
        self.line.pipe.pop();
        if self.line.pipe.is_empty() {
            self.advance(time);
        }
        self.line.left += 1;
        if self.line.left == self.line.next_marked { self.line.pass_marked() } else { Fate::Intact }
    }

    /// The counters up to `now`; starts the next interval for [`Counters::max_queue`].
    pub fn observe(&mut self, now: Time) -> Counters {
        self.advance(now);
        let line = &mut self.line;
        line.account(now, self.queue.len());
        let mut counters = line.counters;
        counters.dropped = line.drops.full + line.drops.early;
        counters.early = line.drops.early;
        // A transmission that goes on past `now` has not been busy for so long yet.
        counters.busy -= line.free_at.since(now);
        line.counters.max_queue = self.queue.len();
        counters
    }

    /// What its router does, if it has one, as of the last time that somebody looked.
    pub fn control(&self) -> Option<Control> {
        self.router.as_ref().map(|router| router.state())
    }

    /// Works out what the transmitter and the router did until `now`.
    #[inline]
    fn advance(&mut self, now: Time) {
        match &mut self.queue {
            LinkQueue::DropTail(queue) if !self.special => self.line.advance(now, queue),
            _ => self.advance_specially(now),
        }
    }

    #[cold]
    fn advance_specially(&mut self, now: Time) {
        loop {
            let begins = if self.queue.is_empty() { Time::MAX } else { self.line.free_at };
            let ticks = self.router.as_ref().and_then(|r| r.next_tick()).unwrap_or(Time::MAX);
            if begins.min(ticks) > now {
                return;
            }
            if let Some(router) = &mut self.router {
                while let Some(&(at, rate)) = self.capacities.front()
                    && at <= begins.min(ticks)
                {
                    self.capacities.pop_front();
                    router.on_capacity(rate);
                }
            }
            if begins <= ticks {
                self.begin_next(begins);
            } else if let Some(router) = &mut self.router {
                router.on_tick(ticks, self.queue.bytes());
            }
        }
    }

    /// The transmitter is free at `start` and takes the next packet from the queue.
    fn begin_next(&mut self, start: Time) {
        let line = &mut self.line;
        line.account(start, self.queue.len());
        let Some(packet) = self.queue.dequeue(start, &mut line.drops) else { return };
        let size = packet.size();
        let sent = match &mut line.varying {
            None => line.transmit(start, size, || packet),
            Some(varying) => {
                let (end, exit) = varying.transmit(start, size);
                line.put(end.since(start), end, exit, || packet)
            }
        };
        if let Some(router) = &mut self.router {
            let mut none = Stamp::None;
            let stamp = sent.stamp().unwrap_or(&mut none);
            router.on_departure(start, stamp, size, self.queue.bytes());
        }
    }
}

impl<P: Packet> Line<P> {
    /// [`Link::arrive`] behind a DropTail queue without a router.
    #[inline(always)]
    fn arrive(&mut self, now: Time, size: Bytes, make: impl FnOnce() -> P, queue: &mut DropTail<P>) -> bool {
        self.advance(now, queue);
        if self.free_at <= now {
            let was_empty = self.pipe.is_empty();
            self.transmit(now, size, make);
            was_empty
        } else {
            self.account(now, queue.len());
            if queue.push_with(size, make) {
                self.counters.max_queue = self.counters.max_queue.max(queue.len());
            } else {
                self.drops.full += 1;
            }
            false
        }
    }

    /// [`Link::advance`] behind a DropTail queue without a router.
    #[inline(always)]
    fn advance(&mut self, now: Time, queue: &mut DropTail<P>) {
        while self.free_at <= now && !queue.is_empty() {
            self.begin_next(queue);
        }
    }

    /// The transmitter has become free and takes the next packet from the queue.
    #[inline]
    fn begin_next(&mut self, queue: &mut DropTail<P>) {
        let start = self.free_at;
        self.account(start, queue.len());
        if let Some(&packet) = queue.first() {
            queue.pop();
            self.transmit(start, packet.size(), || packet);
        }
    }

    /// The fate of the packet that leaves, which was marked.
    #[cold]
    fn pass_marked(&mut self) -> Fate {
        let fate = self.marked.pop_front().map_or(Fate::Intact, |(_, fate)| fate);
        self.next_marked = self.marked.front().map_or(u64::MAX, |&(number, _)| number);
        fate
    }

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

    /// Transmits the packet of `size` that `make` makes.
    #[inline(always)]
    fn transmit(&mut self, start: Time, size: Bytes, make: impl FnOnce() -> P) -> &mut P {
        if size != self.usual.0 {
            self.usual = (size, Duration((size.0 as f64 * self.per_byte + 0.5) as u64));
        }
        let lasts = self.usual.1;
        self.put(lasts, start + lasts, start + lasts + self.delay, make)
    }

    /// Transmits a packet, which `lasts` until `end`, to leave the far end at `exit`.
    #[inline(always)]
    fn put(&mut self, lasts: Duration, end: Time, exit: Time, make: impl FnOnce() -> P) -> &mut P {
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
        place.0 = exit;
        place.1 = make();
        place.1.pass_hop();
        &mut place.1
    }

    /// Counts the queue as it has been until `now`, `waiting` packets; call before it changes.
    #[inline]
    fn account(&mut self, now: Time, waiting: u64) {
        self.counters.waiting += waiting as u128 * now.since(self.counters.at).0 as u128;
        self.counters.at = now;
    }
}

#[cfg(test)]
mod tests;
