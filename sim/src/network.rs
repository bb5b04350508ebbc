//! The network of a run: the topology, the interfaces of hosts that do not pass packets at once, and the event queue
//! that moves packets along.

use crate::access_pairs::AccessPairs;
use crate::calendar::Passing;
use crate::echo::{Answer, Echo};
use crate::event_queue::{EventQueue, Kind};
use crate::host::Interface;
use crate::packet::Packet;
use control::{Bytes, Time};
use experiment::{Experiment, Flow};
use path::topology::{Hop, HostPair, Topology};
use path::{Fate, prefetch};

/// What packets of a run meet between their hosts, and when.
pub struct Network {
    /// All links and routes.
    pub topology: Topology<Packet>,
    /// The interfaces of hosts, by the numbers that the topology knows them by.
    interfaces: Vec<Interface>,
    /// The events to come.
    pub events: EventQueue,
    /// See [`Echo`].
    pub echo: Echo,
    /// By the number of a lane: what is done ahead when a packet leaves it. Empty if nothing is.
    pub ahead: Vec<Ahead>,
    /// What is on some of the access links, in place of their lanes, while things are done ahead.
    pub access_pairs: AccessPairs,
}

/// What is done ahead when a packet leaves an access link that is a delay.
#[derive(Clone, Copy, Debug)]
pub enum Ahead {
    /// Nothing.
    Nothing,
    /// It has data, and crosses this link, which is plain, to a host that answers at once.
    Cross(u32),
    /// It is an acknowledgment of `flow`, or is to become one.
    Hear {
        /// The flow.
        flow: u32,
        /// The link that it crosses to the source, if that is plain.
        link: Option<u32>,
    },
}

impl Network {
    /// The links that `experiment` describes, without routes.
    ///
    /// # Errors
    /// If a link names a router protocol that does not exist, or parameters that the protocol does not take.
    pub fn new(experiment: &Experiment) -> Result<Network, String> {
        let topology = Topology::new(&experiment.links, experiment.seed)?;
        Ok(Network {
            topology,
            interfaces: Vec::new(),
            events: EventQueue::new(),
            echo: Echo::none(),
            ahead: Vec::new(),
            access_pairs: AccessPairs::new(),
        })
    }

    /// Adds the routes of `flow`, between hosts with these interfaces. Returns the positions at which its data and its
    /// acknowledgments begin.
    pub fn connect(&mut self, flow: &Flow, interfaces: [Option<Interface>; 2]) -> [u32; 2] {
        let interfaces = interfaces.map(|interface| {
            let number = self.interfaces.len() as u32;
            self.interfaces.push(interface?);
            Some(number)
        });
        self.topology.connect(&HostPair { interfaces, ..flow.hosts() })
    }

    /// A packet of `size` bytes, which `make` makes, is at position `hop` of its route: puts it onto the link there.
    /// Returns whether it has reached its host instead.
    #[inline(always)]
    pub fn forward(&mut self, now: Time, hop: u32, size: u32, make: impl FnOnce() -> Packet) -> bool {
        let lane = match self.topology.hop(hop) {
            Hop::Lane(lane) => lane,
            Hop::Host => return true,
            Hop::Interface(index) => return self.hold(now, index, make()),
        };
        let exit = self.topology.lanes.arrive_with(lane, now, Bytes(size as u64), make);
        self.events.add_exit(lane, exit);
        false
    }

    /// A packet enters the link of [`Network::echo`]: it is known now when its answer reaches the source.
    #[inline(always)]
    pub fn send_echo(&mut self, now: Time, size: u32, make: impl FnOnce() -> Packet) {
        if let Some(arrival) = self.topology.lanes.admit(self.echo.link, now, Bytes(size.into())) {
            self.echo.answer(arrival, make());
        }
    }

    /// The next answer of [`Network::echo`], if it reaches its source before all events and no later than `end`. It is
    /// not an event itself.
    #[inline(always)]
    pub fn next_echo(&mut self, end: Time) -> Option<Answer> {
        let answer = *self.echo.first()?;
        (answer.exit <= end && self.events.are_after(answer.exit, self.echo.lane)).then_some(answer)
    }

    /// `packet` arrives at an interface, which holds it.
    #[cold]
    fn hold(&mut self, now: Time, index: u32, packet: Packet) -> bool {
        if let Some(due) = self.interfaces[index as usize].take(now, packet) {
            self.events.add(due, (Kind::Interface, index));
        }
        false
    }

    /// Interface `index` passes on a packet that is due, if there is one. Returns it, and whether it has reached its
    /// host.
    pub fn release(&mut self, now: Time, index: u32) -> Option<(Packet, bool)> {
        let interface = &mut self.interfaces[index as usize];
        let Some(mut packet) = interface.release(now) else {
            if let Some(due) = interface.next() {
                self.events.add(due, (Kind::Interface, index));
            }
            return None;
        };
        packet.hop += 1;
        let arrived = self.forward(now, packet.hop, packet.head.size(), || packet);
        Some((packet, arrived))
    }

