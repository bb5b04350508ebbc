//! The metrics of one run.

use super::traffic::{self, TrafficSummary};
use control::{Duration, Time};
use experiment::{EmulatorSummary, Finished, Flow, FlowOutcome, Identity, Place, jain, largest, median_jain};
use serde::Serialize;
use serde_json::{Map, Value};

/// One run. Totals and means are over the measured interval, unless a field says otherwise.
#[derive(Clone, Debug, Serialize)]
pub struct RunSummary {
    /// The identity as text, unique among the runs.
    pub name: String,
    /// What tells it from the other runs.
    #[serde(skip)]
    pub identity: Identity,
    /// Who made the run; left out for simulated runs.
    #[serde(skip_serializing_if = "Place::is_simulated")]
    pub place: Place,
    /// The controller of its flows; several names joined by `+`.
    pub controller: String,
    /// The controller's parameters, all of them.
    pub parameters: Value,
    /// What a sweep set: scenario keys and values.
    pub settings: Map<String, Value>,
    /// Duration of the run in its own time, in seconds.
    pub duration_seconds: f64,
    /// Beginning and end of the measured interval, in seconds.
    pub measured_seconds: [f64; 2],
    /// How many data packets reached their destination, over the whole run.
    pub packets_delivered: u64,
    /// How many events were simulated, over the whole run.
    pub events: u64,
    /// How long the run took in real time, in seconds: the only value that differs from one time to the next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall_seconds: Option<f64>,
    /// The sum of the flows' goodput, in Mbps.
    pub throughput_mbps: f64,
    /// Jain's index of the goodput of all flows that were active in the measured interval; NaN if nothing was
    /// delivered.
    pub jain: f64,
    /// The median of Jain's index over windows of 500 ms; see [`median_jain`].
    pub jain_500ms_median: Option<f64>,
    /// The links, in each direction that carries data.
    pub links: Vec<LinkSummary>,
    /// The flows, in the scenario's order.
    pub flows: Vec<FlowSummary>,
    /// The traffic of connections that come and go, in the scenario's order.
    pub traffic: Vec<TrafficSummary>,
    /// How exact the emulator was; none for simulated runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub emulator: Option<EmulatorSummary>,
}

/// One direction of one link.
#[derive(Clone, Debug, Serialize)]
pub struct LinkSummary {
    /// The link's name, followed by ` (reverse)` for the second direction that data crosses.
    pub name: String,
    /// Share of the time in which the link transmitted, 0 to 1.
    pub utilization: f64,
    /// Mean number of packets that waited, without the one in transmission.
    pub mean_queue_packets: f64,
    /// The most packets that waited.
    pub max_queue_packets: u64,
    /// How many packets the queue dropped.
    pub drops: u64,
    /// How many of these were dropped before the queue was full, as RED and CoDel do.
    pub early_drops: u64,
    /// How many packets the queue marked in place of dropping them.
    pub marks: u64,
    /// How many packets were lost to transmission errors.
    pub errors: u64,
    /// How many packets were corrupted: they arrived with a bit flipped. In the simulator, receivers discard them.
    pub corrupted: u64,
    /// How many packets were reordered: they took a detour, and later packets overtook them.
    pub late: u64,
    /// How many packets were duplicated.
    pub duplicates: u64,
}

/// One flow.
#[derive(Clone, Debug, Serialize)]
pub struct FlowSummary {
    /// The flow's number, from 1, in the scenario's order.
    pub id: usize,
    /// The flow's controller.
    pub controller: String,
    /// The round-trip time without queues.
    pub rtt_ms: f64,
    /// The mean of the measured round-trip times; NaN without a sample.
    pub mean_rtt_ms: f64,
    /// Goodput: data delivered for the first time.
    pub throughput_mbps: f64,
    /// The mean congestion window; none if the controller has no window.
    pub mean_window_packets: Option<f64>,
    /// How many packets were sent again, over the whole run.
    pub retransmitted_packets: u64,
    /// How many loss events there were, timeouts included, over the whole run.
    pub loss_events: u64,
    /// How many timeouts there were, over the whole run.
    pub timeouts: u64,
    /// Round trips from the flow's start to the first time from which its mean throughput over the next 10 round trips
    /// is at least 95 % of the spare capacity; none if never.
    pub acquire_rtts: Option<f64>,
    /// From the flow's start until all of its data was delivered; none if it has no size, or was not delivered before
    /// the run ended.
    pub completion_seconds: Option<f64>,
}

