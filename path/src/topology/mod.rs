//! The network between hosts, built once for every runner: the directions of the described links, the detours of
//! reordered and duplicated packets, the hosts' access links, and the routes over them.
//!
//! The runner moves packets: a packet carries its position on its route, [`Topology::hop`] says what is at that
//! position, and [`Topology::lanes`] holds what packets travel on. Each lane moves a packet one position on when it
//! begins to transmit it ([`Packet::pass_hop`]). A route that begins with the delay of an access link and goes on like
//! other routes begins at a position that stands for that delay alone, behind which packets go on at the other routes'
//! position: so the routes of thousands of flows stay in the processor's caches.

mod route;

pub use route::{LinkDirection, Route, listed_directions};

use crate::{Buffer, Fate, Impairments, Lanes, Link, LinkSetup, Packet};
use control::{Duration, Rate};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// Ends a route in [`Topology::hops`].
const HOST: u32 = u32::MAX;
/// Ends a route to a host that answers at once ([`Topology::answer_at_once`]).
const ANSWERING_HOST: u32 = u32::MAX - 1;
/// Values from here on, except those of hosts, stand for interfaces in [`Topology::hops`]; smaller ones for links.
const FIRST_INTERFACE: u32 = 1 << 31;
/// Positions from here on stand for lanes: the beginnings of routes that go on like others.
const FIRST_ACCESS: u32 = 1 << 31;
/// Stands for the absence of a link in [`Topology::detours`].
const NONE: u32 = u32::MAX;

/// All links and routes. See the [module](self).
pub struct Topology<P> {
    /// First both directions of each described link, at [`LinkDirection::index`]; then detours; then access links.
    pub lanes: Lanes<P>,
    /// Propagation delay of each described link, there and back.
    round_trips: Vec<Duration>,
    /// Per direction of a described link: the links onto which reordered packets and the copies of duplicated ones go,
    /// or [`NONE`].
    detours: Vec<[u32; 2]>,
    /// Routes, one behind the other: links and interfaces, ended by [`HOST`] or [`ANSWERING_HOST`].
    hops: Vec<u32>,
    /// Routes without an access link, their ends included, and where they begin.
    shared: HashMap<Vec<u32>, u32>,
    /// Whether each route begins with an access link even if that neither limits nor delays.
    always_access: bool,
}

/// What is at a position of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hop {
    /// This one of [`Topology::lanes`].
    Lane(u32),
    /// A host's interface, by the number that the runner gave it.
    Interface(u32),
    /// The end of the route.
    Host,
}

/// Two hosts, and what lies between them.
#[derive(Clone, Debug)]
pub struct HostPair<'a> {
    /// The links that data crosses; acknowledgments return over the same ones.
    pub route: &'a Route,
    /// Round-trip propagation delay, at least that of the route's links. See [`access_delays`] for the rest.
    pub rtt: Duration,
    /// Rate of the sender's access link; none if it is no limit.
    pub access: Option<Rate>,
    /// The runner's numbers of the sender's interface for data, and of the receiver's; none where packets pass at once.
    pub interfaces: [Option<u32>; 2],
}

/// An access link that can be given another delay.
pub struct Access {
    /// The position at which the route begins.
    pub first: u32,
    /// Its number among [`Topology::lanes`].
    pub lane: u32,
}

/// The delays of the access links before data's and acknowledgments' ways: each has half of what the round-trip time
/// `rtt` exceeds the round trip over the route's `links` by.
pub fn access_delays(rtt: Duration, links: Duration) -> [Duration; 2] {
    let beyond = rtt - links;
    let half = Duration(beyond.0 / 2);
    [half, beyond - half]
}

