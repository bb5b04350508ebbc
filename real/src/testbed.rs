//! What a run needs whoever carries its flows: its time, its path, and the emulator on a thread of its own.

use crate::capture::{Capture, Tapped};
use crate::error::Error;
use crate::flow_log::FlowLog;
use crate::measured::{self, Measured};
use crate::watch::{Observer, Watch};
use control::{Duration, Time};
use emulate::{EmulatedPath, Ends, Record as Emulated, Sample};
use experiment::{Experiment, Flow, Outcome};
use path::LinkSetup;
use qlog::Record;
use realtime::{Clock, from_std, to_std};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// A connection is opened this long before its flow starts, and [`ROUND_TRIPS`] longer. The handshake is then over when
/// the flow starts, and the flow sends at once, as it does in the simulator.
const AHEAD: Duration = Duration::from_millis(1000);
/// How many of its flow's round trips a connection is opened before [`AHEAD`].
const ROUND_TRIPS: f64 = 6.0;
/// Time between two looks whether the run is over.
const CHECK: std::time::Duration = std::time::Duration::from_millis(10);

/// One run in real time.
///
/// The path's time begins before the experiment's, so that connections can be opened.
pub struct Testbed {
    /// What is run.
    pub experiment: Experiment,
    /// The path's time when the experiment's time begins.
    lead: Duration,
    /// The path's time.
    clock: Clock,
    /// When the experiment's time begins.
    pub zero: Instant,
    /// Whether the run is over.
    pub end: EndOfRun,
    /// What is recorded of each flow, if it is.
    pub records: Option<Vec<Record>>,
    /// Where the packets go, if they are captured.
    pub capture: Option<Capture>,
}

/// Whether a run is over. Clones tell of the same run.
#[derive(Clone, Default)]
pub struct EndOfRun(Arc<AtomicBool>);

impl EndOfRun {
    /// Ends the run.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the run is over.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Waits until the run is over.
    pub async fn wait(&self) {
        while !self.is_set() {
            tokio::time::sleep(CHECK).await;
        }
    }
}

/// Ends the run when it is dropped.
struct SetOnDrop<'a>(&'a EndOfRun);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.set();
    }
}

impl Testbed {
    /// The path's time begins now. If `recorded`, flows are recorded.
    pub fn new(experiment: &Experiment, recorded: bool, capture: Option<Capture>) -> Testbed {
        let lead = lead(experiment);
        let (clock, now) = (Clock::start(), Instant::now());
        let records = recorded.then(|| experiment.flows.iter().map(|_| Record::default()).collect());
        let (zero, end) = (now + to_std(lead), EndOfRun::default());
        Testbed { experiment: experiment.clone(), lead, clock, zero, end, records, capture }
    }

    /// What is recorded of flow `number`, if it is.
    pub fn record(&self, number: usize) -> Option<&Record> {
        self.records.as_ref()?.get(number)
    }

    /// The moment at which the experiment's time is `time`.
    pub fn instant(&self, time: Time) -> Instant {
        self.zero + to_std(time.since(Time::ZERO))
    }

    /// The experiment's time; zero before it begins.
    pub fn now(&self) -> Time {
        Time::ZERO + from_std(self.zero.elapsed())
    }

    /// When the connection of a flow is opened.
    pub fn opens(&self, flow: &Flow) -> Instant {
        self.instant(flow.start) - to_std(ahead(flow))
    }

    /// The path in its own time, in which the links change later by the lead.
    fn path(&self) -> Result<EmulatedPath, Error> {
        let Experiment { links, flows, seed, .. } = &self.experiment;
        let mut links = links.clone();
        let changes = links.iter_mut().flat_map(LinkSetup::each_mut).flat_map(|direction| &mut direction.changes);
        changes.for_each(|change| change.at += self.lead);
        EmulatedPath::new(&links, *seed, flows.iter().map(Flow::hosts)).map_err(Error::Path)
    }

    /// Lets packets cross the path between `ends` until the run is over, or ends the run when its time is up.
    pub fn emulate(&self, ends: &mut dyn Ends, watch: &dyn Watch) -> Result<Emulated, Error> {
        // However the emulator ends, a panic included: senders and receivers wait for the end of the run.
        let _end = SetOnDrop(&self.end);
        let path = self.path()?;
        let end = Time::ZERO + self.lead + self.experiment.duration;
        let mut go_on = || self.clock.now() < end && !self.end.is_set() && watch.go_on();
        let sample = self.experiment.sample;
        let mut observer = Observer::new(self.experiment.listed_directions());
        let mut tell = |second: &emulate::Progress| watch.progress(&observer.second(second));
        let run = |ends: &mut dyn Ends| emulate::run(ends, self.clock, path, sample, &mut go_on, &mut tell);
        let Some(tap) = self.capture.as_ref().and_then(Capture::tap) else {
            return run(ends).map_err(Error::Emulator);
        };
        let mut tapped = Tapped::new(ends, tap, self.clock);
        let record = run(&mut tapped).map_err(Error::Emulator)?;
        tapped.finish();
        Ok(record)
    }

    /// The results, in the experiment's time.
    pub fn measured(&self, record: &Emulated, logs: &[FlowLog], uncaptured: u64) -> Measured {
        let begin = Time::ZERO + self.lead;
        let shift = |sample: &Sample| Sample { at: Time::ZERO + sample.at.since(begin), ..sample.clone() };
        let first = record.samples.partition_point(|sample| sample.at < begin);
        let samples: Vec<Sample> = record.samples[first..].iter().map(shift).collect();
        let samples: Vec<&Sample> = samples.iter().collect();
        let experiment = &self.experiment;
        let (from, to) = measured::interval(experiment, &samples);
        let sampled: Vec<Time> = samples[1..].iter().map(|sample| sample.at).collect();
        let interval = (from.at, to.at);
        let flow = |(flow, log): (&Flow, &FlowLog)| log.outcome(experiment, flow, self.zero, &sampled, interval);
        let links = experiment.listed_directions().into_iter();
        let outcome = Outcome {
            flows: experiment.flows.iter().zip(logs).map(flow).collect(),
            workloads: Vec::new(),
            links: links.map(|direction| measured::link(direction, experiment, &samples, (from, to))).collect(),
            packets_delivered: record.delivered[0].packets,
            events: record.arrived.iter().chain(&record.delivered).map(|all| all.packets).sum(),
            sampled,
        };
        let end = record.samples.last().map_or(Time::ZERO, |sample| sample.at);
        let experiment = Experiment { measure: interval, ..experiment.clone() };
        let recorded = self.records.iter().flatten().map(Record::take).collect();
        let emulator = measured::emulator(record, end);
        Measured { experiment, outcome, wall_seconds: end.as_secs(), emulator, recorded, uncaptured }
    }
}

/// How long before its start a flow's connection is opened.
fn ahead(flow: &Flow) -> Duration {
    AHEAD + flow.rtt.scale(ROUND_TRIPS)
}

/// How long the path is there before the experiment's time begins: long enough to open all connections, and a multiple
/// of the sampling interval, so that the emulator samples when the experiment does.
fn lead(experiment: &Experiment) -> Duration {
    let least = experiment.flows.iter().map(ahead).max().unwrap_or(AHEAD);
    Duration(least.0.div_ceil(experiment.sample.0.max(1)) * experiment.sample.0.max(1))
}
