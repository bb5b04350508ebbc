//! The flows of a scenario: first one group for each `[[flow]]`, which is checked and counted, then the copies in it.

use super::context::Context;
use super::draw::{DrawnKey, draw};
use super::{controllers, traffic};
use crate::checks;
use crate::key_path::KeyPath;
use crate::keys;
use crate::problems::Problems;
use crate::values::time_range::TimeRange;
use control::{Bytes, Time};
use experiment::{Flow, FlowSettings, Misbehaviour};
use path::Route;
use std::sync::Arc;

/// The copies of one `[[flow]]`, which differ in their start and their RTT only.
pub(super) struct FlowGroup {
    /// The position of the `[[flow]]` in the scenario, from 0.
    pub index: usize,
    /// The number of copies.
    pub count: u64,
    /// The range from which their RTTs are drawn.
    pub rtt: TimeRange,
    /// The range from which their starts are drawn.
    start: TimeRange,
    /// A copy whose start and RTT are not drawn yet.
    template: Flow,
}

/// Checks all flows.
pub(super) fn groups(context: &Context, problems: &mut Problems) -> Vec<FlowGroup> {
    let scenario = context.scenario;
    let implied = [keys::Flow::default()];
    let flows = match (scenario.flow.as_slice(), context.compared) {
        ([], Some(_)) if !traffic::compares(scenario) => &implied,
        (flows, _) => flows,
    };
    if flows.is_empty() && scenario.traffic.is_empty() {
        problems.add(KeyPath::of("flow"), "is missing, so nothing would be sent; write [[flow]] with a controller");
    }
    flows.iter().enumerate().filter_map(|(i, flow)| group(flow, i, context, problems)).collect()
}

/// Checks the flow at position `index`. None if its controller, its route or its RTT is not known.
fn group(flow: &keys::Flow, index: usize, context: &Context, problems: &mut Problems) -> Option<FlowGroup> {
    let Context { scenario, network, compared, .. } = *context;
    let at = KeyPath::of("flow").index(index);
    let controller = match flow.controller.as_deref().or(compared).map(controllers::find) {
        Some(Ok(controller)) => Some(controller),
        Some(Err(message)) => {
            problems.add(at.key("controller"), message);
            None
        }
        None => {
            problems.add(at.key("controller"), "is missing; write controller = \"rapid\", or [compare] with several");
            None
        }
    };

    let route = network.route(flow.route.as_deref(), flow.direction, &at, problems);
    let rtt = route.as_ref().map(|route| network.flow_rtt(flow.rtt, route, &at, problems));

    checks::start(flow.start.high, scenario.duration, at.key("start"), problems);
    checks::stop(flow.stop, flow.start.high, at.key("stop"), problems);
    if let Some(size) = flow.size {
        problems.unless(size > Bytes(0), at.key("size"), "is zero; write one like \"10 MB\", or remove it");
    }
    problems.unless(flow.count != Some(0), at.key("count"), "is zero; write 1 or more, or remove the flow");
    checks::receive_window(flow.receive_window, at.key("receive-window"), problems);
    // Losses that the receiver hides never reduce a window, so that nothing else would bound it.
    let is_bounded = flow.receive_window.is_some() || flow.misbehaviour != Some(keys::Misbehaviour::OptimisticAcks);
    problems.unless(is_bounded, at.key("misbehaviour"), "needs a `receive-window`; write one like 500 beside it");
    checks::max_burst(flow.max_burst, at.key("max-burst"), problems);
    checks::pacing(flow.pacing, at.key("pacing"), problems);
    checks::delayed_ack(flow.delayed_ack, at.key("delayed-ack"), problems);
    checks::host_time(flow.coalesce, "100 us", at.key("coalesce"), problems);
    checks::host_time(flow.jitter, "10 us", at.key("jitter"), problems);
    checks::host_time(flow.quantum, "50 us", at.key("quantum"), problems);
    if let Some(access) = flow.access {
        checks::access(access, at.key("access"), problems);
    }
    if let Some(packet) = flow.packet {
        checks::packet(packet, at.key("packet"), problems);
    }

    let named = flow.controller.is_some();
    if named {
        controllers::pacing(controller?, flow.pacing, at.key("pacing"), problems);
    }
    let ecn = controllers::ecn(controller?, flow.ecn, named, scenario, at.key("ecn"), problems);
    let (controller, route, rtt) = (controller?, route?, rtt?);
    Some(FlowGroup {
        index,
        count: flow.count.unwrap_or(1),
        rtt,
        start: flow.start,
        template: Flow {
            start: Time(flow.start.low.0),
            rtt: rtt.low,
            settings: FlowSettings {
                controller: controller.name.into(),
                parameters: Arc::new(context.parameters_of(controller.name)),
                recovery: flow.recovery.unwrap_or(controller.recovery),
                route: Arc::new(route),
                access: flow.access.or(network.default_access()),
                stop: flow.stop.map(|stop| Time(stop.0)),
                size: flow.size,
                packet: flow.packet.unwrap_or(scenario.packet),
                ack_size: scenario.ack,
                receive_window: flow.receive_window,
                max_burst: flow.max_burst,
                pacing: flow.pacing.or(scenario.pacing),
                delayed_ack: flow.delayed_ack.or(scenario.delayed_ack),
                coalesce: flow.coalesce.or(scenario.coalesce),
                jitter: flow.jitter.or(scenario.jitter),
                quantum: flow.quantum.or(scenario.quantum),
                min_rto: scenario.min_rto,
                ecn,
                misbehaviour: flow.misbehaviour.map(|kind| match kind {
                    keys::Misbehaviour::OptimisticAcks => Misbehaviour::OptimisticAcks,
                    keys::Misbehaviour::FalseReports => Misbehaviour::FalseReports,
                }),
            }
            .into(),
        },
    })
}

impl FlowGroup {
    /// The name of its controller.
    pub fn controller(&self) -> &str {
        &self.template.controller
    }

    /// The links that its flows cross.
    pub fn route(&self) -> &Route {
        &self.template.route
    }

    /// Size of its full packets on the wire.
    pub fn packet(&self) -> Bytes {
        self.template.packet
    }

    /// Its copies, with the starts and RTTs that follow from `seed`.
    pub fn flows(&self, seed: u64) -> impl Iterator<Item = Flow> {
        let drawn = move |range, copy, key| draw(range, seed, self.index, copy, key);
        (0..self.count).map(move |copy| Flow {
            rtt: drawn(self.rtt, copy, DrawnKey::Rtt),
            start: Time(drawn(self.start, copy, DrawnKey::Start).0),
            ..self.template.clone()
        })
    }
}
