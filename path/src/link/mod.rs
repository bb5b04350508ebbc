//! One direction of a link: a queue, a transmitter, a propagation delay, and perhaps transmission errors and a router.
//!
//! The end of a transmission is not an event. Of a plain link, with a drop-tail queue and a constant rate, all that
//! will happen to a packet is known when it arrives. Of another link, the effects are computed at the next call (an
//! arrival, an exit or an observation), in the order and with the times at which they happened. So a packet costs its
//! driver one timed event per link, its exit, however long it waited; and of all packets inside, only the first one's
//! exit time matters to the driver. This is exact for disciplines that drop packets as they leave, too: what leaves at
//! a time depends only on what arrived before, and while packets wait, another packet is inside, whose exit makes the
//! driver use the link.

mod counters;
mod plain;
mod transmitter;

pub use counters::Counters;

use crate::capacity::Varying;
use crate::jitter::ExtraDelay;
use crate::queue::Queue;
use crate::shaper::TokenBucket;
use crate::{Buffer, Change, DropTail, Fate, Impairments, Jitter, Packet, Shaper, Trace};
use control::{Bytes, Control, Duration, Rate, Router, Stamp, Time};
use plain::Waiting;
use std::collections::VecDeque;
use std::sync::Arc;
use transmitter::Transmitter;

/// See the [module](self).
pub struct Link<P> {
    queue: LinkQueue<P>,
    transmitter: Transmitter<P>,
    router: Option<Box<dyn Router>>,
    /// Changes of capacity that the router has not been told yet, and their times.
    capacities: VecDeque<(Time, Rate)>,
}

/// What waits for the transmitter.
enum LinkQueue<P> {
    /// Of a link with a drop-tail queue and a constant rate, and without errors and a router, as most links are. All
    /// that will happen to a packet is known when it arrives.
    Plain(Waiting),
    /// Of any other link.
    Other(Box<dyn Queue<P>>),
}

impl<P: Packet> Link<P> {
    /// A link that transmits at `rate` (none: at once), delivers packets `delay` after that, and holds `buffer` in a
    /// drop-tail queue.
    pub fn new(rate: Option<Rate>, delay: Duration, buffer: Buffer) -> Link<P> {
        Link {
            queue: LinkQueue::Plain(Waiting::new(buffer)),
            transmitter: Transmitter::new(rate, delay),
            router: None,
            capacities: VecDeque::new(),
        }
    }

    /// The same link with another queue than drop-tail.
    pub fn with_queue(self, queue: Box<dyn Queue<P>>) -> Link<P> {
        Link { queue: LinkQueue::Other(queue), ..self }
    }

    /// The same link, which loses, corrupts, reorders or duplicates packets at random.
    pub fn with_impairments(mut self, impairments: Impairments) -> Link<P> {
        if impairments.any() {
            self.be_special();
            self.transmitter.impairments = Some(Box::new(impairments));
        }
        self
    }

    /// From here on, the packets themselves wait: it is not known when they arrive what will happen to them.
    fn be_special(&mut self) {
        if let LinkQueue::Plain(waiting) = &self.queue {
            debug_assert!(self.transmitter.pipe.is_empty(), "packets are on the link already");
            self.queue = LinkQueue::Other(Box::new(DropTail::new(waiting.buffer())));
        }
    }

    /// The same link with these changes of rate and delay, which are in the order of time.
    pub fn with_changes(mut self, changes: &[Change]) -> Link<P> {
        let varying = self.vary();
        changes.iter().for_each(|change| varying.change(change));
        self.capacities = changes.iter().filter_map(|change| Some((change.at, change.rate?))).collect();
        self
    }

    /// The same link, which transmits at the delivery opportunities of `trace` instead of at its rate.
    pub fn with_trace(mut self, trace: Arc<Trace>) -> Link<P> {
        self.vary().follow(trace);
        self
    }

    /// The same link, which delivers packets in batches: they leave the far end at multiples of `period`.
    pub fn with_aggregation(mut self, period: Duration) -> Link<P> {
        self.vary().aggregate(period);
        self
    }

    /// The same link, on which transmissions wait for the tokens of `shaper`, and whose router goes by the shaper's
    /// rate where that is below the link's. To be called after [`Link::with_changes`].
    pub fn with_shaper(mut self, shaper: Shaper) -> Link<P> {
        self.vary().shape(TokenBucket::new(shaper));
        self.capacities.iter_mut().for_each(|(_, rate)| *rate = shaper.limit(*rate));
        self
    }

