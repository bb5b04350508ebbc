//! What one run on a drawn path is judged by.

use crate::draw::{Group, Path};
use control::{Duration, Rate, Time};
use experiment::{Experiment, Finished, LinkOutcome, Transfer, jain, mean, median, quantile};
use std::ops::Range;

/// What was measured in a run, over its measured interval.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    /// What was delivered over what the path can carry.
    pub used: f64,
    /// Jain's index of the goodput of the judged flows; none if there is only one.
    pub jain: Option<f64>,
    /// The 95th percentile of the queueing delay, in seconds.
    pub delay: f64,
    /// Packets dropped by the queue, over those that came to it.
    pub loss: f64,
    /// Packets that the judged flows sent again, over all that they sent in the whole run.
    pub resent: f64,
    /// The mean goodput of a judged flow over that of all long flows; none without competitors.
    pub share: Option<f64>,
    /// The competitors' names and mean goodput, in bits per second.
    pub competitors: Vec<(&'static str, f64)>,
    /// The median stretch of the transfers of connections that come and go; none without transfers.
    pub stretch: Option<f64>,
    /// How many judged flows stopped: see [`stopped`].
    pub stopped: usize,
}

/// Measures a run on `path`.
pub fn observe(path: &Path, finished: &Finished) -> Observed {
    let Finished { run, outcome, .. } = finished;
    let experiment = &run.experiment;
    let (from, to) = experiment.measure;
    let length = to.since(from);
    let goodput = |flows: &Range<usize>| -> Vec<f64> {
        outcome.flows[flows.clone()].iter().map(|flow| flow.delivered.over(length).as_bps()).collect()
    };
    let groups = path.groups();
    let of = |wanted: fn(&Group) -> bool| {
        let wanted = groups.iter().filter(move |(group, _)| wanted(group));
        wanted.flat_map(|(_, flows)| goodput(flows)).collect::<Vec<f64>>()
    };
    let judged = of(|group| *group == Group::Judged);
    let long = of(|group| *group != Group::Reverse);
    let competitors: Vec<(&str, f64)> = groups
        .iter()
        .filter_map(|(group, flows)| match group {
            Group::Beside(name) => Some((*name, mean(&goodput(flows)))),
            Group::Judged | Group::Reverse => None,
        })
        .collect();
    // The initiators' data crosses a route as it is; the acceptors' data crosses it the other way.
    let forward = experiment.workloads.iter().map(|workload| usize::from(workload.route.reverse));
    let connections = outcome.workloads.iter().zip(forward).map(|(workload, side)| workload.carried[side]);
    let connections: f64 = connections.map(|bytes| bytes.over(length).as_bps()).sum();
    let delivered = (long.iter().sum::<f64>() + connections) * length.as_secs();
    let link = &outcome.links[0];
    let drops = link.drops as f64;
    Observed {
        used: delivered / capacity(experiment),
        jain: (judged.len() > 1).then(|| or_zero(jain(&judged))),
        delay: delay(experiment, &outcome.sampled, link),
        loss: or_zero(drops / (drops + delivered / path.base.packet.as_bits())),
        resent: resent(finished, 0..judged.len()),
        share: (!competitors.is_empty()).then(|| or_zero(mean(&judged) / mean(&long))),
        competitors,
        stretch: stretch(finished),
        stopped: stopped(finished, 0..judged.len()),
    }
}

/// `x`, or zero if nothing was divided by nothing.
fn or_zero(x: f64) -> f64 {
    if x.is_nan() { 0.0 } else { x }
}

