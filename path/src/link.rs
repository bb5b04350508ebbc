//! One direction of a link: a queue, a transmitter, a delay, and perhaps errors and a router.
//!
//! Nothing happens here at the end of a transmission: what the transmitter did is worked out when somebody looks (an
//! arrival, an exit, a sample), in the order and with the times at which it happened. So a packet costs a driver one
//! timed event per link, its exit, however long it queued; and of all packets inside, only the first one's exit time
//! matters to the driver.

use crate::ring::Ring;
use crate::{Buffer, DropTail, Packet, PacketErrors};
use control::{Bytes, Duration, Rate, Router, Time};
use std::collections::VecDeque;

/// See the [module](self).
pub struct Link<P> {
    /// Picoseconds that a byte takes; zero if the capacity is no limit.
    per_byte: f64,
    /// The size of the last packet transmitted, and how long it took: most are alike.
    usual: (Bytes, Duration),
    delay: Duration,
    queue: DropTail<P>,
    errors: Option<PacketErrors>,
    router: Option<Box<dyn Router>>,
    /// When the transmitter has sent all that it has begun.
    free_at: Time,
    /// Being transmitted or propagating, with the time at which each leaves the far end.
    pipe: Ring<(Time, P)>,
    /// Packets put into `pipe` and taken out of it so far, and the numbers of those in it that an error has struck.
    entered: u64,
    left: u64,
    struck: VecDeque<u64>,
    /// The first of these numbers, or `u64::MAX`.
    next_struck: u64,
    counters: Counters,
}

