//! Connections that come and go. Each occupies a slot while it lasts, which a later one uses again, so that memory
//! grows with the number of connections at the same time and not with their number in all.
//!
//! A connection is two flows, one in each direction; a flow exists only if its side has something to send. Packets of
//! an earlier connection may still be on the network when its slot is used again: they are recognized because they were
//! sent before the later connection began.

use super::class::Class;
use super::conversation::{Place, Slot, State};
use crate::event_queue::Kind;
use crate::flow_environment::FlowEnvironment;
use crate::network::Network;
use crate::packet::{Body, OPENING, Packet};
use control::{Bytes, Conditions, Duration, Time};
use experiment::traffic::{Connection, Random, Stream};
use experiment::{Experiment, Workload, WorkloadOutcome};
use std::collections::VecDeque;

/// The longest time after which the request to open a connection is repeated (RFC 6298, section 2.5, as for data).
const LAST_TIMEOUT: Duration = Duration::from_millis(60_000);

/// All connections of a run.
pub struct Connections<'a> {
    classes: Vec<Class<'a>>,
    slots: Vec<Slot>,
    /// Number of the first slot's first flow. Numbers below are those of the experiment's flows.
    first_flow: u32,
    /// The first number of these connections' events of kind [`Kind::Cross`]: one per class for its next arrival, then
    /// two per slot.
    first_event: u32,
    /// Why the run cannot go on, if it cannot.
    pub failure: Option<String>,
}

/// What the hosts of a workload can do.
fn conditions(workload: &Workload) -> Conditions {
    Conditions { paced: workload.pacing.is_some(), ..Conditions::exact(workload.packet) }
}