    /// The same link with an extra delay that varies over time. It follows from `seed`.
    pub fn with_jitter(mut self, jitter: &Jitter, seed: u64) -> Link<P> {
        self.vary().jitter(ExtraDelay::new(jitter, seed));
        self
    }

    fn vary(&mut self) -> &mut Varying {
        self.be_special();
        let Transmitter { per_byte, delay, varying, .. } = &mut self.transmitter;
        varying.get_or_insert_with(|| Box::new(Varying::new(*per_byte, *delay)))
    }

    /// The same link with a router at its queue.
    pub fn with_router(mut self, router: Box<dyn Router>) -> Link<P> {
        self.put_router(router);
        self
    }

    /// Puts a router at the queue of a link that no packet is on.
    pub fn put_router(&mut self, router: Box<dyn Router>) {
        self.be_special();
        self.router = Some(router);
    }

    /// From here on, the link keeps the packets that its queue drops for [`Link::dropped`].
    pub fn keep_drops(&mut self) {
        self.transmitter.drops.kept = Some(Vec::new());
        // A plain link drops packets without making them.
        self.be_special();
    }

    /// Takes out a packet that the queue has dropped, if the link [keeps](Link::keep_drops) them.
    pub fn dropped(&mut self) -> Option<P> {
        self.transmitter.drops.kept.as_mut()?.pop()
    }

    /// A packet arrives at the near end. Returns whether no packet was on the link before: then [`Link::next_exit`] has
    /// changed.
    #[inline]
    pub fn arrive(&mut self, now: Time, packet: &P) -> bool {
        self.arrive_with(now, packet.size(), || *packet)
    }

    /// [`Link::arrive`] for a packet of `size` that `make` makes. The packet is made in its place in memory: a copy of
    /// fields that were written just before would have to wait for them.
    #[inline(always)]
    pub fn arrive_with(&mut self, now: Time, size: Bytes, make: impl FnOnce() -> P) -> bool {
        if let LinkQueue::Other(_) = self.queue {
            return self.arrive_specially(now, make());
        }
        let was_empty = self.transmitter.pipe.is_empty();
        let Some(exit) = self.admit(now, size) else { return false };
        self.put(exit, make);
        was_empty
    }

    /// Whether [`Link::admit`] can be called.
    pub fn is_plain(&self) -> bool {
        matches!(self.queue, LinkQueue::Plain(_))
    }

    /// A packet of `size` arrives at a plain link. Returns when it leaves the far end; none if it is dropped. Its way
    /// over the link is complete with this, and the caller may take it for done, or put it onto the link
    /// ([`Link::put`]) to be called when it leaves.
    ///
    /// # Panics
    /// If the link is not plain.
    #[inline(always)]
    pub fn admit(&mut self, now: Time, size: Bytes) -> Option<Time> {
        let LinkQueue::Plain(waiting) = &mut self.queue else { panic!("what happens to a packet is not known yet") };
        waiting.admit(now, size, &mut self.transmitter)
    }

    /// Puts the packet that `make` makes onto a plain link, which it leaves at `exit`, as [`Link::admit`] said.
    #[inline(always)]
    pub fn put(&mut self, exit: Time, make: impl FnOnce() -> P) {
        let place = self.transmitter.pipe.push_place();
        place.exit = exit;
        place.packet = make();
        place.packet.pass_hop();
    }

    #[cold]
    fn arrive_specially(&mut self, now: Time, mut packet: P) -> bool {
        self.advance(now);
        let LinkQueue::Other(queue) = &mut self.queue else { return false };
        let size = packet.size();
        if let Some(router) = &mut self.router {
            let mut none = Stamp::None;
            let stamp = packet.stamp().unwrap_or(&mut none);
            router.on_arrival(now, stamp, size, queue.bytes());
        }
        let transmitter = &mut self.transmitter;
        let was_empty = transmitter.pipe.is_empty();
        transmitter.account(now, queue.len());
        queue.enqueue(now, &packet, now.since(transmitter.free_at), &mut transmitter.drops);
        if transmitter.free_at <= now {
            if let Some(varying) = &mut transmitter.varying {
                varying.idle_until(now);
            }
            begin_next(now, &mut **queue, transmitter, &mut self.router);
        }
        transmitter.counters.max_queue = transmitter.counters.max_queue.max(queue.len());
        was_empty
    }

    /// When the next packet leaves the far end; none if no packet is on the link.
    #[inline]
    pub fn next_exit(&self) -> Option<Time> {
        self.transmitter.pipe.front().map(|first| first.exit)
    }

