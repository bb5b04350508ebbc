//! The event loop: takes the next event and lets the host or link concerned handle it, until the end of the run.

use crate::access_pairs::Stage;
use crate::calendar::Passing;
use crate::event_queue::{Event, Kind};
use crate::flow::Flow;
use crate::flow_environment::FlowEnvironment;
use crate::host::{Answer, Interface, Setup, Sink, Source};
use crate::network::{Ahead, Network};
use crate::packet::{Body, Head, Packet};
use crate::pages;
use crate::record::Record;
use crate::recorder::Recorder;
use crate::traffic::connections::Connections;
use crate::traffic::cross::CrossSource;
use control::registry::Parties;
use control::{Conditions, Router, Time};
use experiment::{Acquire, Cross, Experiment, Outcome, spare_capacity};
use path::{LinkDirection, prefetch};
use std::sync::Arc;

/// Simulates `experiment`. Calls `progress` with the simulated time every few milliseconds of real time. When
/// `progress` returns false, the run ends early and there is no outcome.
///
/// # Errors
/// If a flow names a controller that does not exist, or parameters that it does not take; if a link names such a router
/// or queue discipline; or if the connections of a workload cannot be read.
pub fn run(experiment: &Experiment, progress: &mut dyn FnMut(Time) -> bool) -> Result<Option<Outcome>, String> {
    run_with(experiment, &named, progress)
}

/// The same with parties from `build`, which is given each flow, in their order, and what its hosts can do. The parties
/// of a flow are called in the order of time; those of different flows need not be.
///
/// # Errors
/// Those of `build` and of [`run`].
pub fn run_with(
    experiment: &Experiment,
    build: &dyn Fn(&experiment::Flow, &Conditions) -> Result<Parties, String>,
    progress: &mut dyn FnMut(Time) -> bool,
) -> Result<Option<Outcome>, String> {
    let mut simulation = Simulation::new(experiment, build)?;
    let complete = simulation.run(progress);
    match simulation.connections.failure.take() {
        Some(why) => Err(why),
        None => Ok(complete.then(|| simulation.outcome())),
    }
}

/// The parties of the controller that `flow` names, on such a host.
///
/// # Errors
/// If there is no such controller, or if it does not take the flow's parameters.
pub fn named(flow: &experiment::Flow, host: &Conditions) -> Result<Parties, String> {
    control::registry::find(&flow.controller)
        .ok_or_else(|| format!("there is no controller `{}`", flow.controller))?
        .build(&flow.parameters, host)
}

/// Events between two calls of `progress`: some milliseconds of real time.
const EVENTS_PER_PROGRESS: u64 = 1 << 17;

/// The most flows that stay in the processor's caches without prefetching.
pub(crate) const CACHED_FLOWS: usize = 256;

/// What a flow's hosts point at is prefetched by this number of packets ahead, and the flow itself by twice as many.
const PREFETCH_AHEAD: usize = 2;

/// The same for packets on the access links of pairs. With fewer than [`MANY_FLOWS`], prefetching costs more than it
/// saves there: each flow is on other pages, and a prefetch waits for the address of its page.
const PAIRS_AHEAD: usize = 8;
const MANY_FLOWS: usize = 25_000;

/// What the hosts of a flow allocate beside the flow itself, in bytes: the controller, and after losses what is known
/// of segments; with what lies unused between these.
const ALLOCATED: usize = 640;

/// What the hosts of a flow can do. Simulated times are exact, and `jitter` is a delay that hosts do not know of; but a
/// host that knows the shortest gap that it can keep also knows by how much it misses the times of its departures.
fn conditions(flow: &experiment::Flow) -> Conditions {
    let exact = Conditions { paced: flow.pacing.is_some(), ..Conditions::exact(flow.packet) };
    let Some(quantum) = flow.quantum else { return exact };
    Conditions { quantum, timing_error: flow.jitter.unwrap_or(exact.timing_error), ..exact }
}