impl<P: Packet> Topology<P> {
    /// Both directions of `links`, empty, with their detours, and no route yet. Everything random follows from `seed`;
    /// each direction has a seed of its own.
    ///
    /// # Errors
    /// If a link names a router protocol that does not exist, or parameters that the protocol does not take.
    pub fn new(links: &[LinkSetup], seed: u64) -> Result<Topology<P>, String> {
        let directions =
            || (0..links.len()).flat_map(|link| [false, true].map(|reverse| LinkDirection { link, reverse }));
        let built = directions().map(|direction| direction.setup(links).build(seed_of(seed, direction)));
        let mut lanes = Lanes::new(built.collect::<Result<_, _>>()?);
        let mut detours = vec![[NONE; 2]; lanes.len()];
        for (direction, detours) in directions().zip(&mut detours) {
            let setup = direction.setup(links);
            let delays =
                [setup.reorder.map(|reorder| reorder.delay), (setup.duplicate > 0.0).then_some(Duration::ZERO)];
            for (detour, delay) in detours.iter_mut().zip(delays) {
                if let Some(delay) = delay {
                    *detour = lanes.add_delay(delay, None);
                }
            }
        }
        let round_trips = links.iter().map(LinkSetup::round_trip).collect();
        let (hops, shared) = (Vec::new(), HashMap::new());
        Ok(Topology { lanes, round_trips, detours, hops, shared, always_access: false })
    }

    /// The same topology, in which each route of [`Topology::connect`] begins with an access link of its own even if
    /// that neither limits nor delays: packets that arrive at several sockets are put into the order of their arrival
    /// there.
    pub fn with_access_links(self) -> Topology<P> {
        Topology { always_access: true, ..self }
    }

    /// How many of [`Topology::lanes`], from the first on, are directions of described links.
    pub fn described(&self) -> usize {
        self.detours.len()
    }

    /// Propagation delay over the links of `route`, there and back.
    pub fn round_trip(&self, route: &Route) -> Duration {
        route.links.iter().map(|&link| self.round_trips[link]).sum()
    }

    /// Adds the routes between two hosts. Returns the positions at which data and acknowledgments begin. Access links
    /// are put in where they make a difference: the sender's rate limits data only.
    pub fn connect(&mut self, hosts: &HostPair) -> [u32; 2] {
        let [out, back] = access_delays(hosts.rtt, self.round_trip(hosts.route));
        let mut add = |back, interfaces, access: Option<Rate>, delay| {
            let needed = self.always_access || access.is_some() || delay > Duration::ZERO;
            self.add(hosts.route, back, interfaces, needed.then_some((access, delay)))
        };
        [add(false, hosts.interfaces, hosts.access, out), add(true, [None; 2], None, back)]
    }

    /// Adds a route without an access link, for data. Returns the position at which it begins.
    pub fn add_route(&mut self, route: &Route) -> u32 {
        self.add(route, false, [None; 2], None)
    }

    /// Adds a route behind an access link that can be given another delay; for acknowledgments if `back`.
    pub fn add_access(&mut self, route: &Route, back: bool) -> Access {
        let lane = self.lanes.add_delay(Duration::ZERO, None);
        let first = self.hops.len() as u32;
        self.hops.push(lane);
        self.hops.extend(route.directions(back).into_iter().map(|direction| direction.index() as u32));
        self.hops.push(HOST);
        Access { first, lane }
    }

    /// Gives another delay and other impairments to an access link that no packet is on.
    pub fn restart(&mut self, access: &Access, delay: Duration, impairments: Impairments) {
        self.lanes.restart(access.lane, delay, impairments);
    }

    /// The lane with which the route at `position` begins, if that is a delay of its own.
    #[inline(always)]
    pub fn access_lane(&self, position: u32) -> Option<u32> {
        position.checked_sub(FIRST_ACCESS)
    }

    /// Whether `lane` is none of the described links, but an access link or a detour.
    #[inline(always)]
    pub fn is_access(&self, lane: u32) -> bool {
        lane as usize >= self.described()
    }

    /// The host at the end of the route that begins at `out` answers each packet at once, over the route that begins at
    /// `back`; both are of one call of [`Topology::connect`]. If each of them is the delay of an access link and one
    /// link, [`Topology::answered_over`] tells of it.
    pub fn answer_at_once(&mut self, [out, back]: [u32; 2]) {
        if out < FIRST_ACCESS || back != out + 1 {
            return;
        }
        let Some(onto) = self.lanes.onto(out - FIRST_ACCESS) else { return };
        if let [link, HOST, ..] = self.hops[onto as usize..] {
            let onto = self.shared(vec![link], ANSWERING_HOST);
            self.lanes.go_onto(out - FIRST_ACCESS, onto);
        }
    }

