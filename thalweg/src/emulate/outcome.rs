//! From what the emulator recorded to the results of a run, as if it had been simulated.

use super::way::Ways;
use control::{Bytes, Duration, Rate, Time};
use emulate::{Direction, Record, Sample, Totals};
use experiment::EmulatorSummary;
use experiment::{Experiment, Flow, FlowOutcome, FlowSeries, Identity, LinkOutcome, LinkSeries, Outcome};
use experiment::{Finished, Place, Run};
use path::Counters;
use serde_json::Value;

/// Packets this late are not what the path would have made of them.
pub const LATE_US: usize = 200;
/// So large a share of them is more than an accident.
pub const MANY: f64 = 0.01;

/// The results of `record`.
pub fn finished(way: &Ways, record: &Record) -> Finished {
    let nothing =
        Sample { at: Time::ZERO, hops: vec![Counters::default(); record.hops], delivered: [Totals::default(); 2] };
    let samples: Vec<&Sample> = std::iter::once(&nothing).chain(&record.samples).collect();
    let end = samples[samples.len() - 1].at;
    let measured = measured(&way.run.experiment, &samples);
    // One flow stands for all that crossed the path in the direction that had more to carry.
    let data = match record.delivered.map(|all| all.bytes) {
        [forward, reverse] if reverse > forward => Direction::Reverse,
        _ => Direction::Forward,
    };
    let links = way.both_ways().into_iter().map(|(hop, name)| link(name, hop, &samples, measured)).collect();
    let outcome = Outcome {
        flows: vec![flow(data, &samples, measured)],
        workloads: Vec::new(),
        links,
        sampled: record.samples.iter().map(|sample| sample.at).collect(),
        packets_delivered: record.delivered[data as usize].packets,
        events: record.arrived.iter().chain(&record.delivered).map(|all| all.packets).sum(),
    };
    let experiment = Experiment {
        duration: end.since(Time::ZERO),
        measure: (measured.0.at, measured.1.at),
        flows: vec![Flow {
            controller: EMULATED.into(),
            size: None,
            start: Time::ZERO,
            stop: None,
            ..way.flow().clone()
        }],
        cross: Vec::new(),
        workloads: Vec::new(),
        ..way.run.experiment.clone()
    };
    let run = Run {
        identity: Identity { controllers: vec![EMULATED.into()], place: Place::Emulated, ..way.run.identity.clone() },
        controller: EMULATED.into(),
        parameters: Value::Object(Default::default()),
        experiment,
        ..way.run.clone()
    };
    Finished { run, outcome, wall_seconds: end.as_secs(), emulator: Some(emulator(record, end)) }
}

/// What results call the run, and what controls its flows: nobody can know.
const EMULATED: &str = "emulated";

/// The samples at the beginning and the end of the scenario's measured interval, if the run was that long; else of all.
pub fn measured<'s>(experiment: &Experiment, samples: &[&'s Sample]) -> (&'s Sample, &'s Sample) {
    let (from, to) = experiment.measure;
    let last = samples[samples.len() - 1];
    let at = |time: Time| samples.iter().copied().find(|sample| sample.at >= time);
    let begin = at(from).filter(|begin| begin.at < last.at).unwrap_or(samples[0]);
    let whole = to == Time::ZERO + experiment.duration;
    (begin, at(to).filter(|_| !whole).unwrap_or(last))
}

fn flow(data: Direction, samples: &[&Sample], (from, to): (&Sample, &Sample)) -> FlowOutcome {
    let delivered = |sample: &Sample| sample.delivered[data as usize].bytes;
    let unknown = vec![f64::NAN; samples.len() - 1];
    FlowOutcome {
        delivered: delivered(to) - delivered(from),
        mean_rtt: f64::NAN,
        series: FlowSeries {
            delivered: samples.windows(2).map(|pair| (delivered(pair[1]) - delivered(pair[0])).0).collect(),
            window: unknown.clone(),
            rate: unknown.clone(),
            available: unknown.clone(),
            rtt: unknown,
            retransmitted: vec![0; samples.len() - 1],
            phase: vec![None; samples.len() - 1],
        },
        ..FlowOutcome::default()
    }
}

/// The results of the link that is `hop` of the path.
pub fn link(name: String, hop: usize, samples: &[&Sample], (from, to): (&Sample, &Sample)) -> LinkOutcome {
    let within = |sample: &&&Sample| from.at < sample.at && sample.at <= to.at;
    let longest = samples.iter().filter(within).map(|sample| sample.hops[hop].max_queue).max();
    let mut series = LinkSeries::default();
    for pair in samples.windows(2) {
        let (before, after) = (&pair[0].hops[hop], &pair[1].hops[hop]);
        let seconds = after.at.since(before.at).as_secs();
        series.queue.push(mean_queue(before, after));
        series.max_queue.push(after.max_queue);
        series.drops.push((after.dropped - before.dropped) as u32);
        series.utilization.push((after.busy - before.busy).as_secs() / seconds);
    }
    let (from, to) = (&from.hops[hop], &to.hops[hop]);
    LinkOutcome {
        name,
        utilization: (to.busy - from.busy).as_secs() / to.at.since(from.at).as_secs(),
        mean_queue: mean_queue(from, to),
        max_queue: longest.unwrap_or(0),
        drops: to.dropped - from.dropped,
        early_drops: to.early - from.early,
        errors: to.struck - from.struck,
        late: to.late - from.late,
        corrupted: to.corrupted - from.corrupted,
        duplicates: to.doubled - from.doubled,
        series,
    }
}

/// Packets that waited on average between two observations.
pub fn mean_queue(from: &Counters, to: &Counters) -> f64 {
    (to.waiting - from.waiting) as f64 / to.at.since(from.at).0 as f64
}

/// What the emulator says of itself; it ran until `end`.
pub fn emulator(record: &Record, end: Time) -> EmulatorSummary {
    let us = |quantile: f64| record.lateness.quantile(quantile).map(|time| time.as_secs() * 1e6);
    let rate = |bytes: Bytes| -> Rate { bytes.over(end.since(Time::ZERO)) };
    let late_share = record.lateness.above(LATE_US) as f64 / record.lateness.count().max(1) as f64;
    EmulatorSummary {
        arrived_packets: record.arrived.map(|all| all.packets),
        delivered_packets: record.delivered.map(|all| all.packets),
        delivered_mbps: record.delivered.map(|all| rate(all.bytes).as_mbps()),
        late_median_us: us(0.5),
        late_p99_us: us(0.99),
        late_p999_us: us(0.999),
        late_max_us: (record.lateness.longest() > Duration::ZERO).then(|| record.lateness.longest().as_secs() * 1e6),
        late_share,
        realtime: record.realtime,
        missed: record.missed,
        unsent: record.unsent,
        refused: record.refused,
        kept_up: late_share <= MANY && record.missed == 0 && record.unsent == 0,
    }
}
