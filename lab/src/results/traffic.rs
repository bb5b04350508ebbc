//! The figures of connections that come and go: of each workload as a whole, since there may be millions of them.

use super::completion::{SizeBin, by_size};
use control::Time;
use experiment::Finished;
use experiment::{Workload, WorkloadOutcome, mean, median, quantile};
use serde::Serialize;

/// The connections of one `[[traffic]]`. What there is of both directions is first that of `direction`: of flows their data's,
/// else the responses'.
#[derive(Clone, Debug, Serialize)]
pub struct TrafficSummary {
    /// Its name.
    pub name: String,
    /// The controller of both directions' data.
    pub controller: String,
    /// Connections that began, over the whole run.
    pub connections: u64,
    /// Those of them that came to their end.
    pub completed_connections: u64,
    /// The most at the same time.
    pub most_connections: u32,
    /// What the connections that began had to send, on the wire, in Mbps.
    pub offered_mbps: [f64; 2],
    /// What was delivered for the first time, on the wire, in Mbps.
    pub carried_mbps: [f64; 2],
    /// Transfers that began: a request and its response, or a flow.
    pub transfers: u64,
    /// Those of them that were completed before the run ended.
    pub completed_transfers: u64,
    /// Mean time to complete them, from the request or from the connection's beginning; none if none was.
    pub completion_mean_seconds: Option<f64>,
    /// Half of them took no longer.
    pub completion_median_seconds: Option<f64>,
    /// 90 % of them took no longer.
    pub completion_p90_seconds: Option<f64>,
    /// 99 % of them took no longer.
    pub completion_p99_seconds: Option<f64>,
    /// The same transfers by size.
    pub completion_by_size: Vec<SizeBin>,
    /// Packets sent again, over the whole run.
    pub retransmitted_packets: u64,
    /// Loss events, timeouts included, over the whole run.
    pub loss_events: u64,
    /// Timeouts, over the whole run.
    pub timeouts: u64,
}

/// Those of a run.
pub(super) fn summaries(run: &Finished) -> Vec<TrafficSummary> {
    let measure = run.run.experiment.measure;
    let pairs = run.run.experiment.workloads.iter().zip(&run.outcome.workloads);
    let summarize = |(i, (workload, outcome))| summarize(workload, outcome, measure, by_size(run, i));
    pairs.enumerate().map(summarize).collect()
}

fn summarize(
    workload: &Workload,
    outcome: &WorkloadOutcome,
    measure: (Time, Time),
    completion_by_size: Vec<SizeBin>,
) -> TrafficSummary {
    let began = outcome.transfers.iter().filter(|transfer| (measure.0..measure.1).contains(&transfer.start)).count();
    let mut times = outcome.completion_seconds(measure);
    let completed = times.len() as u64;
    let known = |x: f64| Some(x).filter(|x| !x.is_nan());
    // The responses' direction first.
    let both = |[one, other]: [control::Bytes; 2]| {
        let mbps = |bytes: control::Bytes| bytes.over(measure.1.since(measure.0)).as_mbps();
        if workload.sends[1] { [mbps(other), mbps(one)] } else { [mbps(one), mbps(other)] }
    };
    TrafficSummary {
        name: workload.name.clone(),
        controller: workload.controller.clone(),
        connections: outcome.connections,
        completed_connections: outcome.completed,
        most_connections: outcome.most_active,
        offered_mbps: both(outcome.offered),
        carried_mbps: both(outcome.carried),
        transfers: began as u64,
        completed_transfers: completed,
        completion_mean_seconds: known(mean(&times)),
        completion_median_seconds: known(median(&mut times)),
        completion_p90_seconds: known(quantile(&mut times, 0.9)),
        completion_p99_seconds: known(quantile(&mut times, 0.99)),
        completion_by_size,
        retransmitted_packets: outcome.retransmitted_packets,
        loss_events: outcome.loss_events,
        timeouts: outcome.timeouts,
    }
}
