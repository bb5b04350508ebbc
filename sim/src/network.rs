//! The links of a run, the ways through them, and the agenda that moves packets along.

use crate::agenda::{Agenda, Kind};
use crate::host::Interface;
use crate::packet::Packet;
use control::{Bytes, Duration, Rate, Time};
use experiment::{self, Experiment};
use path::{Fate, Link};
use std::collections::HashMap;

/// Ends a route in [`Network::hops`].
const HOST: u32 = u32::MAX;
/// There, this and what follows are interfaces.
const FIRST_INTERFACE: u32 = 1 << 31;
/// No link.
const NONE: u32 = u32::MAX;

/// All links and routes.
pub struct Network {
    /// Direction d of the experiment's link i is link 2 i + d; the hosts' own access links follow.
    pub links: Vec<Link<Packet>>,
    /// Of the experiment's links, where packets that are late and copies go on: [`NONE`] unless there are such.
    detours: Vec<[u32; 2]>,
    /// Hosts' interfaces, of those that do not pass packets on at once.
    interfaces: Vec<Interface>,
    /// Routes, one after the other: links and interfaces, ended by [`HOST`].
    hops: Vec<u32>,
    /// Routes without an access link, and where they begin: thousands of flows share one, which stays in the caches.
    shared: HashMap<Vec<u32>, u32>,
    /// What happens next.
    pub agenda: Agenda,
}

/// A host's own way into the network.
pub struct Access {
    /// First hop of the route.
    pub first: u32,
    /// Which of [`Network::links`] it is.
    pub link: usize,
}

impl Network {
    /// The experiment's shared links.
    ///
    /// # Errors
    /// If a link names a router that does not exist, or parameters that it does not take.
    pub fn new(experiment: &Experiment) -> Result<Network, String> {
        let mut links = Vec::new();
        for (i, link) in experiment.links.iter().enumerate() {
            for direction in [false, true] {
                links.push(link.build(experiment.seed_of(i, direction))?);
            }
        }
        // What leaves a link late or twice goes over another one, which has no limit.
        let mut detours = vec![[NONE; 2]; links.len()];
        for (i, link) in experiment.links.iter().enumerate() {
            let late = link.reorder.map(|reorder| reorder.delay);
            let twin = (link.duplicate > 0.0).then_some(Duration::ZERO);
            for lanes in &mut detours[2 * i..2 * i + 2] {
                for (lane, delay) in lanes.iter_mut().zip([late, twin]) {
                    if let Some(delay) = delay {
                        *lane = links.len() as u32;
                        links.push(Link::new(None, delay, path::Buffer::Unlimited));
                    }
                }
            }
        }
        let (interfaces, hops, shared) = (Vec::new(), Vec::new(), HashMap::new());
        Ok(Network { links, detours, interfaces, hops, shared, agenda: Agenda::new() })
    }

    /// Adds a route over `route`'s links, behind an access link of `access` rate and `delay` if that makes a difference; for
    /// acknowledgments, `back`, over the same links in the opposite order and direction. Returns its first hop.
    pub fn add_route(&mut self, route: &experiment::Route, back: bool, access: Option<Rate>, delay: Duration) -> u32 {
        self.add_route_between([None, None], route, back, access, delay)
    }

    /// The same between hosts with these interfaces.
    pub fn add_route_between(
        &mut self,
        [out, into]: [Option<Interface>; 2],
        route: &experiment::Route,
        back: bool,
        access: Option<Rate>,
        delay: Duration,
    ) -> u32 {
        let direction = (route.reverse != back) as u32;
        let mut hops: Vec<u32> = route.links.iter().map(|&link| 2 * link as u32 + direction).collect();
        if direction == 1 {
            hops.reverse();
        }
        let first = self.hops.len() as u32;
        let has_access = access.is_some() || delay > Duration::ZERO;
        if !has_access && out.is_none() && into.is_none() {
            let known = *self.shared.entry(hops.clone()).or_insert(first);
            if known < first {
                return known;
            }
        }
        self.add_interface(out);
        if has_access {
            self.hops.push(self.links.len() as u32);
            self.links.push(Link::new(access, delay, path::Buffer::Unlimited));
        }
        self.hops.extend(hops);
        self.add_interface(into);
        self.hops.push(HOST);
        first
    }

