//! What is known ahead of its time is handled ahead, so that a packet takes two events in place of four where many
//! flows share a plain link ([`path::Link::is_plain`]).
//!
//! ```text
//!            access link: a delay           plain link
//!   source ----------------------- (1) ---------------------> sink
//!      ^                                                        |
//!      |        plain link            access link: a delay      |
//!      +----------------------- (2) <---------------------------+
//! ```
//!
//! - At (1), the link tells when the packet will reach the sink. If the sink answers each packet at once, the packet is
//!   put onto the access link before (2) right away, with a mark ([`Head::arrive`](crate::packet::Head::arrive)). The
//!   acknowledgment is made when the packet leaves that link, whatever link comes behind it, or when results look at
//!   the sink ([`Simulation::settle`]).
//! - At (2), the link tells when the acknowledgment will reach the source. If acknowledgments and the retransmission
//!   timer are all that the source acts on, it acts on this one right away: the packets that it sends are on an access
//!   link of its own, where they meet no others. The looks that results take at the source in between are taken first
//!   ([`Flow::look_until`]).
//!
//! If no host has an access link, and nothing but acknowledgments crosses the link back, then that is never busy when
//! one arrives, and the time of an answer is known as soon as data enters the link there: a packet takes one event in
//! place of two ([`Echo`]).
//!
//! Each link still meets its packets in the order of time, and each flow what reaches its hosts; only the flows do not
//! wait for each other. So all results are those of a run in which nothing is handled ahead.

use crate::access_pairs::{Between, Stage};
use crate::calendar::Passing;
use crate::echo::{Answer, Echo};
use crate::engine::{CACHED_FLOWS, Simulation};
use crate::flow::Flow;
use crate::flow_environment::FlowEnvironment;
use crate::looks::Looks;
use crate::network::{Ahead, Network};
use crate::packet::{Body, Packet};
use control::{Bytes, Duration, Time};
use path::prefetch;

/// By how many answers ahead what a flow's hosts point at is prefetched, and the flow itself by twice as many.
const ECHO_AHEAD: usize = 4;

