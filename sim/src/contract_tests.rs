//! The simulator's host keeps to the contract of the roles, with every controller and under every condition that the
//! host has code for. In tests, [`Source`](crate::host::Source) has each call checked by [`control::contract`], which
//! panics when it breaks a rule.

use control::registry::{self, Controller, Family};
use control::{Bytes, Duration, EcnSupport, Rate, Recovery, Time};
use experiment::traffic::Mix;
use experiment::{Experiment, Flow, FlowSettings, Outcome, Workload};
use path::queue::registry::find;
use path::{Buffer, Ecn, Errors, LinkSetup, QueueSetup, Reorder, Route};
use std::sync::Arc;

/// When the runs end.
pub const END: Duration = Duration::from_millis(4000);

/// Two flows of `controller` over 10 Mbps and 40 ms, one of which ends.
pub fn experiment(controller: &Controller) -> Experiment {
    let flow = |start: u64| Flow {
        start: Time::ZERO + Duration::from_millis(start),
        rtt: Duration::from_millis(40),
        settings: FlowSettings::plain(
            controller.name,
            controller.defaults().clone(),
            controller.recovery,
            Route { links: vec![0], reverse: false },
            Bytes(1000),
        )
        .into(),
    };
    let mut ends = flow(500);
    ends.size = Some(Bytes(200_500));
    let (rate, delay) = (Rate::from_mbps(10.0), Duration::from_millis(15));
    Experiment {
        seed: 1,
        duration: END,
        sample: Duration::from_millis(100),
        measure: (Time::ZERO, Time::ZERO + END),
        links: vec![LinkSetup::plain("a", rate, delay, Buffer::Packets(20))],
        flows: vec![flow(0), ends],
        cross: Vec::new(),
        workloads: Vec::new(),
    }
}

/// Runs the experiment with each controller after `change`, and hands the outcome to `check`.
fn with_all(change: impl Fn(&mut Experiment), check: impl Fn(&str, &Outcome)) {
    for controller in registry::all() {
        let mut experiment = experiment(controller);
        change(&mut experiment);
        let outcome = crate::run(&experiment, &mut |_| true).unwrap().unwrap();
        assert!(outcome.packets_delivered > 50, "{}: {} packets", controller.name, outcome.packets_delivered);
        check(controller.name, &outcome);
    }
}

/// Each run's flows or connections have lost packets.
fn some_repaired(name: &str, outcome: &Outcome) {
    assert!(outcome.flows.iter().any(|flow| flow.retransmitted_packets > 0), "{name}: nothing was lost");
}

#[test]
fn drops_of_a_full_buffer_and_errors() {
    with_all(|experiment| experiment.links[0].forward.errors = Errors::Uniform(0.02), some_repaired);
}

#[test]
fn losses_without_selective_acknowledgments() {
    let change = |experiment: &mut Experiment| {
        experiment.links[0].forward.errors = Errors::Uniform(0.02);
        experiment.flows.iter_mut().for_each(|flow| flow.recovery = Recovery::NewReno);
    };
    with_all(change, some_repaired);
}

/// Losses, reordering, and the tail of the flow that ends.
#[test]
fn losses_found_by_time() {
    let change = |experiment: &mut Experiment| {
        let link = &mut experiment.links[0].forward;
        link.errors = Errors::Uniform(0.02);
        link.reorder = Some(Reorder { probability: 0.02, delay: Duration::from_millis(5) });
        experiment.flows.iter_mut().for_each(|flow| flow.recovery = Recovery::RackTlp);
    };
    with_all(change, some_repaired);
}

#[test]
fn losses_of_most_packets_end_in_timeouts() {
    let change = |experiment: &mut Experiment| {
        experiment.duration = Duration::from_millis(60_000);
        experiment.links[0].forward.errors = Errors::Uniform(0.5);
    };
    with_all(change, |name, outcome| {
        let windowed = registry::find(name).is_some_and(|controller| controller.family == Family::LossWindow);
        assert!(!windowed || outcome.flows.iter().any(|flow| flow.timeouts > 0), "{name}: no timeout");
    });
}