    /// The packet that leaves the far end next.
    ///
    /// # Panics
    /// If no packet is on the link.
    #[inline]
    pub fn first(&self) -> &P {
        &self.transmitter.pipe.front().expect("a packet is due").packet
    }

    /// How long the transmission of a packet of `size` takes at a plain link, and how long it takes the packet after
    /// that to leave the far end.
    pub fn durations(&self, size: Bytes) -> (Duration, Duration) {
        (self.transmitter.lasts(size), self.transmitter.delay)
    }

    /// The packet that leaves the far end behind `before` others; none if there is no such packet beyond the queue.
    #[inline]
    pub fn peek(&self, before: usize) -> Option<&P> {
        self.transmitter.pipe.get(before).map(|underway| &underway.packet)
    }

    /// The packet of [`Link::first`] leaves the far end. Returns its fate, which the driver carries out.
    ///
    /// # Panics
    /// If no packet is on the link.
    #[inline]
    pub fn exit(&mut self) -> Fate {
        let time = self.transmitter.pipe.front().expect("a packet is due").exit;
        self.transmitter.pipe.pop();
        if let LinkQueue::Plain(_) = self.queue {
            return Fate::Intact;
        }
        if self.transmitter.pipe.is_empty() {
            self.advance(time);
        }
        self.transmitter.left += 1;
        if self.transmitter.left == self.transmitter.next_marked {
            self.transmitter.pass_marked()
        } else {
            Fate::Intact
        }
    }

    /// The counters up to `now`; starts the next interval for [`Counters::max_queue`].
    pub fn observe(&mut self, now: Time) -> Counters {
        self.advance(now);
        let waiting = self.waiting();
        let transmitter = &mut self.transmitter;
        transmitter.account(now, waiting);
        let mut counters = transmitter.counters;
        counters.dropped = transmitter.drops.full + transmitter.drops.early;
        counters.early = transmitter.drops.early;
        counters.marked = transmitter.drops.marked;
        // What the transmitter will still do after `now` was counted at the beginning of a transmission, or on arrival.
        counters.busy -= transmitter.free_at.since(now);
        transmitter.counters.max_queue = waiting;
        counters
    }

    /// Number of packets that wait, as of the last use of the link.
    fn waiting(&self) -> u64 {
        match &self.queue {
            LinkQueue::Plain(waiting) => waiting.len(),
            LinkQueue::Other(queue) => queue.len(),
        }
    }

    /// What the link's router does, if it has one, as of the last use of the link.
    pub fn control(&self) -> Option<Control> {
        self.router.as_ref().map(|router| router.state())
    }

    /// Computes what the transmitter and the router did until `now`.
    #[inline]
    fn advance(&mut self, now: Time) {
        match &mut self.queue {
            LinkQueue::Plain(waiting) => waiting.advance(now, &mut self.transmitter),
            LinkQueue::Other(_) => self.advance_specially(now),
        }
    }

    #[cold]
    fn advance_specially(&mut self, now: Time) {
        let LinkQueue::Other(queue) = &mut self.queue else { return };
        loop {
            let begins = if queue.is_empty() { Time::MAX } else { self.transmitter.free_at };
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
                begin_next(begins, &mut **queue, &mut self.transmitter, &mut self.router);
            } else if let Some(router) = &mut self.router {
                // A departure and a change of capacity come before a tick at the same time.
                let change = self.capacities.front().map_or(Time::MAX, |&(at, _)| at);
                let until = now.min(begins.min(change) - Duration(1));
                router.on_tick(ticks, until, queue.bytes());
            }
        }
    }
}

/// The transmitter, free at `start`, takes the next packet from the queue.
fn begin_next<P: Packet>(
    start: Time,
    queue: &mut dyn Queue<P>,
    transmitter: &mut Transmitter<P>,
    router: &mut Option<Box<dyn Router>>,
) {
    transmitter.account(start, queue.len());
    let Some(packet) = queue.dequeue(start, &mut transmitter.drops) else { return };
    let size = packet.size();
    let (end, exit) = match &mut transmitter.varying {
        None => transmitter.times(start, size),
        Some(varying) => varying.transmit(start, size),
    };
    let sent = transmitter.put(end.since(start), end, exit, packet);
    if let Some(router) = router {
        let mut none = Stamp::None;
        let stamp = sent.stamp().unwrap_or(&mut none);
        router.on_departure(start, stamp, size, queue.bytes());
    }
}

#[cfg(test)]
mod tests;