    /// The packet that leaves `lane` next.
    ///
    /// # Panics
    /// If no packet is on the lane.
    #[inline(always)]
    pub fn first(&self, lane: u32) -> &Packet {
        self.topology.lanes.first(lane)
    }

    /// The packet that leaves `lane` behind `before` others, fewer than eight; none of those in a queue.
    #[inline]
    pub fn peek(&self, lane: u32, before: usize) -> Option<&Packet> {
        self.topology.lanes.peek(lane, before)
    }

    /// Prefetches what tells the places of the packets on `lane`, if it is an access link.
    #[inline]
    pub fn prefetch_lane(&self, lane: u32) {
        match self.access_pairs.place(lane) {
            Some(pair) => prefetch::lines(pair),
            None => self.topology.lanes.prefetch(lane),
        }
    }

    /// The same for the access link with which the route at `position` begins.
    #[inline]
    pub fn prefetch_way(&self, position: u32) {
        if let Some(lane) = self.topology.access_lane(position) {
            self.prefetch_lane(lane);
        }
    }

    /// The packet of [`Network::first`] leaves `lane`. Returns its fate.
    #[inline(always)]
    pub fn leave(&mut self, lane: u32) -> Fate {
        let (fate, next) = self.topology.lanes.exit(lane);
        self.events.add_exit(lane, next);
        fate
    }

    /// `packet`, which has left `lane` with this `fate`, goes on along its route. Returns whether it has reached its
    /// host.
    #[inline(always)]
    pub fn go_on(&mut self, now: Time, lane: u32, packet: &Packet, fate: Fate) -> bool {
        (fate == Fate::Intact || self.goes_on(now, lane, packet, fate))
            && self.forward(now, packet.hop, packet.head.size(), || *packet)
    }

    /// The first packet on `lane` leaves it for `link`, which is plain, and goes on behind that on the next lane, with
    /// a head that says so ([`Head::arrive`](crate::packet::Head::arrive)), or is dropped.
    #[inline(always)]
    pub fn cross_ahead(&mut self, now: Time, lane: u32, link: u32) {
        let lanes = &mut self.topology.lanes;
        let size = lanes.first(lane).head.size();
        let Some(arrival) = lanes.admit(link, now, Bytes(size.into())) else {
            self.leave(lane);
            return;
        };
        let (next, first) = lanes.turn(lane, arrival, |packet| packet.head.arrive());
        self.events.add_exit(lane, next);
        self.events.add_exit(lane + 1, first);
    }

    /// The packet of `segment`, modulo 2^32, is sent onto the way out of `pair`. Not inlined: the loop in which a
    /// source sends needs the registers.
    #[inline(never)]
    pub fn send_lean(&mut self, now: Time, pair: u32, segment: u32, order: u32) {
        self.access_pairs.send(now, pair, segment, order);
    }

    /// [`Network::cross_ahead`] for a packet that has left the way out of a pair.
    #[inline(always)]
    pub fn cross_lean(&mut self, packet: &Passing) {
        let (size, link) = self.access_pairs.leaving(packet);
        if let Some(arrival) = self.topology.lanes.admit(link, packet.exit, Bytes(size.into())) {
            self.access_pairs.turn(packet, arrival);
        }
    }

    /// Takes out the packet that leaves an access link of a pair next, if it does so before all events and no later
    /// than `end`.
    #[inline(always)]
    pub fn take_lean(&mut self, end: Time) -> Option<Passing> {
        self.access_pairs.take(&mut self.events, end)
    }

    /// Puts `packet` onto `link`, which has admitted it until `exit`. The packet is given by value, so that a caller
    /// whose packets seldom come here need not have them in memory.
    #[cold]
    pub fn put(&mut self, link: u32, exit: Time, packet: Packet) {
        let exit = self.topology.lanes.put(link, exit, || packet);
        self.events.add_exit(link, exit);
    }

    /// `packet` leaves `lane` with another fate than [`Fate::Intact`]. Returns whether it goes on along its
    /// route.
    #[cold]
    fn goes_on(&mut self, now: Time, lane: u32, packet: &Packet, fate: Fate) -> bool {
        // A corrupted packet does not match its checksum: for the receiver, it has not arrived.
        let Some(detour) = self.topology.detour(lane, fate) else { return false };
        let packet = Packet { hop: packet.hop - 1, ..*packet };
        let exit = self.topology.lanes.arrive(detour, now, &packet);
        self.events.add_exit(detour, exit);
        fate == Fate::Duplicated
    }
}
