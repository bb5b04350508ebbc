//! The flows of a scenario: tables first, so that they can be checked and counted, then each of their copies.

use super::draw::{Drawn, draw};
use super::key_path::KeyPath;
use super::keys::{self, Scenario};
use super::network::{Network, positive_access};
use super::resolve::{self, Problems};
use super::spread::Spread;
use super::traffic;
use control::{Bytes, Controller, Duration, Rate, Recovery, Time};
use experiment::{Flow, Route};
use serde_json::Value;

/// One `[[flow]]` with every default filled in.
pub(super) struct Table {
    /// Its place among the tables.
    pub index: usize,
    pub controller: &'static Controller,
    pub count: u64,
    pub route: Route,
    pub rtt: Spread,
    start: Spread,
    stop: Option<Duration>,
    size: Option<Bytes>,
    pub packet: Bytes,
    receive_window: Option<u64>,
    recovery: Recovery,
    delayed_ack: Option<Duration>,
    coalesce: Option<Duration>,
    jitter: Option<Duration>,
    access: Option<Rate>,
}

/// Checks all tables; `compared` controls those that name no controller.
pub(super) fn tables(
    scenario: &Scenario,
    compared: Option<&str>,
    network: &Network,
    problems: &mut Problems,
) -> Vec<Table> {
    let implied = [keys::Flow::default()];
    let flows = match (scenario.flow.as_slice(), compared) {
        ([], Some(_)) if !traffic::compares(scenario) => &implied,
        (flows, _) => flows,
    };
    if flows.is_empty() && scenario.traffic.is_empty() {
        problems.add(KeyPath::of("flow"), "is missing, so nothing would be sent; write [[flow]] with a controller");
    }
    flows.iter().enumerate().filter_map(|(i, flow)| table(scenario, flow, i, compared, network, problems)).collect()
}

fn table(
    scenario: &Scenario,
    flow: &keys::Flow,
    index: usize,
    compared: Option<&str>,
    network: &Network,
    problems: &mut Problems,
) -> Option<Table> {
    let at = KeyPath::of("flow").index(index);
    let controller = match flow.controller.as_deref().or(compared).map(resolve::find) {
        Some(Ok(controller)) => Some(controller),
        Some(Err(message)) => {
            problems.add(at.key("controller"), message);
            None
        }
        None => {
            problems.add(at.key("controller"), "is missing; write controller = \"rapid\", or [compare] with some");
            None
        }
    };

    let route = network.route(flow.route.as_deref(), flow.direction, &at, problems);
    let rtt = route.as_ref().map(|route| round_trip(flow.rtt, route, network, &at, problems));

    resolve::before_the_end(flow.start.high, scenario.duration, at.key("start"), problems);
    if let Some(stop) = flow.stop {
        let last = flow.start.high;
        problems.unless(
            stop > last,
            at.key("stop"),
            format!("{stop} is not after its start; write more than \"{last}\""),
        );
    }
    if let Some(size) = flow.size {
        problems.unless(size > Bytes(0), at.key("size"), "is zero; write one like \"10 MB\", or remove it");
    }
    problems.unless(flow.count != Some(0), at.key("count"), "is zero; write 1 or more, or remove the flow");
    problems.unless(flow.receive_window != Some(0), at.key("receive-window"), "is zero; write 1 or more, or remove it");
    if let Some(delay) = flow.delayed_ack {
        resolve::delayed_ack(delay, at.key("delayed-ack"), problems);
    }
    resolve::interfaces(flow.coalesce, flow.jitter, &at, problems);
    if let Some(access) = flow.access {
        positive_access(access, at.key("access"), problems);
    }
    if let Some(packet) = flow.packet {
        resolve::packet(packet, at.key("packet"), problems);
    }

    let controller = controller?;
    Some(Table {
        index,
        controller,
        count: flow.count.unwrap_or(1),
        route: route?,
        rtt: rtt?,
        start: flow.start,
        stop: flow.stop,
        size: flow.size,
        packet: flow.packet.unwrap_or(scenario.packet),
        receive_window: flow.receive_window,
        recovery: flow.recovery.unwrap_or(controller.recovery),
        delayed_ack: flow.delayed_ack.or(scenario.delayed_ack),
        coalesce: flow.coalesce.or(scenario.coalesce),
        jitter: flow.jitter.or(scenario.jitter),
        access: flow.access.or(network.default_access()),
    })
}

/// The round-trip delays of the flows at `at`: those given, or the route's.
pub(super) fn round_trip(
    given: Option<Spread>,
    route: &Route,
    network: &Network,
    at: &KeyPath,
    problems: &mut Problems,
) -> Spread {
    let rtt = given.unwrap_or_else(|| Spread::fixed(network.default_rtt(&route.links)));
    let links = network.round_trip(&route.links);
    if rtt.low < links {
        let message = format!("{} is less than its links' delays, there and back; write at least \"{links}\"", rtt.low);
        problems.add(at.key("rtt"), message);
    } else {
        problems.unless(rtt.low > Duration::ZERO, at.key("rtt"), "is zero; write one like \"100 ms\"");
    }
    rtt
}

impl Table {
    /// Its copies, each with times of its own.
    pub fn flows<'t>(&'t self, scenario: &'t Scenario, parameters: &'t Value) -> impl Iterator<Item = Flow> + 't {
        let drawn = |spread, copy, what| draw(spread, scenario.seed, self.index, copy, what);
        (0..self.count).map(move |copy| Flow {
            controller: self.controller.name.to_string(),
            parameters: parameters.clone(),
            recovery: self.recovery,
            route: self.route.clone(),
            rtt: drawn(self.rtt, copy, Drawn::Rtt),
            access: self.access,
            start: Time(drawn(self.start, copy, Drawn::Start).0),
            stop: self.stop.map(|stop| Time(stop.0)),
            size: self.size,
            packet: self.packet,
            ack_size: scenario.ack,
            receive_window: self.receive_window,
            delayed_ack: self.delayed_ack,
            coalesce: self.coalesce,
            jitter: self.jitter,
            min_rto: scenario.min_rto,
        })
    }
}
