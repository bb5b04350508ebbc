//! The path: links, and routes over them, told the time.

use crate::handle::Handle;
use crate::pool::Pool;
use control::{Duration, Time};
use path::{Buffer, Counters, Fate, Link};

/// One direction of one link, to build a [`Path`] of.
pub struct Hop {
    /// The link, empty.
    pub link: Link<Handle>,
    /// How much longer the detour takes of those that it makes late.
    pub late: Option<Duration>,
    /// Whether it doubles packets.
    pub twice: bool,
}

impl Hop {
    /// A link without detours.
    pub fn plain(link: Link<Handle>) -> Hop {
        Hop { link, late: None, twice: false }
    }
}

/// The path: all directions of its links, and the ways over them.
pub struct Path {
    /// Each is one direction of a link.
    pub hops: Vec<Hop>,
    /// Of each route, the hops that packets cross forward and back, in this order; at least one each.
    pub routes: Vec<[Vec<usize>; 2]>,
}

impl Path {
    /// A single route, over the first hops forward and over the others back.
    pub fn of([forward, reverse]: [Vec<Hop>; 2]) -> Path {
        let (there, all) = (forward.len(), forward.len() + reverse.len());
        Path {
            hops: forward.into_iter().chain(reverse).collect(),
            routes: vec![[(0..there).collect(), (there..all).collect()]],
        }
    }
}

/// No lane.
const NONE: usize = usize::MAX;

/// The links, first the hops', then those of their detours.
pub struct Crossing {
    lanes: Vec<Lane>,
    hops: usize,
    routes: Vec<[Vec<usize>; 2]>,
}

struct Lane {
    link: Link<Handle>,
    late: usize,
    twice: usize,
    /// The last moment that the link was told; links must be told the time in its order.
    told: Time,
}

impl Crossing {
    /// Nothing is on `path` yet.
    pub fn new(path: Path) -> Crossing {
        let hops = path.hops.len();
        let mut lanes: Vec<Lane> = Vec::new();
        let mut detours: Vec<Lane> = Vec::new();
        for hop in path.hops {
            let mut detour = |delay: Option<Duration>| match delay {
                None => NONE,
                Some(delay) => {
                    detours.push(Lane::new(Link::new(None, delay, Buffer::Unlimited)));
                    hops + detours.len() - 1
                }
            };
            let (late, twice) = (detour(hop.late), detour(hop.twice.then_some(Duration::ZERO)));
            lanes.push(Lane { late, twice, ..Lane::new(hop.link.keeping_drops()) });
        }
        lanes.extend(detours);
        Crossing { lanes, hops, routes: path.routes }
    }

    /// A packet arrives at the beginning of its route.
    pub fn arrive(&mut self, at: Time, packet: Handle, pool: &mut Pool) {
        let first = self.routes[packet.route as usize][packet.direction as usize][0];
        self.lanes[first].arrive(at, packet, pool);
    }

    /// When something happens next.
    pub fn next_exit(&self) -> Time {
        self.lanes.iter().filter_map(|lane| lane.link.next_exit()).min().unwrap_or(Time::MAX)
    }

    /// Moves packets along until `now`. Returns the next one that reaches its end, and when it is due there; its slot is the
    /// caller's to release.
    pub fn pass(&mut self, now: Time, pool: &mut Pool) -> Option<(Time, Handle)> {
        loop {
            let exits = self.lanes.iter().enumerate().filter_map(|(i, lane)| Some((lane.link.next_exit()?, i)));
            let (due, i) = exits.min().filter(|&(due, _)| due <= now)?;
            let (mut packet, fate) = self.lanes[i].exit(due, pool);
            let Lane { late, twice, .. } = self.lanes[i];
            match (fate, self.lanes.get_mut(if fate == Fate::Late { late } else { twice })) {
                (Fate::Lost, _) => {
                    pool.release(packet.slot);
                    continue;
                }
                (Fate::Corrupt(bit), _) => packet.flipped = Some(bit),
                (Fate::Late, Some(detour)) => {
                    detour.arrive(due, packet, pool);
                    continue;
                }
                (Fate::Twice, Some(detour)) => {
                    pool.share(packet.slot);
                    detour.arrive(due, packet, pool);
                }
                _ => {}
            }
            // A detour leads to where the hop leads that it belongs to.
            let step = packet.step + 1;
            match self.routes[packet.route as usize][packet.direction as usize].get(step as usize) {
                Some(&next) => self.lanes[next].arrive(due, Handle { step, ..packet }, pool),
                None => return Some((due, packet)),
            }
        }
    }

    /// The counters of each hop up to `now`, or to what it was told already.
    pub fn observe(&mut self, now: Time, pool: &mut Pool) -> Vec<Counters> {
        let observe = |lane: &mut Lane| {
            lane.told = lane.told.max(now);
            let counters = lane.link.observe(lane.told);
            lane.release_drops(pool);
            counters
        };
        self.lanes[..self.hops].iter_mut().map(observe).collect()
    }
}

impl Lane {
    fn new(link: Link<Handle>) -> Lane {
        Lane { link, late: NONE, twice: NONE, told: Time::ZERO }
    }

    fn arrive(&mut self, at: Time, packet: Handle, pool: &mut Pool) {
        self.told = self.told.max(at);
        self.link.arrive(self.told, &packet);
        self.release_drops(pool);
    }