impl Simulation<'_> {
    /// Before the first event: from now on, what is known ahead is handled ahead.
    pub(crate) fn look_ahead(&mut self) {
        let Network { topology, ahead, access_pairs, .. } = &mut self.network;
        *ahead = vec![Ahead::Nothing; topology.lanes.len()];
        let flows = self.flows.len();
        for (number, (flow, setup)) in self.flows.iter_mut().zip(&self.experiment.flows).enumerate() {
            let (out, back) = (flow.source.way_out(), flow.sink.way_back());
            let lanes = [out, back].map(|way| topology.access_lane(way));
            if flow.sink.answers_at_once() {
                topology.answer_at_once([out, back]);
            }
            if let Some(lane) = lanes[0] {
                flow.ahead_until = setup.stop.unwrap_or(Time::MAX).min(self.end + Duration(1));
                if let Some(link) = topology.lanes.onto(lane).and_then(|position| topology.answered_over(position)) {
                    ahead[lane as usize] = Ahead::Cross(link);
                }
            }
            if let Some(lane) = lanes[1] {
                let link = topology.lanes.onto(lane).and_then(|position| topology.ends_over(position));
                ahead[lane as usize] = Ahead::Hear { flow: number as u32, link };
            }
            // Neither is there a router on the way that would read stamps, nor a queue that would mark packets.
            if let [Some(lane), Some(back)] = lanes
                && back == lane + 1
                && let Ahead::Cross(link) = ahead[lane as usize]
                && let Ahead::Hear { flow: number, link: link_back } = ahead[back as usize]
                && let Some(onto) = topology.lanes.onto(back)
                && !flow.sink.reads_stamps()
                && flow.source.heads().are_known_modulo()
            {
                let delays = [lane, back].map(|lane| topology.lanes.delay(lane));
                let between = Between { link, link_back, onto, heads: flow.source.heads() };
                let full = Bytes(between.heads.full.size().into());
                let lasts = topology.lanes.link(link).map_or(Duration::ZERO, |link| link.durations(full).0);
                if access_pairs.connect(lane, flows, number, delays, &between, lasts) {
                    flow.wait_for_arrivals(&mut self.recorder.looks);
                }
            }
        }
        access_pairs.make_room();
        if let Some(echo) = self.find_echo() {
            self.network.echo = echo;
            self.flows.iter_mut().for_each(|flow| flow.wait_for_arrivals(&mut self.recorder.looks));
        }
        let Network { topology, ahead, access_pairs, .. } = &mut self.network;
        // Workloads add lanes later, whose numbers follow from how many there are.
        if self.experiment.workloads.is_empty()
            && let Some(first) = access_pairs.all_from(topology.lanes.len())
        {
            topology.lanes.forget(first);
            ahead.truncate(first as usize);
            ahead.shrink_to_fit();
        }
    }

    /// If all flows take one plain link, and nothing but their acknowledgments crosses it back, the echo there.
    fn find_echo(&mut self) -> Option<Echo> {
        let experiment = self.experiment;
        let (first, topology) = (self.flows.first()?, &mut self.network.topology);
        let (out, back) = (first.source.way_out(), first.sink.way_back());
        let (link, link_back) = (topology.ends_over(out)?, topology.ends_over(back)?);
        let ack = experiment.flows[0].ack_size;
        let alike = self.flows.iter().zip(&experiment.flows).all(|(flow, setup)| {
            let ways = (flow.source.way_out(), flow.sink.way_back());
            ways == (out, back) && flow.sink.answers_at_once() && setup.ack_size == ack
        });
        let alone = experiment.cross.is_empty() && experiment.workloads.is_empty();
        let is_recorded = self.recorder.directions().any(|direction| direction.index() == link_back as usize);
        if !alike || !alone || is_recorded {
            return None;
        }
        let (lasts, behind) = topology.lanes.link(link_back)?.durations(ack);
        // Every data packet takes at least as long on its link as an acknowledgment takes on the link back, which is
        // therefore idle when the next acknowledgment arrives.
        let link_out = topology.lanes.link(link)?;
        let keeps_up = self.flows.iter().all(|flow| link_out.durations(flow.source.least_packet()).0 >= lasts);
        let stamped = self.flows.iter().any(|flow| flow.sink.reads_stamps());
        let lane = topology.lanes.len() as u32;
        keeps_up.then(|| Echo::new(link, out, lane, lasts + behind, stamped))
    }

    /// `answer`, the first one of [`Network::echo`], reaches its source.
    #[inline(always)]
    pub(crate) fn hear_echo(&mut self, answer: &Answer) {
        if self.flows.len() > CACHED_FLOWS {
            self.prefetch_echo();
        }
        let echo = &mut self.network.echo;
        let (now, arrived, index) = (answer.exit, echo.arrived(answer), answer.flow);
        let flow = &mut self.flows[index as usize];
        let data = answer.data(echo.stamp(), flow.sink.cumulative());
        echo.pop();
        let ack = flow.acknowledge(arrived, &data, data.hop, &mut self.recorder.looks);
        let Body::Ack { out_of_order, marked, report } = ack.body else { return };
        let mut environment = FlowEnvironment { network: &mut self.network, now, flow: index };
        flow.source.on_ack(now, &ack, (out_of_order, marked, &report), &mut flow.sink, &mut environment);
    }

    /// Prefetches what the next answers of [`Network::echo`] need: of one all of its flow, whose sink and source both
    /// act then, and of one before it what its hosts point at.
    #[inline(never)]
    fn prefetch_echo(&self) {
        let echo = &self.network.echo;
        if let Some(answer) = echo.get(2 * ECHO_AHEAD)
            && let Some(flow) = self.flows.get(answer.flow as usize)
        {
            prefetch::lines(flow);
        }
        if let Some(answer) = echo.get(ECHO_AHEAD)
            && let Some(flow) = self.flows.get(answer.flow as usize)
        {
            if echo.arrived(answer) >= flow.watch {
                self.recorder.looks.prefetch(answer.flow);
            }
            flow.sink.prefetch();
            flow.source.prefetch();
        }
    }

    /// The first packet on `lane` leaves it. Returns false, and does nothing, where nothing of this is done ahead.
    #[inline(always)]
    pub(crate) fn exit_ahead(&mut self, now: Time, lane: u32) -> bool {
        let (flow, link) = match self.network.ahead.get(lane as usize) {
            None | Some(Ahead::Nothing) => return false,
            Some(&Ahead::Cross(link)) => {
                self.network.cross_ahead(now, lane, link);
                return true;
            }
            Some(&Ahead::Hear { flow, link }) => (flow, link),
        };
        let packet = self.network.first(lane);
        if link.is_none() && !packet.head.has_arrived() {
            return false;
        }
        let arrived = now - self.network.topology.lanes.delay(lane);
        let ack = self.flows[flow as usize].acknowledge(arrived, packet, packet.hop, &mut self.recorder.looks);
        self.network.leave(lane);
        self.pass_ack(now, link, &ack);
        true
    }

    /// `packet` has left an access link of a pair.
    #[inline(always)]
    pub(crate) fn exit_pair(&mut self, packet: &Passing) {
        if packet.stage() == Stage::Out {
            return self.network.cross_lean(packet);
        }
        let pairs = &self.network.access_pairs;
        let (link, flow) = (pairs.link_back(packet), &mut self.flows[pairs.flow(packet) as usize]);
        let (data, arrived) = pairs.returning(packet, flow.sink.cumulative());
        let ack = flow.acknowledge(arrived, &data, data.hop, &mut self.recorder.looks);
        self.pass_ack(packet.exit, link, &ack);
    }

    /// `ack` leaves the access link on its way back, behind which it crosses `link`, if that is plain.
    #[inline(always)]
    fn pass_ack(&mut self, now: Time, link: Option<u32>, ack: &Packet) {
        match link {
            Some(link) => self.hear_ahead(now, link, ack),
            None => {
                self.network.forward(now, ack.hop, ack.head.size(), || *ack);
            }
        }
    }

    /// `ack` goes to its source over `link`, which is plain.
    #[inline(always)]
    fn hear_ahead(&mut self, now: Time, link: u32, ack: &Packet) {
        let flow = &mut self.flows[ack.flow as usize];
        let Body::Ack { out_of_order, marked, report } = ack.body else { return };
        let Some(arrival) = self.network.topology.lanes.admit(link, now, Bytes(ack.head.size().into())) else { return };
        if arrival < flow.ahead_until && pass_timers(flow, arrival, &mut self.recorder.looks, &mut self.network) {
            flow.look_until(arrival, &mut self.recorder.looks);
            let mut environment = FlowEnvironment { network: &mut self.network, now: arrival, flow: ack.flow };
            flow.source.on_ack(arrival, ack, (out_of_order, marked, &report), &mut flow.sink, &mut environment);
        } else if arrival <= self.end {
            self.network.put(link, arrival, *ack);
        }
    }

    /// Makes the acknowledgments of what has arrived by `now`, so that sinks can be looked at, except for those that
    /// wait for arrivals.
    pub(crate) fn settle(&mut self, now: Time) {
        if self.network.ahead.is_empty() {
            return;
        }
        for flow in 0..self.flows.len() {
            let Network { topology, access_pairs, .. } = &self.network;
            if let Some(lane) = topology.access_lane(self.flows[flow].sink.way_back())
                && access_pairs.find(lane).is_none()
            {
                self.settle_lane(now, lane);
            }
        }
    }

    /// At the end: makes the acknowledgments of what has arrived, and takes the looks at sinks that are left.
    pub(crate) fn settle_last(&mut self) {
        let (flows, looks) = (&mut self.flows, &mut self.recorder.looks);
        self.network.access_pairs.settle(self.end, |flow, packet, pairs| {
            let flow = &mut flows[flow as usize];
            let (data, arrived) = pairs.returning(packet, flow.sink.cumulative());
            flow.acknowledge(arrived, &data, data.hop, looks);
        });
        self.settle_echo();
        self.flows.iter_mut().for_each(|flow| flow.end_looks(&mut self.recorder.looks));
    }

    /// The same for the answers of [`Network::echo`].
    fn settle_echo(&mut self) {
        let (flows, looks, echo) = (&mut self.flows, &mut self.recorder.looks, &mut self.network.echo);
        while let Some(&answer) = echo.first().filter(|answer| echo.arrived(answer) <= self.end) {
            let flow = &mut flows[answer.flow as usize];
            let data = answer.data(echo.stamp(), flow.sink.cumulative());
            flow.acknowledge(echo.arrived(&answer), &data, data.hop, looks);
            echo.pop();
        }
    }

    fn settle_lane(&mut self, now: Time, lane: u32) {
        let (lanes, flows, looks) = (&mut self.network.topology.lanes, &mut self.flows, &mut self.recorder.looks);
        let delay = lanes.delay(lane);
        lanes.visit(lane, |exit, packet| {
            let arrival = exit - delay;
            if arrival > now {
                return false;
            }
            if packet.head.has_arrived() {
                *packet = flows[packet.flow as usize].acknowledge(arrival, packet, packet.hop, looks);
            }
            true
        });
    }
}

