//! What all contestants have in common: the time, the path, and the emulator on a thread of its own.

use super::log::Log;
use crate::emulate::outcome;
use crate::emulate::progress::Lines;
use crate::emulate::way::Ways;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use control::{Duration, Time};
use emulate::{Ends, Record, Sample};
use experiment::{Experiment, Identity, Outcome};
use experiment::{Finished, Run};
use realtime::{Clock, from_std, to_std};
use scenario::reason;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Connections are opened so long before their flow starts, and longer by some round trips, so that it starts at once as in the
/// simulator, with the handshake behind it.
const AHEAD: Duration = Duration::from_millis(1000);
const ROUND_TRIPS: f64 = 6.0;

/// One real run.
pub struct Stage {
    /// The run as the scenario has it.
    pub run: Run,
    /// How long the path has been there when the scenario's time begins.
    lead: Duration,
    clock: Clock,
    /// When the scenario's time begins.
    pub zero: Instant,
    /// The run is over.
    pub over: Over,
}

/// Whether a run is over.
#[derive(Clone, Default)]
pub struct Over(Arc<AtomicBool>);

impl Over {
    /// It is.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it is.
    pub fn is(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Waits until it is.
    pub async fn wait(&self) {
        while !self.is() {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    }
}

impl Stage {
    /// Time begins for the path.
    pub fn new(run: &Run) -> Stage {
        let lead = lead(&run.experiment);
        let (clock, now) = (Clock::start(), Instant::now());
        Stage { run: run.clone(), lead, clock, zero: now + to_std(lead), over: Over::default() }
    }

    /// The moment that the scenario calls `time`.
    pub fn at(&self, time: Time) -> Instant {
        self.zero + to_std(time.since(Time::ZERO))
    }

    /// What the scenario calls this moment.
    pub fn now(&self) -> Time {
        Time::ZERO + from_std(self.zero.elapsed())
    }

    /// When the connection of a flow is opened.
    pub fn opens(&self, flow: &experiment::Flow) -> Instant {
        self.at(flow.start) - to_std(ahead(flow))
    }

    /// The hops that are links of the scenario.
    pub fn links(&self) -> Vec<usize> {
        Ways::all(self.run.clone()).data_ways().into_iter().map(|(hop, _)| hop).collect()
    }

    /// The path in its time, in which everything that the scenario changes comes later by the lead.
    fn ways(&self) -> Ways {
        let mut run = self.run.clone();
        run.experiment.links.iter_mut().flat_map(|link| &mut link.changes).for_each(|change| change.at += self.lead);
        Ways::all(run)
    }

    /// Lets packets cross between `ends` until the run is over.
    pub fn emulate(&self, ends: &mut dyn Ends, interrupt: &Interrupt, lines: &mut Lines) -> Result<Record, Failure> {
        let path = self.ways().path().inspect_err(|_| self.over.set())?;
        let end = Time::ZERO + self.lead + self.run.experiment.duration;
        let mut go_on = || self.clock.now() < end && !self.over.is() && !interrupt.came();
        let sample = self.run.experiment.sample;
        let done = emulate::run(ends, self.clock, path, sample, &mut go_on, &mut |progress| lines.tell(progress));
        self.over.set();
        done.map_err(|e| Failure::Failed(format!("the emulation broke off: {}", reason(&e))))
    }

    /// The results, as if it had been simulated.
    pub fn finished(&self, identity: Identity, record: &Record, logs: &[Log]) -> Finished {
        let begin = Time::ZERO + self.lead;
        let shift = |sample: &Sample| Sample { at: Time::ZERO + sample.at.since(begin), ..sample.clone() };
        let first = record.samples.partition_point(|sample| sample.at < begin);
        let samples: Vec<Sample> = record.samples[first..].iter().map(shift).collect();
        let samples: Vec<&Sample> = samples.iter().collect();
        let experiment = &self.run.experiment;
        let measured = outcome::measured(experiment, &samples);
        let sampled: Vec<Time> = samples[1..].iter().map(|sample| sample.at).collect();
        let interval = (measured.0.at, measured.1.at);
        let flow =
            |(flow, log): (&experiment::Flow, &Log)| log.outcome(experiment, flow, self.zero, &sampled, interval);
        let outcome = Outcome {
            flows: experiment.flows.iter().zip(logs).map(flow).collect(),
            workloads: Vec::new(),
            links: Ways::all(self.run.clone())
                .data_ways()
                .into_iter()
                .map(|(hop, name)| outcome::link(name, hop, &samples, measured))
                .collect(),
            packets_delivered: record.delivered[0].packets,
            events: record.arrived.iter().chain(&record.delivered).map(|all| all.packets).sum(),
            sampled,
        };
        let end = record.samples.last().map_or(Time::ZERO, |sample| sample.at);
        let run =
            Run { identity, experiment: Experiment { measure: interval, ..experiment.clone() }, ..self.run.clone() };
        Finished { run, outcome, wall_seconds: end.as_secs(), emulator: Some(outcome::emulator(record, end)) }
    }
}

/// How long before its start a flow's connection is opened.
fn ahead(flow: &experiment::Flow) -> Duration {
    AHEAD + flow.rtt.scale(ROUND_TRIPS)
}

/// How long the path must be there before the scenario's time begins, so that all connections are open in time and samples fall
/// on the scenario's.
fn lead(experiment: &Experiment) -> Duration {
    let least = experiment.flows.iter().map(ahead).max().unwrap_or(AHEAD);
    Duration(least.0.div_ceil(experiment.sample.0.max(1)) * experiment.sample.0.max(1))
}