/// What the path can carry in the measured interval, in bits: the integral of the link's rate, or of the policer's
/// where that is less, without the packets that are lost to errors.
pub fn capacity(experiment: &Experiment) -> f64 {
    let link = &experiment.links[0].forward;
    let (from, to) = experiment.measure;
    let policed = link.queue.parameters.get("rate").and_then(|rate| rate.as_str()?.parse::<Rate>().ok());
    let most = policed.map_or(f64::INFINITY, Rate::as_bps);
    let changes = link.changes.iter().map(|change| change.at).filter(|at| *at > from && *at < to);
    let times: Vec<Time> = [from].into_iter().chain(changes).chain([to]).collect();
    let between = |pair: &[Time]| link.capacity_at(pair[0]).as_bps().min(most) * pair[1].since(pair[0]).as_secs();
    times.windows(2).map(between).sum::<f64>() * (1.0 - link.errors.mean())
}

/// The 95th percentile of the queueing delay over the samples of the measured interval, in seconds: the mean number of
/// packets that waited, times how long the link takes for a full packet at that time.
fn delay(experiment: &Experiment, sampled: &[Time], link: &LinkOutcome) -> f64 {
    let (from, to) = experiment.measure;
    let packet = experiment.flows[0].packet;
    let samples = sampled.iter().zip(&link.series.queue).filter(|(at, _)| **at > from && **at <= to);
    let link_rate = |at: Time| experiment.links[0].forward.capacity_at(at).as_bps();
    let seconds = |(at, packets): (&Time, &f64)| packets * packet.as_bits() / link_rate(*at);
    or_zero(quantile(&mut samples.map(seconds).collect::<Vec<f64>>(), 0.95))
}

/// The median stretch of the transfers that began within the measured interval: their time over what they would take
/// alone, a round trip and their bits at the link's first rate. A transfer that was not completed counts with the time
/// until the end of the run, so that it is not better to let transfers hang. None without transfers.
fn stretch(finished: &Finished) -> Option<f64> {
    let experiment = &finished.run.experiment;
    let (from, to) = experiment.measure;
    let end = Time::ZERO + experiment.duration;
    let began = |transfer: &&Transfer| from <= transfer.start && transfer.start < to;
    let stretch = |transfer: &Transfer| {
        let took = transfer.completed.unwrap_or(end.since(transfer.start)).as_secs();
        let bits: f64 = transfer.sent.iter().map(|bytes| bytes.as_bits()).sum();
        took / (transfer.rtt.as_secs() + bits / experiment.links[0].forward.rate.as_bps())
    };
    let transfers = finished.outcome.workloads.iter().flat_map(|workload| &workload.transfers);
    let mut all: Vec<f64> = transfers.filter(began).map(stretch).collect();
    Some(median(&mut all)).filter(|stretch| stretch.is_finite())
}

/// The packets that `flows` sent again, over these and the packets that were delivered, in the whole run.
fn resent(finished: &Finished, flows: Range<usize>) -> f64 {
    let packet = finished.run.experiment.flows[0].packet.0 as f64;
    let all = 0..finished.outcome.sampled.len();
    let flows = &finished.outcome.flows[flows];
    let again: f64 = flows.iter().map(|flow| flow.retransmitted_packets as f64).sum();
    let delivered: f64 = flows.iter().map(|flow| flow.delivered_in(all.clone()) / packet).sum();
    or_zero(again / (again + delivered))
}

/// A flow that gets nothing for a shorter time may be in the back-off of its retransmission timeout.
const SILENCE: Duration = Duration::from_millis(3000);

/// How many of `flows` got nothing in the second half of the measured interval. Zero if that half is shorter than
/// [`SILENCE`].
fn stopped(finished: &Finished, flows: Range<usize>) -> usize {
    let (from, to) = finished.run.experiment.measure;
    let half = from + to.since(from).scale(0.5);
    if to.since(half) < SILENCE {
        return 0;
    }
    let samples = finished.outcome.sampled.partition_point(|at| *at <= half)..finished.outcome.sampled.len();
    let nothing = |flow: &&experiment::FlowOutcome| flow.delivered_in(samples.clone()) == 0.0;
    finished.outcome.flows[flows].iter().filter(nothing).count()
}