/// Before the source acts at `time`: handles its retransmission timer. Returns whether it can act ahead.
#[inline(always)]
fn pass_timers(flow: &mut Flow, time: Time, looks: &mut Looks, network: &mut Network) -> bool {
    loop {
        match flow.source.next_timer() {
            None => return false,
            Some(timer) if timer >= time => return true,
            Some(timer) => {
                flow.look_until(timer, looks);
                let number = flow.source.flow();
                flow.source.on_timer(timer, &mut FlowEnvironment { network: &mut *network, now: timer, flow: number });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::contract_tests::{experiment, workload};
    use crate::engine::{Simulation, named, run};
    use control::registry::{self, Controller};
    use control::{Bytes, Duration, Recovery, Time};
    use experiment::{Experiment, Flow, Outcome};
    use path::queue::registry::find;
    use path::{Buffer, DirectionSetup, Errors, QueueSetup, Reorder, Route};
    use std::sync::Arc;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    /// Flows of `controller` whose packets meet on a link that drops both data and acknowledgments: with several
    /// round-trip times, with a beginning and an end, with little data, and in the other direction. They are looked at
    /// often.
    fn flows(controller: &Controller) -> Experiment {
        let plain = experiment(controller);
        let mut flows = [(41, 0), (70, 130), (90, 0), (55, 400), (63, 700), (41, 800), (30, 900)]
            .map(|(rtt, start)| Flow { rtt: MS(rtt), start: Time::ZERO + MS(start), ..plain.flows[0].clone() });
        flows[2].stop = Some(Time::ZERO + MS(1500));
        flows[3].size = Some(Bytes(200_500));
        flows[4].route = Arc::new(Route { links: vec![0], reverse: true });
        flows[5].delayed_ack = Some(MS(40));
        let measure = (Time::ZERO + MS(1234), Time::ZERO + MS(2500));
        Experiment { flows: flows.into(), sample: MS(7), measure, duration: MS(3000), ..plain }
    }

    /// Everything but the number of events, for comparison: series have samples that are no numbers.
    fn shown(outcome: &Outcome) -> String {
        format!("{:?}", Outcome { events: 0, ..outcome.clone() })
    }

    /// Runs `experiment` with what is known ahead handled ahead, and with each event at its time, in steps; once as it
    /// is, and once without samples, which would settle what waits. Returns the numbers of events, as it is.
    fn compare(experiment: &Experiment) -> [u64; 2] {
        let measure = (Time::ZERO, Time::ZERO + experiment.duration);
        compare_once(&Experiment { sample: experiment.duration, measure, ..experiment.clone() });
        compare_once(experiment)
    }

    fn compare_once(experiment: &Experiment) -> [u64; 2] {
        let ahead = run(experiment, &mut |_| true).unwrap().unwrap();
        let mut simulation = Simulation::new(experiment, &named).unwrap();
        for step in 1..=experiment.duration.0 / MS(11).0 + 1 {
            simulation.run_until(Time::ZERO + Duration(step * MS(11).0));
        }
        let at_its_time = simulation.outcome();
        assert!(shown(&ahead) == shown(&at_its_time), "{}: results differ", experiment.flows[0].controller);
        [ahead.events, at_its_time.events]
    }

    #[test]
    fn results_are_those_of_a_run_with_each_event_at_its_time() {
        for controller in registry::all() {
            let flows = flows(controller);
            let [ahead, at_their_times] = compare(&flows);
            assert!(ahead < at_their_times, "{}: {ahead} events of {at_their_times}", controller.name);
            for recovery in [Recovery::NewReno, Recovery::Sack, Recovery::RackTlp] {
                let mut flows = flows.clone();
                flows.flows.iter_mut().for_each(|flow| flow.recovery = recovery);
                flows.links[0].forward.buffer = Buffer::Packets(4);
                compare(&flows);
            }
        }
    }

    #[test]
    fn the_link_back_need_not_be_plain() {
        let changes: [fn(&mut DirectionSetup); 5] = [
            |back| back.errors = Errors::Uniform(0.02),
            |back| back.reorder = Some(Reorder { probability: 0.02, delay: MS(5) }),
            |back| back.duplicate = 0.02,
            |back| back.corrupt = 0.02,
            |back| {
                let codel = find("codel").expect("there is CoDel");
                back.queue = QueueSetup {
                    discipline: "codel".into(),
                    parameters: codel.defaults().clone(),
                    ..QueueSetup::default()
                };
            },
        ];
        for name in ["cubic", "newreno", "rapid", "bbr"] {
            for change in changes {
                let mut flows = flows(registry::find(name).unwrap());
                for reversed in [false, true] {
                    let link = &mut flows.links[0];
                    let mut direction = link.forward.clone();
                    change(&mut direction);
                    (link.forward, link.reverse) = if reversed {
                        (direction, Some(link.forward.clone()))
                    } else {
                        (link.forward.clone(), Some(direction))
                    };
                    compare(&flows);
                }
            }
        }
    }

    /// The same flows without access links and without the one in the other direction, all of which answer at once.
    fn echoing(controller: &Controller) -> Experiment {
        let mut flows = flows(controller);
        flows.flows.retain(|flow| !flow.route.reverse);
        flows.flows.iter_mut().for_each(|flow| (flow.rtt, flow.delayed_ack) = (MS(30), None));
        flows
    }

    #[test]
    fn results_are_the_same_where_answers_are_never_late() {
        for controller in registry::all() {
            let echoing = echoing(controller);
            let [ahead, at_their_times] = compare(&echoing);
            let others = 2 * echoing.duration.0 / echoing.sample.0;
            assert!(ahead < at_their_times - others, "{}: {ahead} events of {at_their_times}", controller.name);
            // An acknowledgment takes longer than the last packet of the flow that ends.
            let mut late = echoing.clone();
            late.flows.iter_mut().for_each(|flow| flow.ack_size = Bytes(600));
            compare(&late);
        }
    }

    #[test]
    fn connections_that_come_later_have_lanes_of_their_own() {
        let mut flows = flows(registry::find("cubic").unwrap());
        flows.flows.retain(|flow| !flow.route.reverse && flow.delayed_ack.is_none() && flow.rtt > MS(30));
        flows.workloads.push(workload(&flows));
        let outcome = run(&flows, &mut |_| true).unwrap().unwrap();
        assert!(outcome.workloads[0].completed > 10, "{} connections", outcome.workloads[0].completed);
    }

    #[test]
    fn a_window_protocol_takes_two_events_per_packet() {
        let mut flows = flows(registry::find("cubic").unwrap());
        flows.flows.retain(|flow| flow.delayed_ack.is_none() && flow.stop.is_none() && flow.rtt > MS(30));
        // Those of samples, and of timers, of which each round-trip time restarts one.
        let others = flows.duration.0 / flows.sample.0 + 200;
        let [ahead, at_their_times] = compare(&flows).map(|events| events - others);
        // A packet that is dropped takes one event either way.
        let dropped = run(&flows, &mut |_| true)
            .unwrap()
            .unwrap()
            .flows
            .iter()
            .map(|flow| flow.retransmitted_packets)
            .sum::<u64>();
        assert!(
            2 * (ahead - dropped) <= at_their_times - dropped,
            "{ahead} events, {at_their_times} before, {dropped} dropped"
        );
    }
}
