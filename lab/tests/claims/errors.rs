//! Transmission errors that are more frequent than `thalweg` expects of every path.

use crate::simulate::{figures, run};

/// The share of the path that a flow of `thalweg` uses from 20 s on, where this share of packets is lost to errors.
fn used(rate: &str, rtt: &str, errors: f64, seed: u64) -> f64 {
    let run = run(&format!(
        r#"
        seed = {seed}
        duration = "60 s"
        measure.from = "20 s"
        path = {{ rate = "{rate}", rtt = "{rtt}", buffer = "1 bdp", packet-error = {errors} }}
        [[flow]]
        controller = "thalweg"
        "#
    ));
    figures(&run).links[0].utilization
}

/// Not all do: by chance, a flow may lose little while it tries half of its rate.
#[test]
fn nearly_all_flows_find_out_which_losses_are_errors() {
    let (mut most, mut all) = (0, 0);
    for (rate, rtt) in [("10 Mbps", "20 ms"), ("50 Mbps", "40 ms"), ("200 Mbps", "100 ms")] {
        for errors in [0.03, 0.05, 0.08] {
            for seed in 1..4 {
                let used = used(rate, rtt, errors, seed);
                println!("{rate}, {rtt}, {errors}: {used:.3} used");
                all += 1;
                most += usize::from(used > 0.8);
            }
        }
    }
    assert!(10 * most >= 9 * all, "{most} of {all} use 80 %");
}

/// RFC 9743, section 5.1.1: a sender lowers its rate where much is lost.
#[test]
fn where_three_in_ten_packets_are_lost_the_rate_is_low() {
    for (rate, rtt) in [("10 Mbps", "20 ms"), ("50 Mbps", "40 ms"), ("200 Mbps", "100 ms")] {
        let used = used(rate, rtt, 0.3, 1);
        assert!(used < 0.02, "{rate}, {rtt}: {used}");
    }
}

/// The longer route is not a queue that is full for ever.
#[test]
fn a_flow_with_errors_gets_used_to_a_longer_route() {
    let run = run(r#"
        duration = "40 s"
        measure.from = "25 s"
        [path]
        rate = "20 Mbps"
        rtt = "20 ms"
        buffer = "1 bdp"
        packet-error = 0.01
        [[path.change]]
        at = "5 s"
        delay = "60 ms"
        [[flow]]
        controller = "thalweg"
        "#);
    let used = figures(&run).links[0].utilization;
    assert!(used > 0.8, "{used}");
}

/// While it lasts, the cross traffic leaves the flow less than a window protocol is worth on such a path. How soon the
/// window protocol then carries enough for another attempt depends on where the errors fall, so there are eight seeds.
#[test]
fn the_hybrid_takes_a_path_with_errors_again_after_cross_traffic() {
    let scenario = r#"
        duration = "40 s"
        measure.from = "25 s"
        path = { rate = "100 Mbps", rtt = "60 ms", buffer = "1 bdp", packet-error = 0.0005 }
        [[flow]]
        controller = "thalweg-hybrid"
        [[traffic]]
        kind = "cbr"
        rate = "96 Mbps"
        start = "5 s"
        stop = "8 s"
        "#;
    let used = [1, 2, 3, 4, 5, 6, 7, 8].map(|seed| {
        let run = run(&format!("seed = {seed}\n{scenario}"));
        figures(&run).links[0].utilization
    });
    assert!(used.iter().all(|used| *used > 0.9), "{used:?}");
}
