//! The figures of each run, as `--format json` and `summary.json` show them.

use super::agreement::{Agreement, agreement};
use super::jain::{jain, median_over};
use super::traffic::{self, TrafficSummary};
use control::{Duration, Time};
use experiment::EmulatorSummary;
use experiment::Finished;
use experiment::{Flow, FlowOutcome, Identity, Place};
use serde::Serialize;
use serde_json::{Map, Value};

/// All runs of a scenario. In JSON, what is not a number (NaN, infinity) is `null`.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// The scenario's title.
    pub title: String,
    /// Its seed.
    pub seed: u64,
    /// In the plan's order.
    pub runs: Vec<RunSummary>,
    /// How far those that were made for real agree with those simulated.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub agreement: Vec<Agreement>,
}

/// One run. Totals and means are over the measured interval unless they say otherwise.
#[derive(Clone, Debug, Serialize)]
pub struct RunSummary {
    /// The identity as text, unique among the runs.
    pub name: String,
    /// What tells it from the other runs.
    #[serde(skip)]
    pub identity: Identity,
    /// Who made it; not written of simulated runs.
    #[serde(skip_serializing_if = "Place::is_simulated")]
    pub place: Place,
    /// The controller of its flows; several names joined by `+`.
    pub controller: String,
    /// The controller's parameters, all of them.
    pub parameters: Value,
    /// What a sweep set.
    pub settings: Map<String, Value>,
    /// Simulated time.
    pub duration_seconds: f64,
    /// Beginning and end of the measured interval.
    pub measured_seconds: [f64; 2],
    /// Data packets that reached their destination, over the whole run.
    pub packets_delivered: u64,
    /// Events simulated, over the whole run.
    pub events: u64,
    /// How long the run took in real time; the one figure that differs from one time to the next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall_seconds: Option<f64>,
    /// The sum of the flows' goodput.
    pub throughput_mbps: f64,
    /// Jain's index of the goodput of all flows that were active in the measured interval; NaN if nothing was delivered.
    pub jain: f64,
    /// The median of Jain's index over windows of 500 ms; none if the sampling interval does not divide them.
    pub jain_500ms_median: Option<f64>,
    /// Each link, in each direction that carries data.
    pub links: Vec<LinkSummary>,
    /// Each flow.
    pub flows: Vec<FlowSummary>,
    /// Each kind of connections that come and go.
    pub traffic: Vec<TrafficSummary>,
    /// How it was emulated; only of emulated runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub emulator: Option<EmulatorSummary>,
}

/// One direction of one link.
#[derive(Clone, Debug, Serialize)]
pub struct LinkSummary {
    /// Its name; the direction that data crosses second ends in ` (reverse)`.
    pub name: String,
    /// Share of the time in which it transmitted, 0 to 1.
    pub utilization: f64,
    /// Mean number of packets that waited.
    pub mean_queue_packets: f64,
    /// The most packets that waited.
    pub max_queue_packets: u64,
    /// Packets that the queue dropped.
    pub drops: u64,
    /// Those among them that it dropped before it was full, as RED and CoDel do.
    pub early_drops: u64,
    /// Packets lost to transmission errors.
    pub errors: u64,
    /// Packets that arrived with a bit flipped; in the simulator, nobody takes these.
    pub corrupted: u64,
    /// Packets that took a detour, so that others overtook them.
    pub late: u64,
    /// Packets that arrived twice.
    pub duplicates: u64,
}

/// One flow.
#[derive(Clone, Debug, Serialize)]
pub struct FlowSummary {
    /// Counts from 1, in the scenario's order.
    pub id: usize,
    /// Its controller.
    pub controller: String,
    /// Its round-trip time without queues.
    pub rtt_ms: f64,
    /// The mean of its measured round-trip times; NaN without a sample.
    pub mean_rtt_ms: f64,
    /// Goodput: what was delivered for the first time.
    pub throughput_mbps: f64,
    /// Its mean congestion window; none if its controller has none.
    pub mean_window_packets: Option<f64>,
    /// Packets sent again, over the whole run.
    pub retransmitted_packets: u64,
    /// Loss events, timeouts included, over the whole run.
    pub loss_events: u64,
    /// Timeouts, over the whole run.
    pub timeouts: u64,
    /// From its start until it had 95 % of the spare capacity and held it for 10 round trips; none if never.
    pub acquire_rtts: Option<f64>,
    /// From its start until all of it was delivered; none if it has no size, or was not delivered in time.
    pub completion_seconds: Option<f64>,
}

impl Summary {
    /// Without the one figure that is not reproducible.
    pub fn without_wall_time(mut self) -> Summary {
        for run in &mut self.runs {
            run.wall_seconds = None;
        }
        self
    }
}

impl RunSummary {
    /// The link that was used most.
    pub fn busiest_link(&self) -> Option<&LinkSummary> {
        self.links.iter().reduce(|most, link| if link.utilization > most.utilization { link } else { most })
    }

    /// How long its only flow took to acquire the path; none if never, or if several flows compete for it.
    pub fn acquire_rtts(&self) -> Option<f64> {
        if let [flow] = &self.flows[..] { flow.acquire_rtts } else { None }
    }
}

/// The figures of `runs`.
pub fn summary(title: &str, seed: u64, runs: &[Finished]) -> Summary {
    let runs: Vec<RunSummary> = runs.iter().map(summarize).collect();
    Summary { title: title.to_string(), seed, agreement: agreement(&runs), runs }
}

fn summarize(finished: &Finished) -> RunSummary {
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
            controller: flow.controller.clone(),
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
        // A sum of nothing is -0.0.
        throughput_mbps: flows.iter().map(|flow| flow.throughput_mbps).sum::<f64>() + 0.0,
        jain: jain(&shares),
        jain_500ms_median: median_over(Duration::from_millis(500), finished),
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
