//! From what the emulator recorded to the results of a run, as if it had been simulated.

use crate::way::Ways;
use control::{Bytes, Duration, Rate, Time};
use emulate::{Direction, Record, Sample, Totals};
use experiment::{EmulatorSummary, Experiment, Flow, FlowOutcome, FlowSeries, LinkOutcome, LinkSeries, Outcome};
use path::{Counters, LinkDirection};

/// Packets this late are not what the path would have made of them.
pub const LATE_US: usize = 200;
/// So large a share of them is more than an accident.
pub const MANY: f64 = 0.01;

/// What a run in real time gave.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The experiment as it was made: its duration, its measured interval and its flows are those of the run.
    pub experiment: Experiment,
    /// The results, as if it had been simulated.
    pub outcome: Outcome,
    /// What crossed the path, and how exact the emulator was.
    pub emulator: EmulatorSummary,
    /// How long the path was there, in seconds.
    pub wall_seconds: f64,
}

/// The results of `record`.
pub fn measured_of(way: &Ways, record: &Record) -> Measured {
    let nothing =
        Sample { at: Time::ZERO, hops: vec![Counters::default(); record.hops], delivered: [Totals::default(); 2] };
    let samples: Vec<&Sample> = std::iter::once(&nothing).chain(&record.samples).collect();
    let end = samples[samples.len() - 1].at;
    let measured = measured(&way.experiment, &samples);
    // One flow stands for all that crossed the path in the direction that had more to carry.
    let data = match record.delivered.map(|all| all.bytes) {
        [forward, reverse] if reverse > forward => Direction::Reverse,
        _ => Direction::Forward,
    };
    let links = way.both_ways().into_iter().map(|to| link(to, &way.experiment, &samples, measured)).collect();
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
        ..way.experiment.clone()
    };
    Measured { experiment, outcome, wall_seconds: end.as_secs(), emulator: emulator(record, end) }
}

/// What results call the run, and what controls its flows: nobody can know.
pub const EMULATED: &str = "emulated";

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

/// The results of one direction of a link.
pub fn link(
    direction: LinkDirection,
    experiment: &Experiment,
    samples: &[&Sample],
    (from, to): (&Sample, &Sample),
) -> LinkOutcome {
    let counters = |sample: &Sample| sample.hops[direction.index()];
    let within = |sample: &&&Sample| from.at < sample.at && sample.at <= to.at;
    let longest = samples.iter().filter(within).map(|sample| counters(sample).max_queue).max();
    let mut series = LinkSeries::default();
    for pair in samples.windows(2) {
        let (before, after) = (counters(pair[0]), counters(pair[1]));
        series.push(&before, &after, after.max_queue, None);
    }
    let name = direction.name(&experiment.links);
    LinkOutcome::between(name, &counters(from), &counters(to), longest.unwrap_or(0), series)
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