#[test]
fn packets_reordered_duplicated_and_corrupted() {
    let change = |experiment: &mut Experiment| {
        let link = &mut experiment.links[0].forward;
        link.reorder = Some(Reorder { probability: 0.02, delay: Duration::from_millis(5) });
        (link.duplicate, link.corrupt) = (0.02, 0.01);
    };
    with_all(change, some_repaired);
}

#[test]
fn hosts_with_late_interfaces_delayed_acknowledgments_and_small_windows() {
    let change = |experiment: &mut Experiment| {
        for flow in &mut experiment.flows {
            flow.delayed_ack = Some(Duration::from_millis(40));
            flow.coalesce = Some(Duration::from_micros(300));
            flow.jitter = Some(Duration::from_micros(200));
            flow.quantum = Some(Duration::from_millis(2));
            flow.receive_window = Some(10);
        }
        experiment.flows[0].stop = Some(Time::ZERO + Duration::from_millis(2000));
    };
    with_all(change, |_, _| {});
}

/// What the ECN field of `name`'s packets says if scenarios ask for marks.
fn ecn_of(name: &str) -> Ecn {
    match registry::find(name).map(|controller| controller.ecn) {
        Some(EcnSupport::Classic) => Ecn::Ect0,
        Some(EcnSupport::L4s) => Ecn::Ect1,
        _ => Ecn::NotEct,
    }
}

/// Marks make every controller that reacts to them give way, and nothing is lost nor sent again. Those that keep queues
/// short may never be marked.
#[test]
fn marks_in_place_of_drops() {
    let change = |experiment: &mut Experiment| {
        let link = &mut experiment.links[0].forward;
        link.buffer = Buffer::Packets(2000);
        link.queue = QueueSetup {
            discipline: "red".into(),
            parameters: find("red").unwrap().defaults().clone(),
            packet: Bytes(1000),
        };
        experiment.flows.iter_mut().for_each(|flow| flow.ecn = ecn_of(&flow.controller));
    };
    with_all(change, |name, outcome| {
        let link = &outcome.links[0];
        if ecn_of(name).is_capable() {
            let resent = outcome.flows.iter().map(|flow| flow.retransmitted_packets).sum::<u64>();
            assert_eq!((link.drops, resent), (0, 0), "{name}");
            let reacts = outcome.flows.iter().all(|flow| flow.loss_events == 0) && link.max_queue < 500;
            let never = registry::find(name).is_some_and(|controller| controller.family == Family::DelayWindow);
            assert!(
                (link.marks > 0 || never) && reacts,
                "{name}: {} marks, {} packets wait",
                link.marks,
                link.max_queue
            );
        } else {
            assert_eq!(link.marks, 0, "{name}");
        }
    });
}

/// Connections with a handshake and short transfers in both directions, as the first flow of `experiment`.
pub fn workload(experiment: &Experiment) -> Workload {
    let FlowSettings { controller, parameters, recovery, route, .. } = (*experiment.flows[0].settings).clone();
    let (packet, header, load) = (Bytes(1000), Bytes(40), Rate::from_mbps(8.0));
    let mix = Mix { seed: 1, index: 0, load, duration: END, packet, header };
    Workload {
        name: "mix".into(),
        controller: controller.to_string(),
        parameters: (*parameters).clone(),
        recovery,
        route: (*route).clone(),
        sends: [true; 2],
        packet,
        header,
        ack_size: header,
        handshake: true,
        receive_window: None,
        max_burst: None,
        pacing: None,
        delayed_ack: None,
        min_rto: Duration::from_millis(200),
        idle_restart: true,
        ecn: Ecn::NotEct,
        start: Time::ZERO,
        stop: Time::ZERO + END,
        population: Arc::new(mix),
    }
}

#[test]
fn connections_that_come_and_go() {
    let change = |experiment: &mut Experiment| {
        experiment.workloads.push(workload(experiment));
        experiment.flows.clear();
        experiment.links[0].forward.errors = Errors::Uniform(0.02);
    };
    with_all(change, |name, outcome| {
        let workload = &outcome.workloads[0];
        assert!(workload.completed > 10 && workload.retransmitted_packets > 0, "{name}: {}", workload.completed);
    });
}
