//! What holds on every network: packets are conserved, nothing exceeds a link's rate, and times add up.

use crate::simulate::{figures, run, runs};

/// Lossy links in both directions, a short queue, flows of all controllers, each of limited size: every packet that was
/// sent has arrived, was dropped, or was lost or corrupted by an error.
#[test]
fn packets_are_conserved() {
    let mut seen = 0;
    for finished in runs(
        r#"
        duration = "120 s"
        path = { rate = "20 Mbps", rtt = "40 ms", buffer = "40 packets", packet-error = 0.002 }
        [compare]
        controllers = ["reno", "newreno", "aimd", "bic", "highspeed", "scalable", "cubic", "htcp", "westwood", "vegas", "fast", "compound", "illinois", "copa", "ledbat", "ledbat-plus-plus", "rapid", "rapid-2009", "thalweg", "rrrp", "bbr", "bbr1", "vivace"]
        [[flow]]
        count = 3
        size = "4 MB"
        start = { uniform = ["0 s", "2 s"] }
        "#,
    ) {
        let figures = figures(&finished);
        assert!(
            figures.flows.iter().all(|flow| flow.completion_seconds.is_some()),
            "{}: all is delivered",
            figures.name
        );
        let again: u64 = figures.flows.iter().map(|flow| flow.retransmitted_packets).sum();
        let (sent, link) = (3 * 4000 + again, &figures.links[0]);
        let gone = link.drops + link.errors;
        println!("{:10} sent {sent}, arrived {}, lost {gone}", figures.name, finished.outcome.packets_delivered);
        assert_eq!(sent, finished.outcome.packets_delivered + gone, "{}", figures.name);
        seen += link.drops.min(1) + link.errors.min(1);
    }
    assert!(seen > 9, "there were losses of both kinds");
}

/// In no sample do more bytes arrive than the link can carry, but for one packet that begins in the sample before.
#[test]
fn goodput_never_exceeds_the_capacity() {
    for finished in runs(
        r#"
        duration = "10 s"
        path = { rate = "100 Mbps", rtt = "30 ms", buffer = "1 bdp" }
        [compare]
        controllers = ["reno", "newreno", "aimd", "bic", "highspeed", "scalable", "cubic", "htcp", "westwood", "vegas", "fast", "compound", "illinois", "copa", "ledbat", "ledbat-plus-plus", "rapid", "rapid-2009", "thalweg", "rrrp", "bbr", "bbr1", "vivace"]
        [[flow]]
        count = 2
        "#,
    ) {
        let flows = &finished.outcome.flows;
        for i in 0..finished.outcome.sampled.len() {
            let bytes: u64 = flows.iter().map(|flow| flow.series.delivered[i]).sum();
            assert!(bytes <= 625_000 + 1000, "{}: {bytes} bytes in 50 ms of 100 Mbps", finished.run.name());
        }
    }
}

