//! One direction of a link: a queue, a transmitter, a delay, and perhaps errors and a router.
//!
//! Nothing happens here at the end of a transmission: what the transmitter did is worked out when somebody looks (an
//! arrival, an exit, a sample), in the order and with the times at which it happened. So a packet costs a driver one
//! timed event per link, its exit, however long it queued; and of all packets inside, only the first one's exit time
//! matters to the driver. That is exact for queues that decide at departure, too: what leaves at a time depends only on what
//! arrived before it, and whenever packets wait, another one is inside, whose exit makes somebody look.

use crate::capacity::Varying;
use crate::queue::{Drops, Queue};
use crate::ring::Ring;
use crate::{Buffer, Change, Discipline, DropTail, Fate, Impairments, Packet, Trace};
use control::{Bytes, Control, Duration, Rate, Router, Stamp, Time};
use std::collections::VecDeque;
use std::sync::Arc;

/// See the [module](self).
pub struct Link<P> {
    /// A router or another queue than DropTail takes part, or the capacity varies. Most links have none of these, and the way
    /// of a packet through those is as short as can be.
    special: bool,
    queue: Queue<P>,
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
    /// Packets lost to errors.
    pub struck: u64,
    /// Packets sent on a detour.
    pub late: u64,
    /// Packets doubled.
    pub doubled: u64,
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
            queue: Queue::DropTail(DropTail::new(buffer)),
            line,
            router: None,
            capacities: VecDeque::new(),
        }
    }

    /// The same link with a queue of this discipline, what is random in it drawn from `seed`.
    pub fn with_queue(self, discipline: &Discipline, buffer: Buffer, seed: u64) -> Link<P> {
        let special = self.special || *discipline != Discipline::DropTail;
        Link { special, queue: Queue::new(discipline, buffer, seed), ..self }
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

    /// The same link, which keeps what its queue drops for [`Link::dropped`].
    pub fn keeping_drops(mut self) -> Link<P> {
        self.line.drops.kept = Some(Vec::new());
        // The short way drops packets without making them.
        Link { special: true, ..self }
    }

    /// Takes back a packet that the queue has dropped, if the link [keeps](Link::keeping_drops) them.
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
            Queue::DropTail(queue) if !self.special => self.line.arrive(now, size, make, queue),
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
        if self.line.left == self.line.next_marked { self.line.pass_marked() } else { Fate::Whole }
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
            Queue::DropTail(queue) if !self.special => self.line.advance(now, queue),
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
        let fate = self.marked.pop_front().map_or(Fate::Whole, |(_, fate)| fate);
        self.next_marked = self.marked.front().map_or(u64::MAX, |&(number, _)| number);
        fate
    }

    #[cold]
    fn mark(&mut self, fate: Fate) {
        self.marked.push_back((self.entered, fate));
        self.next_marked = self.next_marked.min(self.entered);
        match fate {
            Fate::Whole => {}
            Fate::Lost => self.counters.struck += 1,
            Fate::Late => self.counters.late += 1,
            Fate::Twice => self.counters.doubled += 1,
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
            if fate != Fate::Whole {
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
mod tests {
    use super::*;
    use crate::testing::Parcel;
    use crate::{codel, fq_codel, red};

    const US: fn(u64) -> Time = |us| Time(us * 1_000_000);

    /// 1000 bytes take 8 us; 100 us of delay.
    fn link(buffer: Buffer) -> Link<Parcel> {
        Link::new(Some(Rate::from_gbps(1.0)), Duration::from_micros(100), buffer)
    }

    fn drain(link: &mut Link<Parcel>) -> Vec<(u64, u64)> {
        let mut out = Vec::new();
        while let Some(time) = link.next_exit() {
            out.push((time.0 / 1_000_000, link.first().id));
            link.exit();
        }
        out
    }

    #[test]
    fn packets_queue_behind_each_other_and_keep_their_order() {
        let mut link = link(Buffer::Packets(10));
        let first = [0, 0, 20, 50].iter().enumerate().filter(|&(i, &t)| link.arrive(US(t), &Parcel::new(i as u64)));
        assert_eq!(first.map(|(i, _)| i).collect::<Vec<_>>(), [0], "only the first finds the link empty");
        assert_eq!(drain(&mut link), [(108, 0), (116, 1), (128, 2), (158, 3)]);
    }

    #[test]
    fn a_full_buffer_drops_the_newest() {
        for buffer in [Buffer::Packets(2), Buffer::Bytes(Bytes(2999))] {
            let mut link = link(buffer);
            for i in 0..5 {
                link.arrive(US(0), &Parcel::new(i));
            }
            assert_eq!(link.observe(US(0)).dropped, 2, "one in transmission and two waiting");
            assert_eq!(drain(&mut link).len(), 3);
        }
    }

    #[test]
    fn queue_and_busy_time_are_exact_whenever_one_looks() {
        let mut link = link(Buffer::Unlimited);
        for i in 0..3 {
            link.arrive(US(10), &Parcel::new(i));
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
        let mut link = link(Buffer::Unlimited).with_impairments(Impairments::new().with_errors(1.0, 1));
        for i in 0..3 {
            link.arrive(US(0), &Parcel::new(i));
        }
        let mut exits = 0;
        while link.next_exit().is_some() {
            assert_eq!(link.exit(), Fate::Lost);
            exits += 1;
        }
        assert_eq!((exits, link.observe(US(1000)).struck), (3, 3));
    }

    /// Every packet that enters a link leaves it at its end, or is taken back.
    #[test]
    fn what_a_queue_drops_can_be_taken_back() {
        for discipline in all() {
            let buffer = Buffer::Packets(200);
            let link: Link<Parcel> = Link::new(Some(Rate::from_mbps(100.0)), Duration::from_micros(100), buffer);
            let mut link = link.with_queue(&discipline, buffer, 1).keeping_drops();
            let (mut left, mut dropped) = (Vec::new(), Vec::new());
            for i in 0..20_000 {
                while let Some(exit) = link.next_exit()
                    && exit <= US(70 * i)
                {
                    left.push(link.first().id);
                    link.exit();
                }
                link.arrive(US(70 * i), &Parcel { flow: i % 5, ..Parcel::new(i) });
                dropped.extend(std::iter::from_fn(|| link.dropped()).map(|packet| packet.id));
            }
            left.extend(drain(&mut link).iter().map(|(_, id)| id));
            dropped.extend(std::iter::from_fn(|| link.dropped()).map(|packet| packet.id));
            let counters = link.observe(US(10_000_000));
            assert!(counters.dropped == dropped.len() as u64 && counters.dropped > 1000, "{discipline:?}");
            assert_eq!(counters.early > 0, discipline != Discipline::DropTail, "{discipline:?}");
            left.extend(dropped);
            left.sort();
            assert_eq!(left, (0..20_000).collect::<Vec<_>>(), "{discipline:?}");
        }
    }

    /// Writes the number of ticks so far on each departing packet, and the backlog it left behind.
    struct Ticker(u64);

    impl Router for Ticker {
        fn on_arrival(&mut self, _: Time, _: &mut Stamp, _: Bytes, _: Bytes) {}
        fn on_departure(&mut self, now: Time, stamp: &mut Stamp, _: Bytes, backlog: Bytes) {
            *stamp = Stamp::Probe { stream: self.0 as u32, index: 0, len: 0, rate: backlog.0 as f32, sent: now };
        }
        fn next_tick(&self) -> Option<Time> {
            Some(US((self.0 + 1) * 10))
        }
        fn on_tick(&mut self, _: Time, _: Bytes) {
            self.0 += 1;
        }
        fn on_capacity(&mut self, _: Rate) {}
        fn state(&self) -> Control {
            Control { rate: None, growth: None }
        }
    }

    #[test]
    fn a_router_sees_departures_and_ticks_in_their_order() {
        for discipline in all() {
            let link = link(Buffer::Unlimited).with_queue(&discipline, Buffer::Unlimited, 1);
            let mut link = link.with_router(Box::new(Ticker(0)));
            for i in 0..3 {
                link.arrive(US(0), &Parcel::new(i));
            }
            link.observe(US(1000));
            let stamps: Vec<_> = (0..3)
                .map(|_| {
                    let stamp = link.first().stamp;
                    link.exit();
                    stamp
                })
                .collect();
            let expected = [(0, 0, 0), (0, 1000, 8), (1, 0, 16)]; // departures at 0, 8, 16 us; a tick at 10 us
            for (stamp, (ticks, backlog, at)) in stamps.iter().zip(expected) {
                let probe = Stamp::Probe { stream: ticks, index: 0, len: 0, rate: backlog as f32, sent: US(at) };
                assert_eq!(*stamp, probe, "{discipline:?}");
            }
        }
    }

    /// Every discipline, with parameters under which it drops nothing of a short burst.
    fn all() -> [Discipline; 4] {
        let automatic = red::Parameters::automatic(Rate::from_mbps(100.0), Bytes(1000));
        let red = red::Parameters { weight: 0.002, ..automatic };
        [
            Discipline::DropTail,
            Discipline::Red(red),
            Discipline::CoDel(codel::Parameters::RFC),
            Discipline::FqCoDel(fq_codel::Parameters::RFC),
        ]
    }

    type Varied = fn(Link<Parcel>) -> Link<Parcel>;

    /// However often one looks, the same packets leave at the same times, whatever the queue and the capacity.
    #[test]
    fn looking_more_often_changes_nothing() {
        let changing: Varied = |link| {
            let change = |ms: u64, mbps| Change { at: US(1000 * ms), rate: Some(Rate::from_mbps(mbps)), delay: None };
            let delay = Change { delay: Some(Duration::from_micros(20)), ..change(700, 90.0) };
            link.with_changes(&[change(100, 50.0), change(200, 120.0), delay])
        };
        // A thousand bytes each 80 us on average.
        let traced: Varied =
            |link| link.with_trace(Arc::new(Trace::new((0..8300).map(|n| n * 12 / 100).collect()).unwrap()));
        for discipline in all() {
            for varied in [|link| link, changing, traced] {
                let run = |often: bool| {
                    let buffer = Buffer::Packets(2000);
                    let link: Link<Parcel> =
                        Link::new(Some(Rate::from_mbps(100.0)), Duration::from_micros(100), buffer);
                    watch(varied(link.with_queue(&discipline, buffer, 1)), often)
                };
                let (once, often) = (run(false), run(true));
                assert!(once == often, "{discipline:?}");
                assert_eq!(once.1.early > 0, discipline != Discipline::DropTail, "{discipline:?}");
                assert!(once.0.is_sorted_by_key(|&(exit, _)| exit));
            }
        }
    }

    /// Sends overload and rest by turns over `link`, and returns its exits and counters.
    fn watch(mut link: Link<Parcel>, often: bool) -> (Vec<(Time, u64)>, Counters) {
        let (mut random, mut now, mut out) = (1u64, 0, Vec::new());
        for i in 0..20_000 {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let mean = if i / 5000 % 2 == 0 { 70 } else { 100 };
            let next = now + (random >> 33) % (2 * mean);
            for us in if often { now..next + 1 } else { next..next + 1 } {
                while let Some(exit) = link.next_exit()
                    && exit <= US(us)
                {
                    out.push((exit, link.first().id));
                    link.exit();
                }
                if often {
                    link.observe(US(us));
                }
            }
            now = next;
            link.arrive(US(now), &Parcel { flow: i % 5, ..Parcel::new(i) });
        }
        (out, Counters { max_queue: 0, ..link.observe(US(now + 1_000_000)) })
    }

    /// Under a queue that never runs dry, each opportunity delivers a packet of its size, at its time.
    #[test]
    fn a_trace_delivers_exactly_its_opportunities() {
        let stamps = [0, 1, 1, 1, 7, 20, 21, 21, 40];
        for discipline in all() {
            let link = Link::new(None, Duration::from_millis(5), Buffer::Unlimited);
            let link = link.with_queue(&discipline, Buffer::Unlimited, 1);
            let mut link = link.with_trace(Arc::new(Trace::new(stamps.to_vec()).unwrap()));
            let mut delivered = Vec::new();
            for ms in 0..400u64 {
                // Fresh packets in plenty before each millisecond, so that none has waited for long.
                while link.queue.len() < 10 {
                    link.arrive(US(1000 * ms), &Parcel { size: Trace::OPPORTUNITY, ..Parcel::new(ms) });
                }
                while let Some(exit) = link.next_exit()
                    && exit <= US(1000 * (ms + 1))
                {
                    delivered.push(exit.0 / 1_000_000_000 - 5);
                    link.exit();
                }
            }
            let passes = (0..10).flat_map(|pass| stamps.map(|stamp| pass * 40 + u64::from(stamp)));
            // The very first one finds nobody yet.
            let expected: Vec<u64> = passes.skip(1).filter(|&ms| ms + 5 <= 400).collect();
            assert_eq!(delivered, expected, "{discipline:?}");
        }
    }
}
