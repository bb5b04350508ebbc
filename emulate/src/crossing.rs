//! Moves packets over the path. Time is told from outside.

use crate::emulated_path::EmulatedPath;
use crate::handle::Handle;
use crate::pool::Pool;
use control::Time;
use path::topology::Hop;
use path::{Counters, Fate};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The path and the packets on it.
pub struct Crossing {
    path: EmulatedPath,
    /// Per link, the latest time at which it was used: a link's times must not decrease.
    told: Vec<Time>,
    /// When the first packet of each link leaves it, for the links that hold any.
    exits: BinaryHeap<Reverse<(Time, u32)>>,
}

impl Crossing {
    /// No packet is on `path` yet.
    pub fn new(mut path: EmulatedPath) -> Crossing {
        path.topology.lanes.links().for_each(|link| link.keep_drops());
        let lanes = path.topology.lanes.len();
        Crossing { path, told: vec![Time::ZERO; lanes], exits: BinaryHeap::with_capacity(lanes) }
    }

    /// A packet arrives at the beginning of its `route`.
    pub fn arrive(&mut self, at: Time, route: u16, packet: Handle, pool: &mut Pool) {
        let hop = self.path.routes[route as usize][packet.direction as usize];
        self.go_on(at, Handle { hop, ..packet }, pool);
    }

    /// When the next packet leaves a link; [`Time::MAX`] if there is none.
    pub fn next_exit(&self) -> Time {
        self.exits.peek().map_or(Time::MAX, |&Reverse((exit, _))| exit)
    }

    /// Moves packets along until `now`. Returns the next one that reaches the end of its route, and when it is due
    /// there; its slot is the caller's to release.
    pub fn pass(&mut self, now: Time, pool: &mut Pool) -> Option<(Time, Handle)> {
        while let Some(&Reverse((due, index))) = self.exits.peek()
            && due <= now
        {
            self.exits.pop();
            let (mut packet, fate) = self.exit(index, due, pool);
            match fate {
                Fate::Intact => {}
                Fate::Lost => {
                    pool.release(packet.slot);
                    continue;
                }
                Fate::Corrupted(bit) => packet.flipped = Some(bit),
                Fate::Reordered | Fate::Duplicated => {
                    if let Some(detour) = self.path.topology.detour(index, fate) {
                        if fate == Fate::Duplicated {
                            pool.share(packet.slot);
                        }
                        self.enter(detour, due, Handle { hop: packet.hop - 1, ..packet }, pool);
                        if fate == Fate::Reordered {
                            continue;
                        }
                    }
                }
            }
            if let Some(packet) = self.go_on(due, packet, pool) {
                return Some((due, packet));
            }
        }
        None
    }

    /// A packet is at a position of its route: it enters the link there. Returns it if it has reached the end instead.
    fn go_on(&mut self, at: Time, packet: Handle, pool: &mut Pool) -> Option<Handle> {
        match self.path.topology.hop(packet.hop) {
            Hop::Lane(index) => {
                self.enter(index, at, packet, pool);
                None
            }
            // The topology has no interfaces: those of the hosts are real.
            Hop::Interface(_) | Hop::Host => Some(packet),
        }
    }

    fn enter(&mut self, index: u32, at: Time, packet: Handle, pool: &mut Pool) {
        let now = self.tell(index, at);
        if let Some(exit) = self.path.topology.lanes.arrive(index, now, &packet) {
            self.exits.push(Reverse((exit, index)));
        }
        self.release_drops(index, pool);
    }

    /// The first packet of a link leaves it, as is due.
    fn exit(&mut self, index: u32, due: Time, pool: &mut Pool) -> (Handle, Fate) {
        self.tell(index, due);
        let lanes = &mut self.path.topology.lanes;
        let packet = *lanes.first(index);
        let (fate, next) = lanes.exit(index);
        if let Some(exit) = next {
            self.exits.push(Reverse((exit, index)));
        }
        self.release_drops(index, pool);
        (packet, fate)
    }

    /// The counters of each direction of the described links up to `now`, or up to the latest time at which the link
    /// was used.
    pub fn observe(&mut self, now: Time, pool: &mut Pool) -> Vec<Counters> {
        let observed = 0..self.path.observed() as u32;
        let observe = |index| {
            let now = self.tell(index, now);
            let counters =
                self.path.topology.lanes.link(index).map_or_else(Counters::default, |link| link.observe(now));
            self.release_drops(index, pool);
            counters
        };
        observed.map(observe).collect()
    }

    /// The time at which to use a link now: `at`, or the latest time at which it was used.
    fn tell(&mut self, index: u32, at: Time) -> Time {
        let told = &mut self.told[index as usize];
        *told = at.max(*told);
        *told
    }