    fn add_interface(&mut self, interface: Option<Interface>) {
        self.hops.extend(interface.is_some().then_some(FIRST_INTERFACE + self.interfaces.len() as u32));
        self.interfaces.extend(interface);
    }

    /// Adds a route as [`Network::add_route`] does, behind an access link that can be given another delay.
    pub fn add_access(&mut self, route: &experiment::Route, back: bool) -> Access {
        let link = self.links.len();
        let first = self.add_route(route, back, None, Duration(1));
        Access { first, link }
    }

    /// A packet of `size` that `make` makes is at `hop`: puts it onto the link there. Says whether it has reached its host instead.
    #[inline(always)]
    pub fn forward(&mut self, now: Time, hop: u32, size: u32, make: impl FnOnce() -> Packet) -> bool {
        let hop = self.hops[hop as usize];
        if hop >= FIRST_INTERFACE {
            return hop == HOST || self.hold(now, hop - FIRST_INTERFACE, make());
        }
        let link = &mut self.links[hop as usize];
        if link.arrive_with(now, Bytes(size as u64), make)
            && let Some(exit) = link.next_exit()
        {
            self.agenda.add(exit, (Kind::Exit, hop));
        }
        false
    }

    /// `packet` is at an interface.
    #[cold]
    fn hold(&mut self, now: Time, index: u32, packet: Packet) -> bool {
        if let Some(due) = self.interfaces[index as usize].take(now, packet) {
            self.agenda.add(due, (Kind::Interface, index));
        }
        false
    }

    /// Interface `index` passes on what is due. Returns the next such packet, and whether it has reached its host.
    pub fn release(&mut self, now: Time, index: u32) -> Option<(Packet, bool)> {
        let interface = &mut self.interfaces[index as usize];
        let Some(mut packet) = interface.release(now) else {
            if let Some(due) = interface.next() {
                self.agenda.add(due, (Kind::Interface, index));
            }
            return None;
        };
        packet.hop += 1;
        let arrived = self.forward(now, packet.hop, packet.size, || packet);
        Some((packet, arrived))
    }

    /// The packet that leaves link `index` next.
    #[inline(always)]
    pub fn first(&self, index: u32) -> &Packet {
        self.links[index as usize].first()
    }

    /// The packet that leaves link `index` next, if there is one.
    #[inline(always)]
    pub fn next(&self, index: u32) -> Option<&Packet> {
        self.links[index as usize].peek()
    }

    /// That `packet` leaves. Says whether it has reached its host.
    #[inline(always)]
    pub fn exit(&mut self, now: Time, index: u32, packet: &Packet) -> bool {
        let link = &mut self.links[index as usize];
        let fate = link.exit();
        if let Some(exit) = link.next_exit() {
            self.agenda.add(exit, (Kind::Exit, index));
        }
        (fate == Fate::Whole || self.goes_on(now, index, packet, fate))
            && self.forward(now, packet.hop, packet.size, || *packet)
    }

    /// Something has befallen `packet`: says whether it goes on its way from link `index` all the same.
    #[cold]
    fn goes_on(&mut self, now: Time, index: u32, packet: &Packet, fate: Fate) -> bool {
        let lane = match fate {
            Fate::Whole => return true,
            // The receiver's checksum does not match: it is as if it had not come.
            Fate::Lost | Fate::Corrupt(_) => return false,
            Fate::Late => self.detours[index as usize][0],
            Fate::Twice => self.detours[index as usize][1],
        };
        // The detour passes a hop of its own.
        let packet = Packet { hop: packet.hop - 1, ..*packet };
        let detour = &mut self.links[lane as usize];
        if detour.arrive(now, &packet)
            && let Some(exit) = detour.next_exit()
        {
            self.agenda.add(exit, (Kind::Exit, lane));
        }
        fate == Fate::Twice
    }
}
