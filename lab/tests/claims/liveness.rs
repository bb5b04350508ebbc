//! No flow stops sending for good, however bad the path is.

use crate::simulate::{between, figures, runs};

/// All controllers, as a list in a scenario.
fn all() -> String {
    let names: Vec<&str> = control::registry::all().iter().map(|controller| controller.name).collect();
    format!("controllers = {names:?}")
}

/// One packet in ten is lost, acknowledgments too: each flow still delivers something in the last tenth of the run.
#[test]
fn no_flow_dies_of_packet_errors() {
    for seed in 1..4 {
        let scenario = format!(
            r#"
            duration = "1000 s"
            sample = "1 s"
            seed = {seed}
            path = {{ rate = "100 Mbps", rtt = "40 ms", buffer = "1 bdp", packet-error = 0.1 }}
            [compare]
            {}
            "#,
            all()
        );
        for run in runs(&scenario) {
            let late: u64 = between(&run, &run.outcome.flows[0].series.delivered, 900.0, 1000.0).iter().sum();
            println!("{:10} seed {seed}: {:.3} MB in the last 100 s", run.run.name(), late as f64 / 1e6);
            assert!(late > 0, "{} seed {seed}", run.run.name());
        }
    }
}

/// A congested link with a short buffer and many flows, of which some lose the ends of their first streams.
#[test]
fn no_flow_dies_of_congestion() {
    let scenario = format!(
        r#"
        duration = "400 s"
        sample = "1 s"
        path = {{ rate = "20 Mbps", rtt = "60 ms", buffer = "50 packets" }}
        [compare]
        {}
        [[flow]]
        count = 20
        start = {{ uniform = ["0 s", "10 s"] }}
        [[flow]]
        controller = "reno"
        direction = "reverse"
        count = 5
        "#,
        all()
    );
    for run in runs(&scenario) {
        for (i, flow) in run.outcome.flows.iter().enumerate() {
            let late: u64 = between(&run, &flow.series.delivered, 200.0, 400.0).iter().sum();
            assert!(late > 0, "{} flow {}", run.run.name(), i + 1);
        }
    }
}

/// A buffer shorter than a slow-start stream: the end of the stream is lost, and RAPID must get its estimate from the
/// packets that arrived.
#[test]
fn a_shallow_buffer_does_not_keep_a_flow_in_slow_start() {
    for buffer in [1, 3, 10] {
        let scenario = format!(
            r#"
            duration = "60 s"
            path = {{ rate = "100 Mbps", rtt = "40 ms", buffer = "{buffer} packets" }}
            [compare]
            controllers = ["rapid", "rapid-2009", "thalweg", "rrrp", "bbr", "bbr1", "vivace"]
            "#
        );
        for run in runs(&scenario) {
            let figures = figures(&run);
            let flow = &figures.flows[0];
            println!(
                "{:10} {buffer} packets: {:.1} Mbps, {} timeouts",
                figures.name, flow.throughput_mbps, flow.timeouts
            );
            assert!(flow.throughput_mbps > 2.0 && flow.timeouts < 100, "{} {buffer}", figures.name);
        }
    }
}

/// A flow that is stopped before all of its data is delivered is not complete.
#[test]
fn a_stopped_flow_is_not_complete() {
    let run = crate::simulate::run(
        r#"
        duration = "5 s"
        path = { rate = "100 Mbps", rtt = "40 ms", buffer = "1 bdp" }
        [[flow]]
        controller = "reno"
        size = "100 MB"
        stop = "1 s"
        "#,
    );
    assert_eq!(figures(&run).flows[0].completion_seconds, None);
    assert_eq!(run.outcome.flows[0].completed, None);
}