/// A run under way, for those who look at it or act on it before its end. [`run`] makes a whole one.
pub struct Simulation<'a> {
    pub(crate) experiment: &'a Experiment,
    pub(crate) network: Network,
    pub(crate) flows: Vec<Flow>,
    /// Each source of traffic that does not react to congestion, and the position in the topology at which its packets
    /// begin.
    cross: Vec<(u32, CrossSource)>,
    connections: Connections<'a>,
    pub(crate) recorder: Recorder,
    events: u64,
    pub(crate) end: Time,
    /// The end of the room in which the hosts of many flows allocate: see [`pages::large_heap`].
    _heap: Option<Vec<u8>>,
}

impl<'a> Simulation<'a> {
    /// The beginning of a run, with parties of flows from `build`, which is given each flow and what its hosts can do.
    ///
    /// # Errors
    /// Those of `build` and of [`run`].
    pub fn new(
        experiment: &'a Experiment,
        build: &dyn Fn(&experiment::Flow, &Conditions) -> Result<Parties, String>,
    ) -> Result<Simulation<'a>, String> {
        let mut network = Network::new(experiment)?;
        let mut recorder = Recorder::new(experiment);
        let many = experiment.flows.len() >= MANY_FLOWS;
        let heap = if many { pages::large_heap(experiment.flows.len() * ALLOCATED) } else { None };
        // All controllers are built first, so that they are side by side in memory: with thousands of flows, a packet
        // touches the memory of one.
        let parties = experiment.flows.iter().map(|flow| build(flow, &conditions(flow)));
        let parties = parties.collect::<Result<Vec<_>, String>>()?;
        let mut flows = Vec::with_capacity(experiment.flows.len());
        pages::large(&flows);
        let mut spare = Arc::default();
        for (i, (flow, parties)) in experiment.flows.iter().zip(parties).enumerate() {
            let interfaces = [
                flow.jitter.map(|most| Interface::jittering(most, flow.quantum.is_some(), experiment.seed, i)),
                flow.coalesce.map(Interface::coalescing),
            ];
            let [way_out, way_back] = network.connect(flow, interfaces);
            let source = Source::new(Setup {
                controller: parties.sender,
                recovery: flow.recovery,
                size: flow.size,
                packet: flow.packet,
                receive_window: flow.receive_window,
                max_burst: flow.max_burst,
                pacing: flow.pacing,
                min_rto: flow.min_rto,
                idle_restart: false, // a flow always has something to send
                flow: i as u32,
                way_out,
                ecn: flow.ecn,
            });
            let mut sink = Sink::new(parties.receiver, flow.ack_size.0 as u32, way_back, flow.delayed_ack);
            if let Some(kind) = flow.misbehaviour {
                sink.misbehave(kind);
            }
            let own = spare_capacity(experiment, flow);
            spare = if spare == own { spare } else { own }; // most flows share one
            let acquire = Acquire::new(flow, spare.clone());
            network.events.add(flow.start, (Kind::Wake, i as u32));
            if let Some(stop) = flow.stop {
                network.events.add(stop, (Kind::Wake, i as u32));
            }
            flows.push(Flow::new(source, sink, Record::new(flow.start, acquire), &mut recorder.looks));
        }
        let mut cross = Vec::new();
        for (i, traffic) in experiment.cross.iter().enumerate() {
            let way = network.topology.add_route(&traffic.route);
            let mut source = CrossSource::new(traffic, experiment.seed, i);
            let first = source.first(traffic.start);
            if first < traffic.stop {
                network.events.add(first, (Kind::Cross, i as u32));
            }
            cross.push((way, source));
        }
        let connections = Connections::new(experiment, &mut network)?;
        network.events.add(experiment.measure.0, (Kind::Measure, 0));
        network.events.add(experiment.measure.1, (Kind::Measure, 1));
        network.events.add(Time::ZERO + experiment.sample, (Kind::Sample, 0));
        let end = Time::ZERO + experiment.duration;
        Ok(Simulation { experiment, network, flows, cross, connections, recorder, events: 0, end, _heap: heap })
    }

    /// The same run with this router in one direction of a link, before it begins: the router sees each packet that
    /// arrives there and leaves, in place of the router that the experiment names.
    pub fn with_router(mut self, direction: LinkDirection, router: Box<dyn Router>) -> Simulation<'a> {
        self.network.topology.link(direction).put_router(router);
        self
    }

    /// Simulates until `time`, all that happens at that time included, or until the end of the run.
    pub fn run_until(&mut self, time: Time) {
        while let Some((now, event)) = self.network.events.take() {
            if now > time.min(self.end) {
                // The order of events does not depend on when they were added.
                self.network.events.add(now, event);
                break;
            }
            self.events += 1;
            self.handle(now, event);
        }
    }

    /// Returns whether the run came to its end.
    fn run(&mut self, progress: &mut dyn FnMut(Time) -> bool) -> bool {
        self.look_ahead();
        while let Some(now) = self.go_on() {
            if self.events.is_multiple_of(EVENTS_PER_PROGRESS) && !progress(now) {
                return false;
            }
        }
        true
    }

    /// Handles what happens next, and returns when that was; none if it would be after the end.
    #[inline(always)]
    fn go_on(&mut self) -> Option<Time> {
        if let Some(packet) = self.network.take_lean(self.end) {
            self.events += 1;
            if self.flows.len() >= MANY_FLOWS {
                self.prefetch_pairs();
            }
            self.exit_pair(&packet);
            return Some(packet.exit);
        }
        // Where there is an echo, there are no pairs.
        if let Some(answer) = self.network.next_echo(self.end) {
            self.events += 1;
            self.hear_echo(&answer);
            return Some(answer.exit);
        }
        let (now, event) = self.network.events.take()?;
        if now > self.end {
            return None;
        }
        self.events += 1;
        if self.network.events.has_turned() {
            self.prefetch_due(now);
        }
        self.handle(now, event);
        Some(now)
    }

    /// Prefetches what the packets need that leave the access links of pairs soon: the pair first, then the flow that
    /// an acknowledgment goes to, and last what that flow's hosts point at.
    #[inline(never)]
    fn prefetch_pairs(&self) {
        if self.network.access_pairs.has_begun() {
            // Of the first packets of a slot, none was known before.
            (0..4 * PAIRS_AHEAD).for_each(|ahead| self.prefetch_pair(ahead));
            (0..2 * PAIRS_AHEAD).for_each(|ahead| self.prefetch_hearer(ahead));
            (0..PAIRS_AHEAD).for_each(|ahead| self.prefetch_hosts(ahead));
        }
        self.prefetch_pair(4 * PAIRS_AHEAD);
        self.prefetch_hearer(2 * PAIRS_AHEAD);
        self.prefetch_hosts(PAIRS_AHEAD);
    }

    /// Prefetches the pair of the packet that leaves an access link behind `ahead` others.
    #[inline(always)]
    fn prefetch_pair(&self, ahead: usize) {
        let pairs = &self.network.access_pairs;
        if let Some(packet) = pairs.peek(ahead) {
            prefetch::lines(pairs.pair_of(packet));
        }
    }

    /// That packet, and the flow that its acknowledgment goes to.
    #[inline(always)]
    fn hearer(&self, ahead: usize) -> Option<(&Passing, &Flow)> {
        let pairs = &self.network.access_pairs;
        let packet = pairs.peek(ahead)?;
        match packet.stage() {
            Stage::Out => None,
            Stage::Back => Some((packet, self.flows.get(pairs.flow(packet) as usize)?)),
        }
    }

    #[inline(always)]
    fn prefetch_hearer(&self, ahead: usize) {
        if let Some((_, flow)) = self.hearer(ahead) {
            prefetch::lines(&flow.sink);
            prefetch::lines(&flow.source);
        }
    }

    /// Prefetches what the hosts of that flow point at.
    #[inline(always)]
    fn prefetch_hosts(&self, ahead: usize) {
        if let Some((packet, flow)) = self.hearer(ahead) {
            if self.network.access_pairs.arrived(packet) >= flow.watch {
                self.recorder.looks.prefetch(flow.source.flow());
            }
            flow.sink.prefetch();
            flow.source.prefetch();
        }
    }

    #[inline(always)]
    fn handle(&mut self, now: Time, (kind, index): Event) {
        match kind {
            Kind::Exit => self.exit(now, index),
            _ => self.act(now, kind, index),
        }
    }

    /// The first packet on `lane` leaves it.
    #[inline(always)]
    fn exit(&mut self, now: Time, lane: u32) {
        if self.exit_ahead(now, lane) {
            return;
        }
        if !self.network.topology.is_access(lane) {
            self.prefetch_flows(now, lane);
        }
        let packet = *self.network.first(lane);
        let fate = self.network.leave(lane);
        let arrived = self.network.go_on(now, lane, &packet, fate);
        if arrived {
            self.deliver(now, &packet);
        }
    }

    /// Any event but an exit. Not inlined, so that the event loop stays short.
    #[inline(never)]
    fn act(&mut self, now: Time, kind: Kind, index: u32) {
        match kind {
            Kind::Exit => {} // never comes here
            Kind::Wake => {
                let Some(flow) = self.flows.get_mut(index as usize) else {
                    return self.connections.on_flow_event(now, kind, index, &mut self.network);
                };
                if self.experiment.flows[index as usize].stop.is_some_and(|stop| now >= stop) {
                    flow.source.stop();
                }
                flow.source.on_wake(now, &mut FlowEnvironment { network: &mut self.network, now, flow: index });
            }
            Kind::Timeout => {
                let Some(flow) = self.flows.get_mut(index as usize) else {
                    return self.connections.on_flow_event(now, kind, index, &mut self.network);
                };
                flow.source.on_timer(now, &mut FlowEnvironment { network: &mut self.network, now, flow: index });
            }
            Kind::DelayedAck => {
                let Some(flow) = self.flows.get_mut(index as usize) else {
                    return self.connections.on_flow_event(now, kind, index, &mut self.network);
                };
                if let Some(ack) = flow.sink.release(now) {
                    self.network.forward(now, ack.hop, ack.head.size(), || ack);
                }
            }
            Kind::Cross => self.cross_traffic(now, index),
            Kind::Interface => {
                while let Some((packet, arrived)) = self.network.release(now, index) {
                    if arrived {
                        self.deliver(now, &packet);
                    }
                }
            }
            Kind::Measure => {
                self.settle(now);
                self.recorder.measure(now, index == 0, &mut self.network, &mut self.flows);
                self.connections.measure(index == 0);
            }
            Kind::Sample => {
                self.settle(now);
                self.connections.sample();
                self.recorder.sample(now, &mut self.network, &mut self.flows);
                self.network.events.add(now + self.experiment.sample, (Kind::Sample, 0));
            }
        }
    }

    /// Prefetches what the events concern that the queue knows to be due soon.
    #[inline(never)]
    fn prefetch_due(&self, now: Time) {
        let network = &self.network;
        let Network { topology, events, ahead, .. } = network;
        let lanes = &topology.lanes;
        let hearer = |lane: u32| match ahead.get(lane as usize) {
            Some(&Ahead::Hear { flow, .. }) => self.flows.get(flow as usize),
            _ => None,
        };
        events.ahead(|slots, (kind, index)| match (kind, slots) {
            (Kind::Exit, 2) => network.prefetch_lane(index),
            (Kind::Exit, 1) => {
                lanes.prefetch_packet(index, 0);
                if let Some(flow) = hearer(index) {
                    prefetch::lines(&flow.sink);
                    prefetch::lines(&flow.source);
                }
            }
            (Kind::Exit, _) => {
                // Its time is needed when the first packet leaves.
                lanes.prefetch_packet(index, 1);
                if let Some(flow) = hearer(index) {
                    if now >= flow.watch {
                        self.recorder.looks.prefetch(flow.source.flow());
                    }
                    flow.sink.prefetch();
                    flow.source.prefetch();
                    network.prefetch_way(flow.source.way_out());
                }
            }
            (Kind::Timeout, 1) => {
                if let Some(flow) = self.flows.get(index as usize) {
                    flow.source.prefetch_timer();
                }
            }
            _ => {}
        });
    }

    /// Prefetches the flows of packets that leave `lane` soon: the flow itself of one packet, and what its hosts point
    /// at of a packet that comes before, whose flow has been prefetched by now.
    #[inline(always)]
    fn prefetch_flows(&self, now: Time, lane: u32) {
        if self.flows.len() > CACHED_FLOWS {
            self.prefetch_flows_of(now, lane);
        }
    }

    /// Not inlined, so that the event loop stays short for runs of few flows.
    #[inline(never)]
    fn prefetch_flows_of(&self, now: Time, lane: u32) {
        let network = &self.network;
        if let Some(packet) = network.peek(lane, 2 * PREFETCH_AHEAD)
            && let Some(flow) = self.flows.get(packet.flow as usize)
        {
            match packet.body {
                Body::Data(_) => prefetch::lines(&flow.sink),
                Body::Ack { .. } => prefetch::lines(&flow.source),
                Body::Cross => {}
            }
        }
        if let Some(packet) = network.peek(lane, PREFETCH_AHEAD)
            && let Some(flow) = self.flows.get(packet.flow as usize)
        {
            match packet.body {
                Body::Data(_) => {
                    if now >= flow.watch {
                        self.recorder.looks.prefetch(flow.source.flow());
                    }
                    network.prefetch_way(flow.sink.way_back());
                    flow.sink.prefetch();
                }
                Body::Ack { .. } => {
                    network.prefetch_way(flow.source.way_out());
                    flow.source.prefetch();
                }
                Body::Cross => {}
            }
        }
    }

    /// A packet has reached its host.
    #[inline]
    fn deliver(&mut self, now: Time, packet: &Packet) {
        debug_assert!(!packet.head.has_arrived(), "an acknowledgment was to be made of it");
        if let Body::Cross = packet.body {
            return;
        }
        let index = packet.flow;
        let Some(flow) = self.flows.get_mut(index as usize) else {
            return self.connections.deliver(now, packet, &mut self.network);
        };
        match &packet.body {
            Body::Data(_) if flow.sink.answers_at_once() => {
                let ack = flow.acknowledge(now, packet, flow.sink.way_back(), &mut self.recorder.looks);
                self.network.forward(now, ack.hop, ack.head.size(), || ack);
            }
            Body::Data(stamp) => match flow.on_data(now, packet, stamp, &mut self.recorder.looks) {
                Answer::Send(ack) => {
                    self.network.forward(now, ack.hop, ack.head.size(), || ack);
                }
                Answer::HoldUntil(time) => self.network.events.add(time, (Kind::DelayedAck, index)),
            },
            Body::Ack { out_of_order, marked, report } => {
                let mut environment = FlowEnvironment { network: &mut self.network, now, flow: index };
                flow.source.on_ack(now, packet, (*out_of_order, *marked, report), &mut flow.sink, &mut environment);
            }
            Body::Cross => {} // no host waits for it
        }
    }

    fn cross_traffic(&mut self, now: Time, index: u32) {
        let Some((hop, source)) = self.cross.get_mut(index as usize) else {
            self.connections.on_event(now, index, &mut self.network);
            if self.connections.failure.is_some() {
                self.end = now;
            }
            return;
        };
        let Cross { packet, stop, .. } = self.experiment.cross[index as usize];
        let (hop, next, size) = (*hop, now + source.gap(), packet.0 as u32);
        let packet =
            Packet { flow: index, head: Head::plain(size), hop, order: 0, segment: 0, sent: now, body: Body::Cross };
        self.network.forward(now, hop, size, || packet);
        if next < stop {
            self.network.events.add(next, (Kind::Cross, index));
        }
    }

    pub(crate) fn outcome(mut self) -> Outcome {
        self.settle(self.end);
        self.settle_last();
        let workloads = self.connections.finish(self.end);
        let packets_delivered = self.flows.iter().map(|flow| flow.sink.packets()).sum::<u64>()
            + workloads.iter().map(|workload| workload.packets_delivered).sum::<u64>();
        let Simulation { experiment, network, flows, connections, mut recorder, events, .. } = self;
        // The network and each flow make room for the results.
        drop((network, connections));
        let samples = |flow| {
            let series = recorder.series(flow);
            let mean_window = recorder.mean_window(&series);
            (series, mean_window)
        };
        let flows = flows.into_iter().zip(&recorder.looks.records);
        let flows = flows.map(|(flow, record)| flow.outcome(record, samples)).collect();
        let (links, sampled) = recorder.finish(experiment);
        Outcome { flows, workloads, links, sampled, packets_delivered, events }
    }
}
