use super::*;
use crate::queue::{Queueing, Site, registry};
use crate::testing::{Parcel, lifetime};
use control::Port;
use control::registry::routers;

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
fn waiting_and_busy_times_are_exact_at_any_observation() {
    let mut link = link(Buffer::UNLIMITED);
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
    let mut link = link(Buffer::UNLIMITED).with_impairments(Impairments::new().with_errors(1.0, 1));
    for i in 0..3 {
        link.arrive(US(0), &Parcel::new(i));
    }
    let mut exits = 0;
    while link.next_exit().is_some() {
        assert_eq!(link.exit(), Fate::Lost);
        exits += 1;
    }
    assert_eq!((exits, link.observe(US(1000)).lost), (3, 3));
}

/// A plain link, which knows on arrival what will happen to a packet, and the same link with a queue that packets are
/// in.
#[test]
fn a_plain_link_does_what_one_with_a_queue_of_packets_does() {
    for buffer in [Buffer::Packets(7), Buffer::Bytes(Bytes(9000)), Buffer::UNLIMITED] {
        let mut plain = link(buffer);
        let mut queued = link(buffer).with_queue(Box::new(DropTail::new(buffer)));
        let (mut random, mut now) = (1u64, Time::ZERO);
        for id in 0..20_000 {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            now += Duration((random >> 33) % 10_000_000); // 5 us in the mean
            while let Some(exit) = queued.next_exit()
                && exit <= now
            {
                assert_eq!((plain.next_exit(), plain.first().id), (Some(exit), queued.first().id));
                assert_eq!((plain.exit(), queued.exit()), (Fate::Intact, Fate::Intact));
            }
            let packet = Parcel { size: Bytes(40 + (random >> 50) % 1200), ..Parcel::new(id) };
            plain.arrive(now, &packet);
            queued.arrive(now, &packet);
            if id % 7 == 0 {
                now += Duration((random >> 40) % 3_000_000);
                assert_eq!(plain.observe(now), queued.observe(now));
            }
        }
        assert_eq!(drain(&mut plain), drain(&mut queued));
        let counters = plain.observe(now + Duration::from_secs(1.0));
        assert_eq!(counters, queued.observe(now + Duration::from_secs(1.0)));
        assert!(counters.dropped > 100 || buffer == Buffer::UNLIMITED);
    }
}

/// Every packet that enters a link leaves its far end, or is dropped and can be taken out.
#[test]
fn dropped_packets_can_be_taken_out() {
    for discipline in all() {
        let buffer = Buffer::Packets(200);
        let link: Link<Parcel> = Link::new(Some(Rate::from_mbps(100.0)), Duration::from_micros(100), buffer);
        let mut link = link.with_queue(discipline.queue(buffer));
        link.keep_drops();
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
        assert!(counters.dropped == dropped.len() as u64 && counters.dropped > 1000, "{}", discipline.name);
        discipline.check_early_drops(counters.early);
        left.extend(dropped);
        left.sort();
        assert_eq!(left, (0..20_000).collect::<Vec<_>>(), "{}", discipline.name);
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
    fn on_tick(&mut self, _: Time, _: Time, _: Bytes) {
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
        let link = link(Buffer::UNLIMITED).with_queue(discipline.queue(Buffer::UNLIMITED));
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
            assert_eq!(*stamp, probe, "{}", discipline.name);
        }
    }
}

/// A queue discipline with parameters under which it drops nothing of a short burst.
struct Discipline {
    name: &'static str,
    make: Box<MakeQueue>,
}

/// Makes an empty queue at a link.
type MakeQueue = dyn Fn(&Site) -> Box<dyn Queue<Parcel>>;

impl Discipline {
    /// An empty queue that holds `buffer`.
    fn queue(&self, buffer: Buffer) -> Box<dyn Queue<Parcel>> {
        (self.make)(&Site { buffer, ..SITE })
    }

    /// Checks the number of early drops under long overload. A discipline that is not named here may have any.
    fn check_early_drops(&self, early: u64) {
        match self.name {
            "droptail" => assert_eq!(early, 0, "{} drops only when the buffer is full", self.name),
            "red" | "ared" | "codel" | "fq-codel" => {
                assert!(early > 0, "{} drops before the buffer is full", self.name)
            }
            _ => {}
        }
    }
}

