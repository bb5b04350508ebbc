//! One run of the bench.

use super::accuracy::Accuracy;
use super::bench::Bench;
use super::case::{Case, Traffic};
use super::meter::Meter;
use super::receiver::AllEstimators;
use super::sender::{Plan, SteadySender};
use control::pstream::{Bursts, Layout, Stream};
use control::registry::Parties;
use control::{Bytes, Conditions, Duration, Rate, Time};
use experiment::Experiment;
use experiment::traffic::{Random, Stream as Use};
use path::LinkDirection;
use scenario::Machine;
use sim::Simulation;
use std::num::NonZero;
use std::sync::mpsc;

/// The share of the time in which flows of p-streams that are other traffic send. The rest moves them relative to each
/// other.
const OTHERS_BUSY: f64 = 0.9;
/// The time after the last stream in which its packets arrive: more than the round-trip time and the longest queue.
const TAIL: Duration = Duration::from_millis(200);
/// The run lasts longer than the wanted streams in the mean by this factor, as rests are random.
const MARGIN: f64 = 1.2;

/// The probe's plan.
fn probe(bench: &Bench, case: &Case, ratio: f64) -> Plan {
    let average = available(bench, case) * ratio;
    Plan { shape: bench.shape, average, busy: (bench.share / ratio).min(1.0), stamped: true }
}

/// What the load of the other traffic leaves.
fn available(bench: &Bench, case: &Case) -> Rate {
    bench.capacity * (1.0 - case.load)
}

/// How long the run lasts.
pub fn duration(bench: &Bench, case: &Case, ratio: f64) -> Duration {
    let Plan { shape, average, busy, .. } = probe(bench, case, ratio);
    let host = Conditions { quantum: case.quantum, ..Conditions::exact(case.packet) };
    let top = average * Stream::top_over_average(shape.len, shape.spread, Layout::AllRising);
    let burst = u64::from(Bursts::on(&host).packets(top));
    let stream = average.time_for(Bytes(case.packet.0 * burst * u64::from(shape.len)));
    case.traffic.warm_up() + stream.scale(bench.streams as f64 / busy * MARGIN) + TAIL
}

/// How well each estimator finds the available bandwidth in streams whose average rate is `ratio` times what the other
/// traffic's load leaves.
///
/// # Panics
/// If the bench's own scenario is wrong.
pub fn measure(bench: &Bench, case: &Case, ratio: f64) -> Accuracy {
    let text = case.scenario(bench.capacity, duration(bench, case, ratio), bench.seed);
    let machine = Machine { memory: u64::MAX, jobs: NonZero::<usize>::MIN };
    let plan = scenario::read("bench", &text, &[], &machine).unwrap_or_else(|why| panic!("{why:?}\n{text}"));
    let experiment = &plan.runs[0].experiment;
    let (passed, all_passed) = mpsc::channel();
    let (estimated, all_estimated) = mpsc::channel();
    let build = |flow: &experiment::Flow, host: &Conditions| {
        let number = index_of(flow, experiment);
        let rests = Random::new(bench.seed, Use::Rests, &[number as u64]);
        if number > 0 {
            let plan = others(bench, case);
            return Ok(Parties { sender: Box::new(SteadySender::new(plan, host, rests)), receiver: None });
        }
        let receiver = AllEstimators::new(bench.shape.len, case.tick, case.jitter, estimated.clone());
        let sender = SteadySender::new(probe(bench, case, ratio), host, rests);
        Ok(Parties { sender: Box::new(sender), receiver: Some(Box::new(receiver)) })
    };
    let simulation = Simulation::new(experiment, &build).unwrap_or_else(|why| panic!("{why}\n{text}"));
    let bottleneck = LinkDirection { link: 0, reverse: false };
    let mut simulation = simulation.with_router(bottleneck, Box::new(Meter::new(passed)));
    simulation.run_until(Time::ZERO + experiment.duration);
    let begins = Time::ZERO + case.traffic.warm_up();
    let ends = Time::ZERO + (experiment.duration - TAIL);
    let within = all_passed.try_iter().filter(|it| begins <= it.from && it.from + it.span <= ends);
    let passed: Vec<_> = within.take(bench.streams).collect();
    let estimated: Vec<_> = all_estimated.try_iter().collect();
    Accuracy::of(&passed, &estimated, bench.capacity)
}

/// The plan of each flow of p-streams that is other traffic.
fn others(bench: &Bench, case: &Case) -> Plan {
    let flows = if let Traffic::Streams(flows) = case.traffic { flows } else { 1 };
    let average = bench.capacity * (case.load / f64::from(flows) / OTHERS_BUSY);
    Plan { shape: bench.shape, average, busy: OTHERS_BUSY, stamped: false }
}

/// The number of `flow` among those of `experiment`, to which it belongs.
fn index_of(flow: &experiment::Flow, experiment: &Experiment) -> usize {
    experiment.flows.iter().position(|other| std::ptr::eq(other, flow)).unwrap_or_default()
}
