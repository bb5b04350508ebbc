//! Hosts that coalesce interrupts and send late (PACKET-SCALE-2017, sections VI-A and VI-B), end to end.
//! `control/tests/smoothing.rs` tests the estimates of single streams.

use crate::simulate::{figures, runs};
use thalweg_lab::results::RunSummary;

/// Each controller alone on 1 Gbps x 100 ms, with the scenario keys `more`, measured from 3 to 8 s.
fn alone(controllers: &[&str], more: &str) -> Vec<RunSummary> {
    let finished = runs(&format!(
        r#"
        duration = "8 s"
        measure.from = "3 s"
        path = {{ rate = "1 Gbps", rtt = "100 ms", buffer = "1 bdp" }}
        compare.controllers = {controllers:?}
        {more}
        "#
    ));
    let all: Vec<RunSummary> = finished.iter().map(figures).collect();
    for f in &all {
        let link = &f.links[0];
        println!(
            "{:10} used {:.3}, mean queue {:7.1}, {:6} drops; {}",
            f.name,
            link.utilization,
            link.mean_queue_packets,
            link.drops,
            more.split_whitespace().collect::<Vec<_>>().join(" ")
        );
    }
    all
}

/// No smoothing, and a first stream of 10 Mbps on average. One of 1 Mbps has rates of 0.1 Mbps to 52 Gbps; behind a
/// coalescing of 100 us it is read as 52 Gbps, and the test would take minutes to drop what is sent then.
const RAW: &str = r#"controller.rapid = { smoothing = "0 s", initial-rate = "10 Mbps" }"#;

/// Without smoothing, RAPID's analysis hardly ever sees congestion: the buffer stays full, and a hundred thousand
/// packets are dropped. With smoothing, a RAPID flow behind a coalescing of 100 us uses nine tenths of the link, with
/// the queue of a host without coalescing.
#[test]
fn rapid_overshoots_behind_coalescing_unless_it_smooths() {
    for (coalesce, least) in [("20 us", 0.95), ("50 us", 0.9), ("100 us", 0.85)] {
        let smoothed = &alone(&["rapid"], &format!("coalesce = \"{coalesce}\""))[0];
        let link = &smoothed.links[0];
        assert!(link.utilization >= least, "{coalesce}: {}", link.utilization);
        assert!(link.drops == 0 && link.max_queue_packets <= 45, "{coalesce}: {} drops", link.drops);
        let raw = &alone(&["rapid"], &format!("coalesce = \"{coalesce}\"\n{RAW}"))[0];
        assert!(raw.links[0].drops > 10_000 && raw.links[0].mean_queue_packets > 1000.0, "{coalesce}");
    }
}

/// The longer a host holds packets back, the less a stream tells of the path; the flow then gets less throughput, but
/// loses nothing. Streams of 30 packets, as RAPID-2009's, are too short from 100 us on, and streams of more than 90 get
/// more throughput at 200 us.
#[test]
fn behind_longer_coalescing_rapid_gets_less_and_loses_nothing() {
    for more in ["", "coalesce = \"100 us\"", "coalesce = \"200 us\"", "coalesce = \"1 ms\""] {
        for f in alone(&["rapid", "rapid-2009", "thalweg"], more) {
            assert_eq!(f.links[0].drops, 0, "{} {more}", f.name);
            if more.contains("100 us") && f.name != "rapid-2009" {
                assert!(f.links[0].utilization >= 0.5, "{}: {}", f.name, f.links[0].utilization);
            }
        }
    }
    let long =
        &alone(&["rapid"], "coalesce = \"200 us\"\ncontroller.rapid.stream = 180\ncontroller.rapid.spread = 1.02")[0];
    assert!(long.links[0].utilization >= 0.85, "{}", long.links[0].utilization);
}

/// Jitter costs RAPID a quarter of its throughput; a regression over all packets of a stream regains it.
#[test]
fn a_regression_keeps_the_link_busy_under_jitter() {
    let jitter = "jitter = \"10 us\"";
    alone(&["rapid", "rapid-2009", "thalweg"], jitter);
    let line = &alone(&["rapid"], &format!("{jitter}\ncontroller.rapid.estimator = \"regression\""))[0];
    let link = &line.links[0];
    assert!(link.utilization >= 0.95 && link.drops == 0 && link.max_queue_packets <= 45, "{}", link.utilization);
}