/// Every discipline of the registry, and the example of CONTRIBUTING.md.
fn all() -> Vec<Discipline> {
    let registered = |discipline: &registry::QueueDiscipline| {
        let weight = discipline.parameters().contains(&"weight").then(|| ("weight".to_string(), 0.002.into()));
        let setup = discipline.setup(&weight.into_iter().collect(), &SITE).unwrap();
        let make = move |site: &Site| setup.build(site.rate, site.buffer, 1).unwrap();
        Discipline { name: discipline.name, make: Box::new(make) }
    };
    let example =
        Discipline { name: "lifetime", make: Box::new(|site| lifetime::Parameters::default().queue(site, 1)) };
    registry::all().iter().map(registered).chain([example]).collect()
}

/// The link that the parameters of [`all`] follow from.
const SITE: Site = Site { rate: Rate::from_bps(100e6), buffer: Buffer::UNLIMITED, packet: Bytes(1000) };

type Varied = fn(Link<Parcel>) -> Link<Parcel>;

/// The same packets leave at the same times however often the link is observed, with every queue and capacity.
#[test]
fn observing_more_often_changes_nothing() {
    let changing: Varied = |link| {
        let change = |ms: u64, mbps| Change { at: US(1000 * ms), rate: Some(Rate::from_mbps(mbps)), delay: None };
        let delay = Change { delay: Some(Duration::from_micros(20)), ..change(700, 90.0) };
        link.with_changes(&[change(100, 50.0), change(200, 120.0), delay])
    };
    // A thousand bytes each 80 us on average.
    let traced: Varied =
        |link| link.with_trace(Arc::new(Trace::new((0..8300).map(|n| n * 12 / 100).collect()).unwrap()));
    let shaped: Varied = |link| link.with_shaper(Shaper { rate: Rate::from_mbps(95.0), burst: Bytes(50_000) });
    let jittery: Varied = |link| link.with_jitter(&JITTER, 1);
    for discipline in all() {
        for varied in [|link| link, changing, traced, jittery, shaped] {
            let run = |often: bool| {
                let buffer = Buffer::Packets(2000);
                let link: Link<Parcel> = Link::new(Some(Rate::from_mbps(100.0)), Duration::from_micros(100), buffer);
                watch(varied(link.with_queue(discipline.queue(buffer))), often)
            };
            let (once, often) = (run(false), run(true));
            assert!(once == often, "{}", discipline.name);
            discipline.check_early_drops(once.1.early);
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
        let link = Link::new(None, Duration::from_millis(5), Buffer::UNLIMITED);
        let link = link.with_queue(discipline.queue(Buffer::UNLIMITED));
        let mut link = link.with_trace(Arc::new(Trace::new(stamps.to_vec()).unwrap()));
        let mut delivered = Vec::new();
        for ms in 0..400u64 {
            // New packets before each millisecond, so that packets always wait, and none for long.
            while link.waiting() < 10 {
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
        // At the very first opportunity, no packet has arrived yet.
        let expected: Vec<u64> = passes.skip(1).filter(|&ms| ms + 5 <= 400).collect();
        assert_eq!(delivered, expected, "{}", discipline.name);
    }
}

/// A router whose link lets it skip no interval.
struct EachInterval(Box<dyn Router>);

impl Router for EachInterval {
    fn on_arrival(&mut self, now: Time, stamp: &mut Stamp, size: Bytes, backlog: Bytes) {
        self.0.on_arrival(now, stamp, size, backlog);
    }
    fn on_departure(&mut self, now: Time, stamp: &mut Stamp, size: Bytes, backlog: Bytes) {
        self.0.on_departure(now, stamp, size, backlog);
    }
    fn next_tick(&self) -> Option<Time> {
        self.0.next_tick()
    }
    fn on_tick(&mut self, now: Time, _: Time, backlog: Bytes) {
        self.0.on_tick(now, now, backlog);
    }
    fn on_capacity(&mut self, rate: Rate) {
        self.0.on_capacity(rate);
    }
    fn state(&self) -> Control {
        self.0.state()
    }
}

/// Bursts of packets, idle seconds between them, and changes of capacity, all of which meet ticks at the same time.
#[test]
fn a_router_that_skips_idle_intervals_answers_as_one_that_does_not() {
    const MS: fn(u64) -> Time = |ms| Time(ms * 1_000_000_000);
    // The ticks of XCP: one after 100 ms, and one each 125 ms from then on.
    let rates = [(2_100, 500.0), (9_100, 0.0), (17_600, 8.0), (30_100, 1000.0)];
    let changes = rates.map(|(ms, mbps)| Change { at: MS(ms), rate: Some(Rate::from_mbps(mbps)), delay: None });
    for protocol in routers::all() {
        let router = || {
            let port = Port { capacity: Rate::from_gbps(1.0), buffer: Bytes(200_000) };
            protocol.build(protocol.defaults(), &port).unwrap()
        };
        let cross = |router: Box<dyn Router>| {
            let mut link = link(Buffer::Packets(200)).with_changes(&changes).with_router(router);
            let mut seen = Vec::new();
            for ms in [0, 10, 20, 500, 510, 2_100, 8_100, 12_000, 16_000, 17_600, 29_990, 30_100, 45_000, 90_000] {
                for i in 0..20 {
                    let rtt = 0.125;
                    let rate = Stamp::Rate { rate: f32::INFINITY, rtt };
                    let window = Stamp::Window { window: 5.0, rtt, feedback: f32::INFINITY };
                    link.arrive(MS(ms), &Parcel { stamp: if i % 2 == 0 { rate } else { window }, ..Parcel::new(i) });
                }
                while link.next_exit().is_some_and(|exit| exit <= MS(ms + 10)) {
                    seen.push((link.first().stamp, link.control()));
                    link.exit();
                }
            }
            link.observe(MS(200_000));
            (seen, link.control())
        };
        let (skipping, each) = (cross(router()), cross(Box::new(EachInterval(router()))));
        assert!(skipping.0.len() > 150, "{}: {}", protocol.name, skipping.0.len());
        assert_eq!(skipping, each, "{}", protocol.name);
    }
}

/// Packets of 8 us behind a delay of 100 us, in batches of 50 us: those that would leave at 108, 116, 124 and 158 us
/// leave at 150 and 200 us.
#[test]
fn aggregation_delivers_in_batches_and_in_order() {
    let mut link = link(Buffer::Packets(10)).with_aggregation(Duration::from_micros(50));
    for (id, us) in [0, 0, 0, 50].into_iter().enumerate() {
        link.arrive(US(us), &Parcel::new(id as u64));
    }
    assert_eq!(drain(&mut link), [(150, 0), (150, 1), (150, 2), (200, 3)]);
}

/// A shorter delay, from 30 us on, would put the second packet into an earlier batch than the first.
#[test]
fn a_batch_does_not_overtake_the_one_before() {
    let shorter = Change { at: US(30), rate: None, delay: Some(Duration::from_micros(10)) };
    let mut link = link(Buffer::Packets(10)).with_changes(&[shorter]).with_aggregation(Duration::from_micros(50));
    for (id, us) in [0, 30, 142].into_iter().enumerate() {
        link.arrive(US(us), &Parcel::new(id as u64));
    }
    assert_eq!(drain(&mut link), [(150, 0), (150, 1), (200, 2)]);
}

/// An extra delay that changes by far less than the time passes: its standard deviation from one of its points to the
/// next, 6.25 ms later, is about 0.35 ms.
const JITTER: Jitter = Jitter { mean: Duration::from_millis(1), correlation: Duration::from_millis(100) };

/// The exits of a packet each `period` microseconds, for five seconds.
fn exits(jitter: &Jitter, period: u64, seed: u64) -> Vec<(Time, u64)> {
    let mut link = Link::new(None, Duration::from_millis(10), Buffer::UNLIMITED).with_jitter(jitter, seed);
    let mut exits = Vec::new();
    for us in (0..5_000_000).step_by(period as usize) {
        link.arrive(US(us), &Parcel::new(us));
    }
    while let Some(time) = link.next_exit() {
        exits.push((time, link.first().id));
        link.exit();
    }
    exits
}

/// Ten times as many packets change nothing for those among them that were sent before, too.
#[test]
fn jitter_does_not_depend_on_how_many_packets_are_sent() {
    let (many, few) = (exits(&JITTER, 100, 7), exits(&JITTER, 1000, 7));
    let same: Vec<_> = many.iter().copied().filter(|(_, us)| us % 1000 == 0).collect();
    assert_eq!(same, few);
    assert_eq!(few, exits(&JITTER, 1000, 7));
    assert_ne!(few, exits(&JITTER, 1000, 8));
    // None leaves before its delay of 10 ms, and the mean is about that of 50 correlation times.
    let beyond: Vec<Duration> = few.iter().map(|&(exit, us)| exit.since(US(us + 10_000))).collect();
    assert!(few.iter().all(|&(exit, us)| exit >= US(us + 10_000)));
    let mean = beyond.iter().copied().sum::<Duration>().as_millis() / beyond.len() as f64;
    assert!((0.4..1.6).contains(&mean), "{mean}");
}

/// Jitter that often falls faster than time passes: packets leave together, and never out of order.
#[test]
fn jitter_keeps_packets_in_order() {
    let wild = Jitter { mean: Duration::from_millis(50), correlation: Duration::from_millis(50) };
    let exits = exits(&wild, 1000, 7);
    assert!(exits.is_sorted() && exits.is_sorted_by_key(|&(_, us)| us));
    assert!(exits.windows(2).filter(|pair| pair[0].0 == pair[1].0).count() > 500, "packets that leave together");
}

/// 1000 bytes take 8 us, and tokens for them come in 80 us. The bucket has room for 9 packets, and tokens for the tenth
/// have come when the ninth is sent, at 72 us, but for 8 us: 9 / (1 - 0.1) packets pass at the link's rate.
#[test]
fn a_shaper_lets_a_burst_pass_and_then_its_rate() {
    let shaper = Shaper { rate: Rate::from_mbps(100.0), burst: Bytes(9000) };
    let mut link = link(Buffer::Packets(20)).with_shaper(shaper);
    for i in 0..13 {
        link.arrive(US(0), &Parcel::new(i));
    }
    let counters = link.observe(US(400));
    // All but the one in transmission, or waiting for tokens, were in the queue.
    assert_eq!((counters.max_queue, counters.busy), (12, Duration::from_micros(328)));
    let burst = (1..=9).map(|n| 100 + 8 * n);
    let shaped = (1..=4).map(|n| 100 + 80 * n + 8);
    let left: Vec<u64> = drain(&mut link).into_iter().map(|(us, _)| us).collect();
    assert_eq!(left, burst.chain(shaped).collect::<Vec<_>>());
    // 1000 us later, the bucket is full again.
    for i in 0..10 {
        link.arrive(US(2000), &Parcel::new(i));
    }
    let left: Vec<u64> = drain(&mut link).into_iter().map(|(us, _)| us).collect();
    assert_eq!(left, (1..=9).map(|n| 2100 + 8 * n).chain([2188]).collect::<Vec<_>>());
}

/// Opportunities of a trace at which there are no tokens are lost: each 10 ms one packet could be delivered, and tokens
/// for it come in 25 ms.
#[test]
fn a_shaped_trace_loses_opportunities_without_tokens() {
    let shaper = Shaper { rate: Trace::OPPORTUNITY.over(Duration::from_millis(25)), burst: Trace::OPPORTUNITY };
    let link = Link::new(None, Duration::ZERO, Buffer::UNLIMITED);
    let mut link = link.with_trace(Arc::new(Trace::new(vec![10]).unwrap())).with_shaper(shaper);
    for i in 0..5 {
        link.arrive(US(0), &Parcel { size: Trace::OPPORTUNITY, ..Parcel::new(i) });
    }
    // Tokens at 0, 25, 50, 75 and 100 ms, after which the next opportunity is used.
    assert_eq!(drain(&mut link).into_iter().map(|(us, _)| us / 1000).collect::<Vec<_>>(), [10, 30, 60, 80, 110]);
}