/// What happened on a link so far. Subtract an earlier copy to get an interval's figures.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counters {
    /// The moment up to which these are counted.
    pub at: Time,
    /// Packets that the queue dropped.
    pub dropped: u64,
    /// Packets lost to errors.
    pub struck: u64,
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
        Link {
            per_byte: rate.map_or(0.0, |rate| 8e12 / rate.as_bps()),
            usual: (Bytes(0), Duration::ZERO),
            delay,
            queue: DropTail::new(buffer),
            errors: None,
            router: None,
            free_at: Time::ZERO,
            pipe: Ring::new(),
            entered: 0,
            left: 0,
            struck: VecDeque::new(),
            next_struck: u64::MAX,
            counters: Counters::default(),
        }
    }

    /// The same link with transmission errors.
    pub fn with_errors(self, errors: PacketErrors) -> Link<P> {
        Link { errors: Some(errors), ..self }
    }

    /// The same link with a router at its queue.
    pub fn with_router(self, router: Box<dyn Router>) -> Link<P> {
        Link { router: Some(router), ..self }
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
        self.advance(now);
        if self.router.is_some() {
            return self.arrive_at_router(now, make());
        }
        self.admit(now, size, make)
    }

    #[cold]
    fn arrive_at_router(&mut self, now: Time, mut packet: P) -> bool {
        let size = packet.size();
        if let (Some(router), Some(stamp)) = (&mut self.router, packet.stamp()) {
            router.on_arrival(now, stamp, size, self.queue.bytes());
        }
        self.admit(now, size, || packet)
    }

    #[inline(always)]
    fn admit(&mut self, now: Time, size: Bytes, make: impl FnOnce() -> P) -> bool {
        if self.free_at <= now {
            let was_empty = self.pipe.is_empty();
            self.transmit(now, size, make);
            was_empty
        } else {
            self.account(now);
            if self.queue.push_with(size, make) {
                self.counters.max_queue = self.counters.max_queue.max(self.queue.len());
            } else {
                self.counters.dropped += 1;
            }
            false
        }
    }

    /// When the next packet leaves the far end; none if the link is empty.
    #[inline]
    pub fn next_exit(&self) -> Option<Time> {
        self.pipe.front().map(|&(time, _)| time)
    }

    /// The packet that leaves the far end next.
    ///
    /// # Panics
    /// If the link is empty.
    #[inline]
    pub fn first(&self) -> &P {
        &self.pipe.front().expect("a packet is due").1
    }

    /// That packet leaves. Says whether it is whole (false: an error has struck it).
    ///
    /// # Panics
    /// If the link is empty.
    #[inline]
    pub fn exit(&mut self) -> bool {
        let time = self.pipe.front().expect("a packet is due").0;
        self.pipe.pop();
        if self.pipe.is_empty() {
            self.advance(time);
        }
        self.left += 1;
        self.left != self.next_struck || self.pass_struck()
    }

    /// The packet that leaves was struck; says that it is not whole.
    #[cold]
    fn pass_struck(&mut self) -> bool {
        self.struck.pop_front();
        self.next_struck = self.struck.front().copied().unwrap_or(u64::MAX);
        false
    }

    /// The counters up to `now`; starts the next interval for [`Counters::max_queue`].
    pub fn observe(&mut self, now: Time) -> Counters {
        self.advance(now);
        self.account(now);
        let mut counters = self.counters;
        // A transmission that goes on past `now` has not been busy for so long yet.
        counters.busy -= self.free_at.since(now);
        self.counters.max_queue = self.queue.len();
        counters
    }

    /// Works out what the transmitter and the router did until `now`.
    #[inline]
    fn advance(&mut self, now: Time) {
        if self.router.is_some() {
            return self.advance_with_router(now);
        }
        while self.free_at <= now && !self.queue.is_empty() {
            self.begin_next();
        }
    }

    #[cold]
    fn advance_with_router(&mut self, now: Time) {
        loop {
            let begins = if self.queue.is_empty() { Time::MAX } else { self.free_at };
            let ticks = self.router.as_ref().and_then(|r| r.next_tick()).unwrap_or(Time::MAX);
            if begins.min(ticks) > now {
                return;
            }
            if begins <= ticks {
                self.begin_next();
            } else if let Some(router) = &mut self.router {
                router.on_tick(ticks, self.queue.bytes());
            }
        }
    }

    /// The transmitter has become free and takes the next packet from the queue.
    #[inline]
    fn begin_next(&mut self) {
        let start = self.free_at;
        self.account(start);
        if let Some(&packet) = self.queue.first() {
            self.queue.pop();
            self.transmit(start, packet.size(), || packet);
        }
    }

    /// Transmits the packet of `size` that `make` makes.
    #[inline(always)]
    fn transmit(&mut self, start: Time, size: Bytes, make: impl FnOnce() -> P) {
        if size != self.usual.0 {
            self.usual = (size, Duration((size.0 as f64 * self.per_byte + 0.5) as u64));
        }
        let lasts = self.usual.1;
        self.free_at = start + lasts;
        self.counters.busy += lasts;
        let (exit, packet) = self.pipe.push_place();
        *exit = self.free_at + self.delay;
        *packet = make();
        packet.pass_hop();
        if let Some(router) = &mut self.router
            && let Some(stamp) = packet.stamp()
        {
            router.on_departure(start, stamp, size, self.queue.bytes());
        }
        self.entered += 1;
        if let Some(errors) = &mut self.errors
            && errors.strikes()
        {
            self.struck.push_back(self.entered);
            self.next_struck = self.next_struck.min(self.entered);
            self.counters.struck += 1;
        }
    }

    /// Counts the queue as it has been until `now`; call before it changes.
    #[inline]
    fn account(&mut self, now: Time) {
        self.counters.waiting += self.queue.len() as u128 * now.since(self.counters.at).0 as u128;
        self.counters.at = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::Stamp;

    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    struct Parcel(u64, Stamp);

    impl Packet for Parcel {
        fn size(&self) -> Bytes {
            Bytes(1000)
        }
        fn pass_hop(&mut self) {}
        fn stamp(&mut self) -> Option<&mut Stamp> {
            Some(&mut self.1)
        }
    }

    const US: fn(u64) -> Time = |us| Time(us * 1_000_000);

    /// 1000 bytes take 8 us; 100 us of delay.
    fn link(buffer: Buffer) -> Link<Parcel> {
        Link::new(Some(Rate::from_gbps(1.0)), Duration::from_micros(100), buffer)
    }

    fn drain(link: &mut Link<Parcel>) -> Vec<(u64, u64)> {
        let mut out = Vec::new();
        while let Some(time) = link.next_exit() {
            out.push((time.0 / 1_000_000, link.first().0));
            link.exit();
        }
        out
    }

    #[test]
    fn packets_queue_behind_each_other_and_keep_their_order() {
        let mut link = link(Buffer::Packets(10));
        let first =
            [0, 0, 20, 50].iter().enumerate().filter(|&(i, &t)| link.arrive(US(t), &Parcel(i as u64, Stamp::None)));
        assert_eq!(first.map(|(i, _)| i).collect::<Vec<_>>(), [0], "only the first finds the link empty");
        assert_eq!(drain(&mut link), [(108, 0), (116, 1), (128, 2), (158, 3)]);
    }

    #[test]
    fn a_full_buffer_drops_the_newest() {
        for buffer in [Buffer::Packets(2), Buffer::Bytes(Bytes(2999))] {
            let mut link = link(buffer);
            for i in 0..5 {
                link.arrive(US(0), &Parcel(i, Stamp::None));
            }
            assert_eq!(link.observe(US(0)).dropped, 2, "one in transmission and two waiting");
            assert_eq!(drain(&mut link).len(), 3);
        }
    }

    #[test]
    fn queue_and_busy_time_are_exact_whenever_one_looks() {
        let mut link = link(Buffer::Unlimited);
        for i in 0..3 {
            link.arrive(US(10), &Parcel(i, Stamp::None));
        }
        // Waiting: 2 from 10 to 18 us, 1 from 18 to 26 us. Transmitting from 10 to 34 us.
        let early = link.observe(US(22));
        assert_eq!((early.busy, early.max_queue), (Duration::from_micros(12), 2));
        assert_eq!(early.waiting, 20_000_000);
        let late = link.observe(US(60));
        assert_eq!((late.busy, late.max_queue), (Duration::from_micros(24), 1));
        assert_eq!(late.waiting, 24_000_000);
    }

    #[test]
    fn errors_take_time_on_the_link_and_do_not_stall_it() {
        let mut link = link(Buffer::Unlimited).with_errors(PacketErrors::new(1.0, 1));
        for i in 0..3 {
            link.arrive(US(0), &Parcel(i, Stamp::None));
        }
        let mut exits = 0;
        while link.next_exit().is_some() {
            assert!(!link.exit());
            exits += 1;
        }
        assert_eq!((exits, link.observe(US(1000)).struck), (3, 3));
    }

    /// Writes the number of ticks so far on each departing packet, and the backlog it left behind.
    struct Ticker(u64);

    impl Router for Ticker {
        fn on_arrival(&mut self, _: Time, _: &mut Stamp, _: Bytes, _: Bytes) {}
        fn on_departure(&mut self, now: Time, stamp: &mut Stamp, _: Bytes, backlog: Bytes) {
            *stamp = Stamp::Probe { stream: self.0 as u32, index: 0, len: 0, rate: backlog.0 as f32, planned: now };
        }
        fn next_tick(&self) -> Option<Time> {
            Some(US((self.0 + 1) * 10))
        }
        fn on_tick(&mut self, _: Time, _: Bytes) {
            self.0 += 1;
        }
    }

    #[test]
    fn a_router_sees_departures_and_ticks_in_their_order() {
        let mut link = link(Buffer::Unlimited).with_router(Box::new(Ticker(0)));
        for i in 0..3 {
            link.arrive(US(0), &Parcel(i, Stamp::None));
        }
        link.observe(US(1000));
        let stamps: Vec<_> = (0..3).map(|_| (link.first().1, link.exit()).0).collect();
        let expected = [(0, 0, 0), (0, 1000, 8), (1, 0, 16)]; // departures at 0, 8, 16 us; a tick at 10 us
        for (stamp, (ticks, backlog, at)) in stamps.iter().zip(expected) {
            let probe = Stamp::Probe { stream: ticks, index: 0, len: 0, rate: backlog as f32, planned: US(at) };
            assert_eq!(*stamp, probe);
        }
    }
}
