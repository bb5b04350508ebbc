//! Metrics of connections that come and go. They are of each workload as a whole, because it may have millions of
//! connections.

use super::completion::{SizeBin, by_size};
use control::Time;
use experiment::Finished;
use experiment::{VideoSession, Workload, WorkloadOutcome, mean, median, quantile};
use serde::Serialize;

/// The connections of one `[[traffic]]`. Of a pair, the first is in the traffic's `direction`: that of the data of
/// `flows` and `frames`, or of the responses of other kinds.
#[derive(Clone, Debug, Serialize)]
pub struct TrafficSummary {
    /// The name that the scenario gives it, or its kind.
    pub name: String,
    /// The controller of the data in both directions.
    pub controller: String,
    /// How many connections began, over the whole run.
    pub connections: u64,
    /// How many of these connections ended before the run did.
    pub completed_connections: u64,
    /// The most connections at the same time.
    pub most_connections: u32,
    /// Pair: what the connections that began in the measured interval had to send, headers included, over that
    /// interval, in Mbps.
    pub offered_mbps: [f64; 2],
    /// Pair: what was delivered for the first time in the measured interval, headers included, in Mbps.
    pub carried_mbps: [f64; 2],
    /// How many transfers began in the measured interval. A transfer is a request and its response,
    /// a flow, or a frame.
    pub transfers: u64,
    /// How many of these transfers were completed before the run ended.
    pub completed_transfers: u64,
    /// Mean time to complete a transfer, from the request or from the connection's beginning, in seconds; none if none
    /// was completed.
    pub completion_mean_seconds: Option<f64>,
    /// The median of the completion times.
    pub completion_median_seconds: Option<f64>,
    /// The 90th percentile of the completion times.
    pub completion_p90_seconds: Option<f64>,
    /// The 99th percentile of the completion times.
    pub completion_p99_seconds: Option<f64>,
    /// The completed transfers by size.
    pub completion_by_size: Vec<SizeBin>,
    /// The sessions of video players, over the whole run; left out for other connections.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub videos: Vec<VideoSummary>,
    /// How many packets were sent again, over the whole run.
    pub retransmitted_packets: u64,
    /// How many loss events there were, timeouts included, over the whole run.
    pub loss_events: u64,
    /// How many timeouts there were, over the whole run.
    pub timeouts: u64,
}

/// A session of a video player, until the video or the run ended.
#[derive(Clone, Debug, Serialize)]
pub struct VideoSummary {
    /// The number of its connection, from 1, in the order of their beginning.
    pub connection: u32,
    /// When it began, in seconds.
    pub start_seconds: f64,
    /// How long it took from then until playing began; none if it never did.
    pub startup_seconds: Option<f64>,
    /// How many segments arrived.
    pub segments: u64,
    /// Their mean bitrate, in Mbps; NaN without a segment.
    pub bitrate_mbps: f64,
    /// How many of them had another bitrate than the one before.
    pub switches: u32,
    /// The share of the time since playing began in which it stalled, 0 to 1; NaN if it never began.
    pub stalled_share: f64,
}

impl VideoSummary {
    fn of(session: &VideoSession) -> VideoSummary {
        VideoSummary {
            connection: session.connection + 1,
            start_seconds: session.start.as_secs(),
            startup_seconds: session.startup.map(|time| time.as_secs()),
            segments: session.segments,
            bitrate_mbps: session.bitrate / 1e6,
            switches: session.switches,
            stalled_share: session.stalled_share(),
        }
    }
}

/// The metrics of each workload of `run`.
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
    // The direction of the responses comes first, if there are any.
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
        videos: outcome.videos.iter().map(VideoSummary::of).collect(),
        retransmitted_packets: outcome.retransmitted_packets,
        loss_events: outcome.loss_events,
        timeouts: outcome.timeouts,
    }
}
