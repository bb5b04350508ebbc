//! Runs made up for the tests of results and reports: flows that share 1 Gbps evenly, with a sawtooth each.

#![allow(dead_code)]

use control::{Bytes, Duration, Phase, Rate, Recovery, Time};
use experiment::{Experiment, Flow, FlowOutcome, FlowSeries, FlowSettings, LinkOutcome, LinkSeries, Outcome};
use experiment::{Finished, Identity, Place, Run};
use path::{Buffer, LinkSetup, Route};
use serde_json::json;

/// Bits per second of the one link.
const CAPACITY: f64 = 1e9;
const SAMPLE: Duration = Duration::from_millis(50);

/// A run of 20 s in which flow `i` of `flows` starts at second `i` (as long as there are seconds), and whose controller
/// has a window or else a rate.
pub fn finished(name: &str, flows: usize, window: bool) -> Finished {
    // So that no two runs look alike.
    let odd: usize = name.bytes().map(usize::from).sum::<usize>() % 30;
    let start = |i: usize| Duration::from_millis((1000 * i as u64).min(10_000));
    let seconds = 20;
    let sampled: Vec<Time> = (1..=seconds * 20).map(|k| Time::ZERO + Duration(SAMPLE.0 * k)).collect();
    let mut outcomes: Vec<FlowOutcome> = vec![FlowOutcome::default(); flows];
    let mut link = LinkSeries::default();
    for (k, &end) in sampled.iter().enumerate() {
        let active = (0..flows).filter(|&i| end > Time::ZERO + start(i)).count();
        let mut total = 0.0;
        for (i, flow) in outcomes.iter_mut().enumerate() {
            let rtt = 0.1 + 0.01 * i as f64 + 0.002 * ((k * 7 + i * 3) % 11) as f64 / 11.0;
            // Grows for a while, then falls by a quarter.
            let period = 30 + i + odd;
            let tooth = 0.75 + 0.25 * ((k + 5 * i) % period) as f64 / period as f64;
            let share = CAPACITY * tooth / active.max(1) as f64;
            if end > Time::ZERO + start(i) {
                total += share;
                flow.series.push(Sample { bits: share * 0.05, rtt, share, window, lost: tooth == 0.75 });
            } else {
                flow.series.push_inactive();
            }
        }
        link.queue.push(40.0 * total / CAPACITY);
        link.max_queue.push((60.0 * total / CAPACITY) as u64);
        link.drops.push(u32::from(k % 30 == 0));
        link.utilization.push((total / CAPACITY).min(1.0));
    }
    for (i, flow) in outcomes.iter_mut().enumerate() {
        flow.delivered = Bytes(flow.series.delivered.iter().sum());
        flow.retransmitted_packets = flow.series.retransmitted.iter().map(|&n| u64::from(n)).sum();
        flow.loss_events = flow.retransmitted_packets;
        flow.mean_rtt = 0.101 + 0.01 * i as f64;
        flow.mean_window = window.then_some(900.0);
        flow.acquired = (i == 0).then(|| Duration::from_millis(650));
    }
    let count = sampled.len() as f64;
    let outcome = Outcome {
        packets_delivered: outcomes.iter().map(|flow| flow.delivered.0 / 1000).sum(),
        events: 1_000_000,
        links: vec![LinkOutcome {
            name: "bottleneck".into(),
            utilization: link.utilization.iter().sum::<f64>() / count,
            mean_queue: link.queue.iter().sum::<f64>() / count,
            max_queue: link.max_queue.iter().copied().max().unwrap_or(0),
            drops: link.drops.iter().map(|&n| u64::from(n)).sum(),
            early_drops: 0,
            marks: 0,
            errors: 0,
            corrupted: 0,
            late: 0,
            duplicates: 0,
            series: link,
        }],
        flows: outcomes,
        workloads: vec![],
        sampled,
    };
    let controller = if window { "reno" } else { "rapid" };
    let duration = Duration::from_secs(seconds as f64);
    let flow = |i: usize| Flow {
        start: Time::ZERO + start(i),
        rtt: Duration::from_millis(100 + 10 * i as u64),
        settings: FlowSettings::plain(
            controller,
            json!({"increase": 1.0}),
            Recovery::Sack,
            Route { links: vec![0], reverse: false },
            Bytes(1000),
        )
        .into(),
    };
    let experiment = Experiment {
        seed: 1,
        duration,
        sample: SAMPLE,
        measure: (Time::ZERO, Time::ZERO + duration),
        links: vec![LinkSetup::plain(
            "bottleneck",
            Rate::from_bps(CAPACITY),
            Duration::from_millis(50),
            Buffer::Packets(12_500),
        )],
        flows: (0..flows).map(flow).collect(),
        cross: vec![],
        workloads: vec![],
    };
    let run = Run {
        identity: Identity {
            controllers: vec![name.into()],
            settings: Default::default(),
            seed: 1,
            place: Place::Simulated,
        },
        controller: controller.into(),
        parameters: json!({"increase": 1.0}),
        experiment,
    };
    Finished { run, outcome, wall_seconds: 0.25, emulator: None }
}

struct Sample {
    bits: f64,
    rtt: f64,
    share: f64,
    window: bool,
    lost: bool,
}

trait Push {
    fn push(&mut self, sample: Sample);
    fn push_inactive(&mut self);
}

impl Push for FlowSeries {
    fn push(&mut self, Sample { bits, rtt, share, window, lost }: Sample) {
        self.delivered.push((bits / 8.0) as u64);
        self.window.push(if window { share * rtt / 8000.0 } else { f64::NAN });
        self.rate.push(if window { f64::NAN } else { share });
        self.available.push(if window { f64::NAN } else { 1.1 * share });
        self.rtt.push(rtt);
        self.retransmitted.push(lost.into());
        self.phase.push(Some(if lost { Phase::Recovery } else { Phase::CongestionAvoidance }));
    }

    fn push_inactive(&mut self) {
        self.delivered.push(0);
        self.window.push(f64::NAN);
        self.rate.push(f64::NAN);
        self.available.push(f64::NAN);
        self.rtt.push(f64::NAN);
        self.retransmitted.push(0);
        self.phase.push(None);
    }
}