    /// The link at `position`, if it ends a route to a host that answers at once, and all that will happen to a packet
    /// on it is known when the packet arrives. The answer's route begins with the lane behind the one with which this
    /// route begins, as routes that begin with delays of their own are made in pairs.
    #[inline(always)]
    pub fn answered_over(&self, position: u32) -> Option<u32> {
        self.last_link(position, ANSWERING_HOST)
    }

    /// The link at `position`, if it ends a route to any other host, and all that will happen to a packet on it is
    /// known when the packet arrives.
    #[inline(always)]
    pub fn ends_over(&self, position: u32) -> Option<u32> {
        self.last_link(position, HOST)
    }

    #[inline(always)]
    fn last_link(&self, position: u32, end: u32) -> Option<u32> {
        let ends = self.hops.get(position as usize + 1) == Some(&end);
        let link = *self.hops.get(position as usize)?;
        (ends && self.lanes.is_plain(link)).then_some(link)
    }

    /// One direction of a described link.
    ///
    /// # Panics
    /// If no such link is described.
    pub fn link(&mut self, direction: LinkDirection) -> &mut Link<P> {
        self.lanes.link(direction.index() as u32).expect("a described link is not a mere delay")
    }

    fn add(
        &mut self,
        route: &Route,
        back: bool,
        [out, into]: [Option<u32>; 2],
        access: Option<(Option<Rate>, Duration)>,
    ) -> u32 {
        let directions = route.directions(back);
        let links = directions.into_iter().map(|direction| direction.index() as u32).collect::<Vec<_>>();
        if let (None, Some((None, delay)), None) = (out, access, into) {
            let onto = self.shared(links, HOST);
            return FIRST_ACCESS + self.lanes.add_delay(delay, Some(onto));
        }
        if access.is_none() && out.is_none() && into.is_none() {
            return self.shared(links, HOST);
        }
        let first = self.hops.len() as u32;
        self.hops.extend(out.map(|interface| FIRST_INTERFACE + interface));
        if let Some((rate, delay)) = access {
            self.hops.push(match rate {
                Some(_) => self.lanes.add_link(Link::new(rate, delay, Buffer::UNLIMITED)),
                None => self.lanes.add_delay(delay, None),
            });
        }
        self.hops.extend(links);
        self.hops.extend(into.map(|interface| FIRST_INTERFACE + interface));
        self.hops.push(HOST);
        first
    }

    /// The position at which the route over `links` to such a host begins, without an access link.
    fn shared(&mut self, mut links: Vec<u32>, host: u32) -> u32 {
        links.push(host);
        let first = self.hops.len() as u32;
        match self.shared.entry(links) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                self.hops.extend(new.key());
                *new.insert(first)
            }
        }
    }

    /// What is at `position` of a route.
    #[inline(always)]
    pub fn hop(&self, position: u32) -> Hop {
        if position >= FIRST_ACCESS {
            return Hop::Lane(position - FIRST_ACCESS);
        }
        match self.hops[position as usize] {
            lane if lane < FIRST_INTERFACE => Hop::Lane(lane),
            HOST | ANSWERING_HOST => Hop::Host,
            interface => Hop::Interface(interface - FIRST_INTERFACE),
        }
    }

    /// The lane onto which a packet goes that leaves lane `index` reordered, or the copy of one that leaves it
    /// duplicated; none for other fates. The caller moves the packet one position back before, since the detour moves
    /// it on once more.
    pub fn detour(&self, index: u32, fate: Fate) -> Option<u32> {
        let [reordered, duplicated] = self.detours.get(index as usize)?;
        let detour = match fate {
            Fate::Reordered => *reordered,
            Fate::Duplicated => *duplicated,
            Fate::Intact | Fate::Lost | Fate::Corrupted(_) => NONE,
        };
        (detour != NONE).then_some(detour)
    }
}

/// The seed of one direction of a link.
fn seed_of(seed: u64, direction: LinkDirection) -> u64 {
    seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(direction.index() as u64)
}

#[cfg(test)]
mod tests;