#[test]
fn two_equal_flows_share_equally() {
    let figures = figures(&run(r#"
        duration = "200 s"
        path = { rate = "50 Mbps", rtt = "40 ms", buffer = "1 bdp" }
        [[flow]]
        controller = "reno"
        [[flow]]
        controller = "reno"
        start = "3 s"
        "#));
    println!("Jain {:.4}, used {:.4}", figures.jain, figures.links[0].utilization);
    assert!(figures.jain >= 0.9, "{}", figures.jain);
    assert!(figures.links[0].utilization > 0.97, "{}", figures.links[0].utilization);
}

/// Constant traffic of 300 Mbps passes without loss, and the flow gets the remaining 700.
#[test]
fn constant_traffic_takes_its_share() {
    let figures = figures(&run(r#"
        duration = "42 s"
        measure.from = "2 s"
        path = { rate = "1 Gbps", rtt = "100 ms", buffer = "1 bdp" }
        [[flow]]
        controller = "thalweg"
        [[traffic]]
        kind = "cbr"
        rate = "300 Mbps"
        "#));
    let flow = figures.flows[0].throughput_mbps;
    let constant = 1000.0 * figures.links[0].utilization - flow;
    println!("flow {flow:.1} Mbps, constant traffic {constant:.2} Mbps");
    assert!((constant - 300.0).abs() < 0.5, "{constant}");
    assert!((0.95 * 700.0..=700.0).contains(&flow), "{flow}");
}

/// A flow with one packet outstanding sees no queue: its round-trip time is the propagation delay and the transmission
/// times of a packet of 1000 bytes and an acknowledgment of 40.
#[test]
fn an_unloaded_path_takes_its_propagation_delay() {
    let figures = figures(&run(r#"
        duration = "2 s"
        path = { rate = "1 Gbps", rtt = "100 ms", buffer = "1 bdp" }
        [[flow]]
        controller = "reno"
        receive-window = 1
        rtt = "60 ms"
        [[flow]]
        controller = "reno"
        receive-window = 1
        start = "1 ms"
        rtt = "165 ms"
        "#));
    for flow in &figures.flows {
        println!("RTT {} ms: {} ms", flow.rtt_ms, flow.mean_rtt_ms);
        assert!((flow.mean_rtt_ms - flow.rtt_ms - 0.00832).abs() < 1e-6, "{}", flow.mean_rtt_ms);
    }
}

/// By hand: 10 packets leave at once and take half a round trip and ten transmission times of 8 us. The 11th leaves
/// with the first acknowledgment, after 100 ms, 8 us and 0.32 us, when the link is free.
#[test]
fn completion_times_are_those_worked_out_by_hand() {
    for (size, expected) in [("1000 B", 0.050008), ("10 kB", 0.05008), ("9500 B", 0.050076), ("11 kB", 0.15001632)] {
        let figures = figures(&run(&format!(
            r#"
            duration = "1 s"
            path = {{ rate = "1 Gbps", rtt = "100 ms", buffer = "1 bdp" }}
            controller.reno.initial-window = 10.0
            [[flow]]
            controller = "reno"
            start = "17 ms"
            size = "{size}"
            "#
        )));
        let took = figures.flows[0].completion_seconds.unwrap();
        println!("{size}: {took} s");
        assert!((took - expected).abs() < 1e-9, "{size}: {took} instead of {expected}");
    }
}

/// The share of the link's reverse direction that a flow's acknowledgments use. A single data packet in that direction
/// makes the direction one that results list.
fn acknowledgments_share(delayed: &str) -> f64 {
    let figures = figures(&run(&format!(
        r#"
        duration = "10 s"
        measure.from = "1 s"
        path = {{ rate = "100 Mbps", rtt = "20 ms", buffer = "1 bdp" }}
        [[flow]]
        controller = "reno"
        receive-window = 200
        {delayed}
        [[flow]]
        controller = "reno"
        direction = "reverse"
        size = "1 kB"
        "#
    )));
    assert!(figures.links[1].name.ends_with("(reverse)"));
    figures.links[1].utilization / figures.links[0].utilization
}

#[test]
fn delayed_acknowledgments_are_half_as_many() {
    let (each, delayed) = (acknowledgments_share(""), acknowledgments_share("delayed-ack = \"40 ms\""));
    println!("40 bytes for 1000: {each:.5}; every second packet: {delayed:.5}");
    assert!((each - 0.04).abs() < 1e-4, "{each}");
    assert!((delayed - 0.02).abs() < 1e-4, "{delayed}");
}

#[test]
fn a_route_gives_its_narrowest_links_rate() {
    for route in [["wide", "narrow"], ["narrow", "wide"]] {
        let figures = figures(&run(&format!(
            r#"
            duration = "10 s"
            measure.from = "2 s"
            link = [
                {{ name = "wide", rate = "1 Gbps", delay = "10 ms", buffer = "1 bdp" }},
                {{ name = "narrow", rate = "622 Mbps", delay = "30 ms", buffer = "1 bdp" }},
            ]
            [[flow]]
            controller = "rapid"
            route = {route:?}
            "#
        )));
        let got = figures.flows[0].throughput_mbps;
        println!("{route:?}: {got:.1} Mbps of 622");
        assert!((0.95 * 622.0..=622.0).contains(&got), "{route:?}: {got}");
        assert_eq!(figures.flows[0].rtt_ms, 80.0);
    }
}

/// A flow over links of different kinds from their far end gives the same bits as one over the links in reverse order
/// from their near end.
#[test]
fn the_other_direction_is_the_same_network_turned_round() {
    let far_end = |route: [&str; 2], direction: &str| {
        let finished = run(&format!(
            r#"
            duration = "20 s"
            link = [
                {{ name = "a", rate = "50 Mbps", delay = "10 ms", buffer = "60 packets" }},
                {{ name = "b", rate = "40 Mbps", delay = "20 ms", buffer = "50 packets" }},
            ]
            [[flow]]
            controller = "bic"
            route = {route:?}
            direction = "{direction}"
            "#
        ));
        assert!(finished.outcome.flows[0].loss_events > 3);
        (finished.outcome.flows[0].series.delivered.clone(), finished.outcome.events)
    };
    assert_eq!(far_end(["a", "b"], "reverse"), far_end(["b", "a"], "forward"));
    assert_ne!(far_end(["a", "b"], "forward"), far_end(["b", "a"], "forward"), "the order of the links does matter");
}

/// Two-way traffic: data queue behind the acknowledgments of the other direction and acknowledgments behind its data,
/// in bursts, so that neither flow gets its window per propagation delay, 80 Mbps. Each gets its window per round-trip
/// time (Little's law), and both get the same.
#[test]
fn both_directions_carry_a_window_per_round_trip() {
    let figures = figures(&run(r#"
        duration = "30 s"
        measure.from = "10 s"
        path = { rate = "100 Mbps", rtt = "40 ms", buffer = "1 bdp" }
        [[flow]]
        controller = "reno"
        receive-window = 400
        [[flow]]
        controller = "reno"
        receive-window = 400
        direction = "reverse"
        "#));
    assert_eq!(figures.links.len(), 2);
    for flow in &figures.flows {
        let expected = 400.0 * 8.0 / flow.mean_rtt_ms;
        println!("{:.2} Mbps at {:.2} ms: by Little's law {expected:.2} Mbps", flow.throughput_mbps, flow.mean_rtt_ms);
        assert!(
            (flow.throughput_mbps / expected - 1.0).abs() < 0.002,
            "{} instead of {expected}",
            flow.throughput_mbps
        );
        assert_eq!((flow.retransmitted_packets, flow.mean_rtt_ms > 40.0), (0, true));
    }
    assert!(figures.jain > 0.999, "{}", figures.jain);
}

#[test]
fn a_buffer_holds_what_it_says_in_packets_or_bytes() {
    for (packet, buffer, holds) in [
        ("1000 B", "100 packets", 100),
        ("500 B", "100 packets", 100),
        ("1000 B", "100 kB", 100),
        ("500 B", "100 kB", 200),
    ] {
        let figures = figures(&run(&format!(
            r#"
            duration = "10 s"
            packet = "{packet}"
            path = {{ rate = "20 Mbps", rtt = "20 ms", buffer = "{buffer}" }}
            [[flow]]
            controller = "reno"
            "#
        )));
        let link = &figures.links[0];
        assert!(link.drops > 0);
        assert_eq!(link.max_queue_packets, holds, "{buffer} of {packet}");
    }
}