impl<'a> Connections<'a> {
    /// The connections of `experiment`, none of which has arrived.
    pub fn new(experiment: &'a Experiment, network: &mut Network) -> Result<Connections<'a>, String> {
        let first_event = experiment.cross.len() as u32;
        let mut classes = Vec::new();
        for (i, workload) in experiment.workloads.iter().enumerate() {
            let controller = control::registry::find(&workload.controller)
                .ok_or_else(|| format!("there is no controller `{}`", workload.controller))?;
            let crossed = network.topology.round_trip(&workload.route);
            let mut class = Class {
                workload,
                factory: controller.factory(&workload.parameters, &conditions(workload))?,
                arrivals: workload.population.arrivals()?,
                upcoming: Connection::default(),
                free: VecDeque::new(),
                crossed,
                measure: experiment.measure,
                random: Random::new(experiment.seed, Stream::Losses, &[i as u64]),
                delivered: Default::default(),
                sampled: Default::default(),
                measured: Default::default(),
                active: 0,
                outcome: WorkloadOutcome::default(),
            };
            if class.arrivals.next(&mut class.upcoming)? {
                class.announce(Time::ZERO, first_event + i as u32, network);
            }
            classes.push(class);
        }
        let first_flow = experiment.flows.len() as u32;
        Ok(Connections { classes, slots: Vec::new(), first_flow, first_event, failure: None })
    }

    /// Handles the event of kind [`Kind::Cross`] and number `index`.
    #[inline(never)]
    pub fn on_event(&mut self, now: Time, index: u32, network: &mut Network) {
        let event = (index - self.first_event) as usize;
        let Some(event) = event.checked_sub(self.classes.len()) else { return self.arrive(now, event, network) };
        let (number, thread) = (event / 2, event % 2);
        let slot = &mut self.slots[number];
        if slot.due[thread] != now {
            return; // the event was an earlier connection's
        }
        slot.due[thread] = Time::MAX;
        let mut place = self.place(number);
        match place.slot.state {
            State::Free => {}
            State::Opening(timeout) => place.ask(now, Duration(2 * timeout.0).min(LAST_TIMEOUT), network),
            State::Open(_) => place.hand_over(now, thread, network),
        }
    }

    /// Handles an event of a flow: its controller asked for this time, its retransmission timer may have expired, or an
    /// acknowledgment has been delayed for long enough.
    #[inline(never)]
    pub fn on_flow_event(&mut self, now: Time, kind: Kind, flow: u32, network: &mut Network) {
        let half = (flow - self.first_flow) as usize;
        let Some((source, sink)) = &mut self.slots[half / 2].halves[half % 2].ends else { return };
        match kind {
            Kind::Wake => source.on_wake(now, &mut FlowEnvironment { network, now, flow }),
            Kind::Timeout => source.on_timer(now, &mut FlowEnvironment { network, now, flow }),
            _ => {
                if let Some(ack) = sink.release(now) {
                    network.forward(now, ack.hop, ack.head.size(), || ack);
                }
            }
        }
    }

    /// A packet has reached its host.
    #[inline(never)]
    pub fn deliver(&mut self, now: Time, packet: &Packet, network: &mut Network) {
        let half = (packet.flow - self.first_flow) as usize;
        if packet.sent < self.slots[half / 2].began {
            return;
        }
        let mut place = self.place(half / 2);
        match &packet.body {
            Body::Data(stamp) if packet.segment == OPENING => {
                let sink = place.slot.halves[0].ends.as_mut().map(|(_, sink)| sink);
                let report = sink.and_then(|sink| sink.on_opening(now, stamp, Bytes(packet.head.size().into())));
                let body = Body::Ack { out_of_order: 0, marked: 0, report };
                place.send_opening(1, body, packet.sent, now, network);
            }
            Body::Ack { report, .. } if packet.segment == OPENING => {
                if let State::Opening(_) = place.slot.state {
                    let rtt = now.since(packet.sent);
                    if let Some((source, _)) = &mut place.slot.halves[0].ends {
                        source.on_open(now, rtt, *report);
                    }
                    place.open(now, Some(rtt), network);
                }
            }
            Body::Data(stamp) => place.on_data(now, packet, stamp, half % 2, network),
            Body::Ack { out_of_order, marked, report } => {
                let Some((source, sink)) = &mut place.slot.halves[half % 2].ends else { return };
                let mut environment = FlowEnvironment { network, now, flow: packet.flow };
                source.on_ack(now, packet, (*out_of_order, *marked, report), sink, &mut environment);
                place.close_if_done(now);
            }
            Body::Cross => {}
        }
    }

    /// The measured interval begins or ends.
    pub fn measure(&mut self, begins: bool) {
        for class in &mut self.classes {
            for side in 0..2 {
                if begins {
                    class.measured[side] = class.delivered[side];
                } else {
                    class.outcome.carried[side] = class.delivered[side] - class.measured[side];
                }
            }
        }
    }

    /// A sampling interval ends.
    pub fn sample(&mut self) {
        for class in &mut self.classes {
            for side in 0..2 {
                let before = std::mem::replace(&mut class.sampled[side], class.delivered[side]);
                class.outcome.series.delivered[side].push((class.delivered[side] - before).0);
            }
            class.outcome.series.active.push(class.active);
        }
    }

    /// The outcomes of all workloads, at the `end` of the run.
    pub fn finish(&mut self, end: Time) -> Vec<WorkloadOutcome> {
        for number in 0..self.slots.len() {
            let mut place = self.place(number);
            if place.slot.state != State::Free {
                place.give_up();
                place.account(end);
            }
        }
        let outcomes = self.classes.drain(..).map(|class| class.outcome);
        let tight = |mut outcome: WorkloadOutcome| {
            outcome.transfers.shrink_to_fit(); // it is kept after the run, with those of other runs
            outcome.videos.sort_by_key(|session| session.connection);
            outcome
        };
        outcomes.map(tight).collect()
    }

    fn place(&mut self, number: usize) -> Place<'_, 'a> {
        let event = self.first_event + self.classes.len() as u32 + 2 * number as u32;
        let slot = &mut self.slots[number];
        let class = &mut self.classes[slot.class];
        let number = number as u32;
        Place { class, slot, number, flow: self.first_flow + 2 * number, event }
    }

    /// Class `index`'s next connections arrive.
    fn arrive(&mut self, now: Time, index: usize, network: &mut Network) {
        loop {
            let number = self.free_slot(now, index, network);
            let mut place = self.place(number);
            std::mem::swap(&mut place.slot.connection, &mut place.class.upcoming);
            place.begin(now, network);
            let class = &mut self.classes[index];
            match class.arrivals.next(&mut class.upcoming) {
                Ok(true) => {}
                Ok(false) => return,
                Err(why) => {
                    self.failure = Some(why);
                    return;
                }
            }
            if class.workload.start + class.upcoming.start.since(Time::ZERO) > now {
                return class.announce(now, self.first_event + index as u32, network);
            }
        }
    }

    /// A free slot of class `index`, with no packet on its access links.
    fn free_slot(&mut self, now: Time, index: usize, network: &mut Network) -> usize {
        let class = &mut self.classes[index];
        if let Some(&(number, since)) = class.free.front()
            && since < now
            && self.slots[number as usize]
                .access
                .iter()
                .all(|access| network.topology.lanes.next_exit(access.lane).is_none())
        {
            class.free.pop_front();
            return number as usize;
        }
        class.outcome.slots += 1;
        let route = &class.workload.route;
        self.slots.push(Slot::new(index, [false, true].map(|back| network.topology.add_access(route, back))));
        self.slots.len() - 1
    }
}