impl RunSummary {
    /// The link direction with the largest utilization; of several, the first.
    pub fn busiest_link(&self) -> Option<&LinkSummary> {
        largest(self.links.iter().map(|link| link.utilization)).map(|i| &self.links[i])
    }

    /// Round trips that the run's only flow took to acquire the spare capacity; none if never, or if the run has
    /// several flows.
    pub fn acquire_rtts(&self) -> Option<f64> {
        if let [flow] = &self.flows[..] { flow.acquire_rtts } else { None }
    }
}

/// The metrics of the run.
pub fn summarize(finished: &Finished) -> RunSummary {
    let Finished { run, outcome, wall_seconds, emulator } = finished;
    let experiment = &run.experiment;
    let (from, to) = experiment.measure;
    let flows: Vec<FlowSummary> = experiment
        .flows
        .iter()
        .zip(&outcome.flows)
        .enumerate()
        .map(|(i, (flow, result))| FlowSummary {
            id: i + 1,
            controller: flow.controller.to_string(),
            rtt_ms: flow.rtt.as_millis(),
            mean_rtt_ms: result.mean_rtt * 1e3,
            throughput_mbps: result.delivered.over(to.since(from)).as_mbps(),
            mean_window_packets: result.mean_window,
            retransmitted_packets: result.retransmitted_packets,
            loss_events: result.loss_events,
            timeouts: result.timeouts,
            acquire_rtts: result.acquired.map(|time| time.as_secs() / flow.rtt.as_secs()),
            completion_seconds: flow.size.and(result.completed).map(Duration::as_secs),
        })
        .collect();
    let shares: Vec<f64> = experiment
        .flows
        .iter()
        .zip(&outcome.flows)
        .zip(&flows)
        .filter(|((flow, result), _)| active_within(flow, result, (from, to)))
        .map(|(_, flow)| flow.throughput_mbps)
        .collect();
    RunSummary {
        name: run.name(),
        identity: run.identity.clone(),
        place: run.identity.place,
        controller: run.controller.clone(),
        parameters: run.parameters.clone(),
        settings: run.identity.settings.clone(),
        duration_seconds: experiment.duration.as_secs(),
        measured_seconds: [from.as_secs(), to.as_secs()],
        packets_delivered: outcome.packets_delivered,
        events: outcome.events,
        wall_seconds: Some(*wall_seconds),
        // A sum of no values is -0.0.
        throughput_mbps: flows.iter().map(|flow| flow.throughput_mbps).sum::<f64>() + 0.0,
        jain: jain(&shares),
        jain_500ms_median: median_jain(finished, Duration::from_millis(500)),
        links: outcome
            .links
            .iter()
            .map(|link| LinkSummary {
                name: link.name.clone(),
                utilization: link.utilization,
                mean_queue_packets: link.mean_queue,
                max_queue_packets: link.max_queue,
                drops: link.drops,
                early_drops: link.early_drops,
                marks: link.marks,
                errors: link.errors,
                corrupted: link.corrupted,
                late: link.late,
                duplicates: link.duplicates,
            })
            .collect(),
        flows,
        traffic: traffic::summaries(finished),
        emulator: emulator.clone(),
    }
}

/// Whether the flow was under way at some time between `from` and `to`.
fn active_within(flow: &Flow, result: &FlowOutcome, (from, to): (Time, Time)) -> bool {
    let completed = result.completed.map(|time| flow.start + time);
    let end = completed.or(flow.stop).unwrap_or(Time::MAX);
    flow.start < to && end > from
}