    fn release_drops(&mut self, index: u32, pool: &mut Pool) {
        while let Some(packet) = self.path.topology.lanes.dropped(index) {
            pool.release(packet.slot);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handle::Direction;
    use control::{Bytes, Duration, Rate};
    use path::queue::{Site, registry};
    use path::{Buffer, DirectionSetup, Errors, HostPair, Jitter, LinkSetup, Reorder, Route, Shaper};

    fn packet(pool: &mut Pool, number: u64) -> Handle {
        let mut payload = vec![0; 1000];
        payload[..8].copy_from_slice(&number.to_le_bytes());
        Handle { slot: pool.put(&payload).unwrap(), size: 1000, flow: number % 3, ..Handle::default() }
    }

    fn number(pool: &mut Pool, packet: Handle) -> u64 {
        u64::from_le_bytes(pool.get(packet.slot)[..8].try_into().unwrap())
    }

    const US: fn(u64) -> Time = |us| Time(us * 1_000_000);

    fn link(mbps: f64, us: u64) -> LinkSetup {
        LinkSetup::plain("", Rate::from_mbps(mbps), Duration::from_micros(us), Buffer::Packets(100))
    }

    fn forward(links: &[usize]) -> Route {
        Route { links: links.to_vec(), reverse: false }
    }

    /// A path with these routes. Each has a round-trip time that is this many microseconds longer than that of its
    /// links.
    fn crossing(links: &[LinkSetup], routes: &[(Route, u64)]) -> Crossing {
        let hosts = routes.iter().map(|(route, us)| {
            let links: Duration = route.links.iter().map(|&link| links[link].round_trip()).sum();
            HostPair { route, rtt: links + Duration::from_micros(*us), access: None, interfaces: [None; 2] }
        });
        Crossing::new(EmulatedPath::new(links, 1, hosts).unwrap())
    }

    /// A slow link behind a fast one determines the rate; delays add up; calling `pass` late changes no time.
    #[test]
    fn packets_cross_the_links_in_a_row_at_their_times() {
        let cross = |look_every: u64| {
            let mut pool = Pool::default();
            let mut crossing = crossing(&[link(800.0, 100), link(80.0, 1000)], &[(forward(&[0, 1]), 0)]);
            (0..5).for_each(|i| crossing.arrive(US(0), 0, packet(&mut pool, i), &mut pool));
            let mut left = Vec::new();
            for us in (0..20).map(|n| n * look_every) {
                while let Some((due, packet)) = crossing.pass(US(us), &mut pool) {
                    left.push((due + crossing.path.ahead(), number(&mut pool, packet)));
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

    /// What crosses within a millisecond leaves together and in order, and the next batch a millisecond later.
    #[test]
    fn a_link_with_aggregation_delivers_in_batches() {
        let mut batches = link(80.0, 100);
        batches.forward.aggregate = Some(Duration::from_millis(1));
        let mut crossing = crossing(&[batches], &[(forward(&[0]), 0)]);
        let mut pool = Pool::default();
        (0..12).for_each(|i| crossing.arrive(US(0), 0, packet(&mut pool, i), &mut pool));
        let mut left = Vec::new();
        while let Some((due, packet)) = crossing.pass(US(10_000), &mut pool) {
            left.push((due, number(&mut pool, packet)));
        }
        // Each takes 100 us, after which 50 us of delay remain in the emulator: the tenth is there at 1050 us.
        let expected: Vec<_> = (0..12).map(|i| (if i < 9 { US(1000) } else { US(2000) }, i)).collect();
        assert_eq!(left, expected);
    }

    /// Three packets pass at once, in 10 us each, and the others wait for tokens, which come in 1 ms.
    #[test]
    fn a_shaper_lets_a_burst_pass_and_then_its_rate() {
        let mut shaped = link(800.0, 100);
        shaped.forward.shaper = Some(Shaper { rate: Rate::from_mbps(8.0), burst: Bytes(3000) });
        let mut crossing = crossing(&[shaped], &[(forward(&[0]), 0)]);
        let mut pool = Pool::default();
        (0..6).for_each(|i| crossing.arrive(US(0), 0, packet(&mut pool, i), &mut pool));
        let mut left = Vec::new();
        while let Some((due, packet)) = crossing.pass(US(20_000), &mut pool) {
            left.push((due + crossing.path.ahead(), number(&mut pool, packet)));
        }
        let expected = [110, 120, 130, 1110, 2110, 3110].into_iter().zip(0..);
        assert_eq!(left, expected.map(|(us, i)| (US(us), i)).collect::<Vec<_>>());
    }

    /// With jitter, packets are late by different times, in order, and by the mean over time.
    #[test]
    fn jitter_delays_and_keeps_the_order() {
        let mut jittery = link(800.0, 100);
        jittery.forward.jitter =
            Some(Jitter { mean: Duration::from_millis(1), correlation: Duration::from_millis(10) });
        let mut crossing = crossing(&[jittery], &[(forward(&[0]), 0)]);
        let (mut pool, mut left, mut late) = (Pool::default(), Vec::new(), Duration::ZERO);
        for i in 0..20_000u64 {
            crossing.arrive(US(1000 * i), 0, packet(&mut pool, i), &mut pool);
            while let Some((due, packet)) = crossing.pass(US(1000 * i), &mut pool) {
                let number = number(&mut pool, packet);
                late += (due + crossing.path.ahead()).since(US(1000 * number + 110));
                left.push(number);
                pool.release(packet.slot);
            }
        }
        assert!(left.len() > 19_900 && left.is_sorted());
        // 2000 correlation times: five standard deviations of their mean are 5 * sqrt(2 / 2000).
        let mean = late.as_millis() / left.len() as f64;
        assert!((mean - 1.0).abs() < 0.16, "{mean} ms");
    }

    /// Two routes with different delays share a slow link.
    #[test]
    fn routes_share_links() {
        let mut crossing = crossing(&[link(80.0, 0)], &[(forward(&[0]), 2_000), (forward(&[0]), 20_000)]);
        let mut pool = Pool::default();
        for (i, (route, direction)) in
            [(0, Direction::Forward), (1, Direction::Forward), (0, Direction::Forward), (1, Direction::Reverse)]
                .into_iter()
                .enumerate()
        {
            let packet = packet(&mut pool, i as u64);
            crossing.arrive(US(i as u64), route, Handle { direction, ..packet }, &mut pool);
        }
        let mut left = Vec::new();
        while let Some((due, packet)) = crossing.pass(US(20_000), &mut pool) {
            left.push((due + crossing.path.ahead(), number(&mut pool, packet)));
        }
        assert_eq!(left, [(US(1100), 0), (US(1200), 2), (US(10_101), 1), (US(10_103), 3)]);
    }

    /// 80 Mbps and 100 us there, 8 Mbps and 300 us back: 100 us and 1 ms a packet.
    #[test]
    fn a_link_may_differ_in_its_directions() {
        let mut asymmetric = link(80.0, 100);
        asymmetric.reverse = Some(link(8.0, 300).forward);
        let mut crossing = crossing(&[asymmetric], &[(forward(&[0]), 0)]);
        let mut pool = Pool::default();
        for direction in [Direction::Forward, Direction::Reverse, Direction::Reverse] {
            let packet = packet(&mut pool, direction as u64);
            crossing.arrive(US(0), 0, Handle { direction, ..packet }, &mut pool);
        }
        let mut left = Vec::new();
        while let Some((due, packet)) = crossing.pass(US(20_000), &mut pool) {
            left.push((due + crossing.path.ahead(), number(&mut pool, packet)));
        }
        assert_eq!(left, [(US(200), 0), (US(1300), 1), (US(2300), 1)]);
    }

    /// Whether packets are dropped, lost, reordered or duplicated, each slot of the pool is released once.
    #[test]
    fn every_slot_is_released_once() {
        let buffer = Buffer::Packets(200);
        let site = Site { rate: Rate::from_mbps(100.0), buffer, packet: Bytes(1000) };
        for discipline in registry::all() {
            let queue = discipline.setup(&Default::default(), &site).unwrap();
            let mut link = link(100.0, 500);
            link.forward = DirectionSetup {
                queue,
                buffer,
                errors: Errors::Uniform(0.1),
                reorder: Some(Reorder { probability: 0.1, delay: Duration::from_millis(2) }),
                duplicate: 0.1,
                ..link.forward
            };
            let mut crossing = crossing(&[link], &[(forward(&[0]), 0)]);
            let (mut pool, mut counts) = (Pool::default(), vec![0u32; 20_000]);
            for i in 0..20_000u64 {
                crossing.arrive(US(70 * i), 0, packet(&mut pool, i), &mut pool);
                let now = if i < 19_999 { US(70 * i) } else { US(10_000_000) };
                while let Some((_, packet)) = crossing.pass(now, &mut pool) {
                    counts[number(&mut pool, packet) as usize] += 1;
                    pool.release(packet.slot);
                }
            }
            let counters = crossing.observe(US(10_000_000), &mut pool)[0];
            assert_eq!(pool.used(), 0, "{}", discipline.name);
            let lost = counters.dropped + counters.lost;
            assert_eq!(counts.iter().filter(|&&n| n == 0).count() as u64, lost, "{}", discipline.name);
            assert_eq!(counts.iter().filter(|&&n| n == 2).count() as u64, counters.duplicated, "{}", discipline.name);
            // Of the packets that no queue drops, 9 % are reordered and 8.1 % are duplicated.
            let least = (20_000 - counters.dropped) * 7 / 100;
            assert!(
                counters.dropped > 1000 && counters.duplicated > least && counters.reordered > least,
                "{counters:?}"
            );
        }
    }
}
