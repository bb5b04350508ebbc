//! From what the emulator recorded to the results of a run, by the simulator's definitions.

use control::{Bytes, Duration, Rate, Time};
use emulate::{Direction, Histogram, Record, Sample, Totals};
use experiment::{
    EmulatorSummary, Experiment, Finished, Flow, FlowOutcome, FlowSeries, Identity, LinkOutcome, LinkSeries, Outcome,
    Place, Run,
};
use path::{Counters, LinkDirection};
use serde_json::{Map, Value};

/// The emulator's error counts from this many microseconds on: a packet that leaves later is late.
pub const LATE_US: usize = 200;
/// The largest share of late packets with which the emulator has kept up.
const LATE_SHARE: f64 = 0.01;
/// If all programs use a larger share of the host's processor time, it is full.
const FULL: f64 = 0.95;

/// What a run in real time gave.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The experiment as it was run: with the interval that was measured, which ends where samples were taken.
    pub experiment: Experiment,
    /// The results, by the simulator's definitions.
    pub outcome: Outcome,
    /// The packets that crossed the path, and the emulator's own error.
    pub emulator: EmulatorSummary,
    /// How long packets could cross the path, in seconds.
    pub wall_seconds: f64,
    /// What was recorded of each flow; nothing unless [`Prepared::recorded`](crate::Prepared::recorded) asked for it.
    pub recorded: Vec<Vec<qlog::Event>>,
    /// How many packets are missing in the captures of both sides, if the run was
    /// [captured](crate::Prepared::captured).
    pub uncaptured: u64,
}

impl Measured {
    /// The results of an [emulation](crate::Emulation) as those of a run in place of `run`, whose path it was.
    pub fn into_finished(self, run: &Run) -> Finished {
        let Measured { experiment, outcome, emulator, wall_seconds, .. } = self;
        let run = Run {
            identity: Identity { controllers: vec![EMULATED.into()], place: Place::Emulated, ..run.identity.clone() },
            controller: EMULATED.into(),
            parameters: Value::Object(Map::new()),
            experiment,
        };
        Finished { run, outcome, wall_seconds, emulator: Some(emulator) }
    }
}

/// The results of emulating the path of the first flow of `experiment` for packets of others. One flow, [`EMULATED`],
/// stands for all packets in the direction in which more bytes crossed the path.
pub fn of_packets(experiment: &Experiment, record: &Record) -> Measured {
    let nothing =
        Sample { at: Time::ZERO, hops: vec![Counters::default(); record.hops], delivered: [Totals::default(); 2] };
    let samples: Vec<&Sample> = std::iter::once(&nothing).chain(&record.samples).collect();
    let end = samples[samples.len() - 1].at;
    let (from, to) = interval(experiment, &samples);
    let data = match record.delivered.map(|all| all.bytes) {
        [forward, reverse] if reverse > forward => Direction::Reverse,
        _ => Direction::Forward,
    };
    let links = directions(experiment).into_iter().map(|direction| link(direction, experiment, &samples, (from, to)));
    let outcome = Outcome {
        flows: vec![flow(data, &samples, (from, to))],
        workloads: Vec::new(),
        links: links.collect(),
        sampled: record.samples.iter().map(|sample| sample.at).collect(),
        packets_delivered: record.delivered[data as usize].packets,
        events: record.arrived.iter().chain(&record.delivered).map(|all| all.packets).sum(),
    };
    let mut emulated = Flow { start: Time::ZERO, ..experiment.flows[0].clone() };
    (emulated.controller, emulated.size, emulated.stop) = (EMULATED.into(), None, None);
    let experiment = Experiment {
        duration: end.since(Time::ZERO),
        measure: (from.at, to.at),
        flows: vec![emulated],
        cross: Vec::new(),
        workloads: Vec::new(),
        ..experiment.clone()
    };
    let emulator = emulator(record, end);
    Measured { experiment, outcome, wall_seconds: end.as_secs(), emulator, recorded: Vec::new(), uncaptured: 0 }
}

/// What results call the run and the controller of packets of others, which is unknown.
const EMULATED: &str = "emulated";

/// The directions of links that the first flow's packets cross, those of data before those of acknowledgments.
pub fn directions(experiment: &Experiment) -> Vec<LinkDirection> {
    let route = &experiment.flows[0].route;
    [false, true].into_iter().flat_map(|back| route.directions(back)).collect()
}

/// The samples at the beginning and at the end of the experiment's measured interval. If the run ended before, they are
/// the first and the last sample.
pub fn interval<'s>(experiment: &Experiment, samples: &[&'s Sample]) -> (&'s Sample, &'s Sample) {
    let (from, to) = experiment.measure;
    let last = samples[samples.len() - 1];
    let at = |time: Time| samples.iter().copied().find(|sample| sample.at >= time);
    let begin = at(from).filter(|begin| begin.at < last.at).unwrap_or(samples[0]);
    // An interval that goes to the end of the experiment goes to the end of the run, whenever that was.
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

/// The share of packets that left more than [`LATE_US`] microseconds late.
pub fn late_share(lateness: &Histogram) -> f64 {
    lateness.above(LATE_US) as f64 / lateness.count().max(1) as f64
}

/// Whether the emulator kept up while packets were as late as `lateness` says and as many as `failed` says were missed,
/// unsent or refused.
pub fn kept_up(lateness: &Histogram, failed: u64) -> bool {
    late_share(lateness) <= LATE_SHARE && failed == 0
}

/// The packets that crossed the path until `end`, and the emulator's own error.
pub fn emulator(record: &Record, end: Time) -> EmulatorSummary {
    let us = |quantile: f64| record.lateness.quantile(quantile).map(|time| time.as_secs() * 1e6);
    let rate = |bytes: Bytes| -> Rate { bytes.over(end.since(Time::ZERO)) };
    EmulatorSummary {
        arrived_packets: record.arrived.map(|all| all.packets),
        delivered_packets: record.delivered.map(|all| all.packets),
        delivered_mbps: record.delivered.map(|all| rate(all.bytes).as_mbps()),
        late_median_us: us(0.5),
        late_p99_us: us(0.99),
        late_p999_us: us(0.999),
        late_max_us: (record.lateness.longest() > Duration::ZERO).then(|| record.lateness.longest().as_secs() * 1e6),
        late_share: late_share(&record.lateness),
        realtime: record.realtime,
        missed: record.missed,
        unsent: record.unsent,
        refused: record.refused,
        kept_up: kept_up(&record.lateness, record.missed + record.unsent + record.refused),
        core_share: if end > Time::ZERO { record.processor.as_secs() / end.as_secs() } else { 0.0 },
        host_share: record.host_share,
        host_full: record.host_share.is_some_and(|share| share > FULL),
    }
}