    /// The first packet leaves, as is due.
    fn exit(&mut self, due: Time, pool: &mut Pool) -> (Handle, Fate) {
        self.told = self.told.max(due);
        let packet = *self.link.first();
        let fate = self.link.exit();
        self.release_drops(pool);
        (packet, fate)
    }

    fn release_drops(&mut self, pool: &mut Pool) {
        while let Some(packet) = self.link.dropped() {
            pool.release(packet.slot);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handle::Direction;
    use control::Rate;
    use path::{Discipline, Impairments, codel, fq_codel};

    fn packet(pool: &mut Pool, number: u64) -> Handle {
        let mut payload = vec![0; 1000];
        payload[..8].copy_from_slice(&number.to_le_bytes());
        Handle { slot: pool.put(&payload).unwrap(), size: 1000, flow: number % 3, ..Handle::default() }
    }

    fn number(pool: &mut Pool, packet: Handle) -> u64 {
        u64::from_le_bytes(pool.get(packet.slot)[..8].try_into().unwrap())
    }

    const US: fn(u64) -> Time = |us| Time(us * 1_000_000);

    fn link(mbps: f64, us: u64) -> Link<Handle> {
        Link::new(Some(Rate::from_mbps(mbps)), Duration::from_micros(us), Buffer::Packets(100))
    }

    /// A slow link behind a fast one decides; delays add up; looking late changes nothing.
    #[test]
    fn packets_cross_the_links_in_a_row_at_their_times() {
        let cross = |look_every: u64| {
            let mut pool = Pool::default();
            let mut crossing =
                Crossing::new(Path::of([vec![Hop::plain(link(800.0, 100)), Hop::plain(link(80.0, 1000))], vec![]]));
            (0..5).for_each(|i| crossing.arrive(US(0), packet(&mut pool, i), &mut pool));
            let mut left = Vec::new();
            for us in (0..20).map(|n| n * look_every) {
                while let Some((due, packet)) = crossing.pass(US(us), &mut pool) {
                    left.push((due, number(&mut pool, packet)));
                    pool.release(packet.slot);
                }
            }
            assert_eq!(pool.used(), 0);
            left
        };
        // 10 us on the first link, 100 us of delay, then 100 us each on the second, 1000 us of delay.
        let expected: Vec<_> = (0..5).map(|i| (US(10 + 100 + 100 * (i + 1) + 1000), i)).collect();
        assert_eq!(cross(100), expected);
        assert_eq!(cross(10_000), expected);
    }

    /// Two routes with delays of their own meet at a slow link, and packets come back over another one.
    #[test]
    fn routes_share_links() {
        let delay = |ms| Hop::plain(Link::new(None, Duration::from_millis(ms), Buffer::Unlimited));
        let hops = vec![delay(1), delay(10), Hop::plain(link(80.0, 0)), delay(3)];
        let mut crossing = Crossing::new(Path { hops, routes: vec![[vec![0, 2], vec![3]], [vec![1, 2], vec![3]]] });
        let mut pool = Pool::default();
        for (i, (route, direction)) in
            [(0, Direction::Forward), (1, Direction::Forward), (0, Direction::Forward), (1, Direction::Reverse)]
                .into_iter()
                .enumerate()
        {
            let packet = packet(&mut pool, i as u64);
            crossing.arrive(US(0), Handle { route, direction, ..packet }, &mut pool);
        }
        let mut left = Vec::new();
        while let Some((due, packet)) = crossing.pass(US(20_000), &mut pool) {
            left.push((due, number(&mut pool, packet)));
        }
        assert_eq!(left, [(US(1100), 0), (US(1200), 2), (US(3000), 3), (US(10_100), 1)]);
    }

    /// Whatever befalls packets, no slot is lost and none is used twice.
    #[test]
    fn every_slot_comes_back() {
        for discipline in [
            Discipline::DropTail,
            Discipline::CoDel(codel::Parameters::RFC),
            Discipline::FqCoDel(fq_codel::Parameters::RFC),
        ] {
            let buffer = Buffer::Packets(200);
            let impairments = Impairments::new().with_errors(0.1, 1).with_late(0.1, 1).with_twice(0.1, 1);
            let link = link(100.0, 500).with_queue(&discipline, buffer, 1).with_impairments(impairments);
            let mut crossing = Crossing::new(Path::of([
                vec![Hop { link, late: Some(Duration::from_millis(2)), twice: true }],
                vec![],
            ]));
            let (mut pool, mut counts) = (Pool::default(), vec![0u32; 20_000]);
            for i in 0..20_000u64 {
                crossing.arrive(US(70 * i), packet(&mut pool, i), &mut pool);
                let now = if i < 19_999 { US(70 * i) } else { US(10_000_000) };
                while let Some((_, packet)) = crossing.pass(now, &mut pool) {
                    counts[number(&mut pool, packet) as usize] += 1;
                    pool.release(packet.slot);
                }
            }
            let counters = crossing.observe(US(10_000_000), &mut pool)[0];
            assert_eq!(pool.used(), 0, "{discipline:?}");
            let lost = counters.dropped + counters.struck;
            assert_eq!(counts.iter().filter(|&&n| n == 0).count() as u64, lost, "{discipline:?}");
            assert_eq!(counts.iter().filter(|&&n| n == 2).count() as u64, counters.doubled, "{discipline:?}");
            assert!(counters.dropped > 1000 && counters.doubled > 1000 && counters.late > 1000, "{counters:?}");
        }
    }
}
