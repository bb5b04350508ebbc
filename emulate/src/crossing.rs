//! One direction of the path: links in a row, told the time.

use crate::handle::Handle;
use crate::pool::Pool;
use control::{Duration, Time};
use path::{Buffer, Counters, Fate, Link};

/// One direction of one link, to build a path of.
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

/// The last link leads to the other end.
const END: usize = usize::MAX;

/// The links of one direction, first the hops', then those of their detours.
pub struct Crossing {
    lanes: Vec<Lane>,
    hops: usize,
}

struct Lane {
    link: Link<Handle>,
    /// Which one packets cross next.
    next: usize,
    late: usize,
    twice: usize,
    /// The last moment that the link was told; links must be told the time in its order.
    told: Time,
}

impl Crossing {
    /// The way over `hops`, of which there is at least one.
    pub fn new(hops: Vec<Hop>) -> Crossing {
        let count = hops.len();
        let mut lanes: Vec<Lane> = Vec::new();
        let mut detours: Vec<Lane> = Vec::new();
        for (i, hop) in hops.into_iter().enumerate() {
            let next = if i + 1 < count { i + 1 } else { END };
            let mut detour = |delay: Option<Duration>| match delay {
                None => END,
                Some(delay) => {
                    detours.push(Lane::new(Link::new(None, delay, Buffer::Unlimited), next));
                    count + detours.len() - 1
                }
            };
            let (late, twice) = (detour(hop.late), detour(hop.twice.then_some(Duration::ZERO)));
            lanes.push(Lane { late, twice, ..Lane::new(hop.link.keeping_drops(), next) });
        }
        lanes.extend(detours);
        Crossing { lanes, hops: count }
    }

    /// A packet arrives at the near end.
    pub fn arrive(&mut self, at: Time, packet: Handle, pool: &mut Pool) {
        self.lanes[0].arrive(at, packet, pool);
    }

    /// When something happens next.
    pub fn next_exit(&self) -> Time {
        self.lanes.iter().filter_map(|lane| lane.link.next_exit()).min().unwrap_or(Time::MAX)
    }

    /// Moves packets along until `now`. Returns the next one that reaches the far end, and when it is due there; its slot is the
    /// caller's to release.
    pub fn pass(&mut self, now: Time, pool: &mut Pool) -> Option<(Time, Handle)> {
        loop {
            let exits = self.lanes.iter().enumerate().filter_map(|(i, lane)| Some((lane.link.next_exit()?, i)));
            let (due, i) = exits.min().filter(|&(due, _)| due <= now)?;
            let (packet, fate) = self.lanes[i].exit(due, pool);
            let Lane { next, late, twice, .. } = self.lanes[i];
            let to = match fate {
                Fate::Lost => {
                    pool.release(packet.slot);
                    continue;
                }
                Fate::Late => late,
                Fate::Whole => next,
                Fate::Twice => {
                    if let Some(lane) = self.lanes.get_mut(twice) {
                        pool.share(packet.slot);
                        lane.arrive(due, packet, pool);
                    }
                    next
                }
            };
            match self.lanes.get_mut(to) {
                Some(lane) => lane.arrive(due, packet, pool),
                None => return Some((due, packet)),
            }
        }
    }

    /// The counters of each hop up to `now`, or to what it was told already.
    pub fn observe(&mut self, now: Time, pool: &mut Pool) -> impl Iterator<Item = Counters> {
        self.lanes[..self.hops].iter_mut().map(move |lane| {
            lane.told = lane.told.max(now);
            let counters = lane.link.observe(lane.told);
            lane.release_drops(pool);
            counters
        })
    }
}

impl Lane {
    fn new(link: Link<Handle>, next: usize) -> Lane {
        Lane { link, next, late: END, twice: END, told: Time::ZERO }
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
    use control::Rate;
    use path::{Discipline, Impairments, codel, fq_codel};

    fn packet(pool: &mut Pool, number: u64) -> Handle {
        let mut payload = vec![0; 1000];
        payload[..8].copy_from_slice(&number.to_le_bytes());
        Handle { slot: pool.put(&payload).unwrap(), size: 1000, flow: number % 3 }
    }

    fn number(pool: &Pool, packet: Handle) -> u64 {
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
            let mut crossing = Crossing::new(vec![Hop::plain(link(800.0, 100)), Hop::plain(link(80.0, 1000))]);
            (0..5).for_each(|i| crossing.arrive(US(0), packet(&mut pool, i), &mut pool));
            let mut left = Vec::new();
            for us in (0..20).map(|n| n * look_every) {
                while let Some((due, packet)) = crossing.pass(US(us), &mut pool) {
                    left.push((due, number(&pool, packet)));
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
            let mut crossing = Crossing::new(vec![Hop { link, late: Some(Duration::from_millis(2)), twice: true }]);
            let (mut pool, mut counts) = (Pool::default(), vec![0u32; 20_000]);
            for i in 0..20_000u64 {
                crossing.arrive(US(70 * i), packet(&mut pool, i), &mut pool);
                let now = if i < 19_999 { US(70 * i) } else { US(10_000_000) };
                while let Some((_, packet)) = crossing.pass(now, &mut pool) {
                    counts[number(&pool, packet) as usize] += 1;
                    pool.release(packet.slot);
                }
            }
            let counters = crossing.observe(US(10_000_000), &mut pool).next().unwrap();
            assert_eq!(pool.used(), 0, "{discipline:?}");
            let lost = counters.dropped + counters.struck;
            assert_eq!(counts.iter().filter(|&&n| n == 0).count() as u64, lost, "{discipline:?}");
            assert_eq!(counts.iter().filter(|&&n| n == 2).count() as u64, counters.doubled, "{discipline:?}");
            assert!(counters.dropped > 1000 && counters.doubled > 1000 && counters.late > 1000, "{counters:?}");
        }
    }
}
