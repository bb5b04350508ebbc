//! Every build gives the same results to the last bit: debug or release, on any machine. `INSTA_UPDATE=always cargo
//! test -p thalweg-lab --test claims profiles` accepts new ones where a controller or the simulator was meant to
//! change.

use crate::simulate::{figures, runs};
use experiment::Finished;
use std::fmt::Write;

/// A hash of the bits of all time series.
fn digest(run: &Finished) -> String {
    let mut hash = blake3::Hasher::new();
    let mut add = |bits: u64| {
        hash.update(&bits.to_le_bytes());
    };
    for flow in &run.outcome.flows {
        let s = &flow.series;
        s.delivered.iter().for_each(|&x| add(x));
        s.retransmitted.iter().for_each(|&x| add(x.into()));
        // NaN has many bit patterns, and a build may produce any of them.
        let floats = [&s.window, &s.rate, &s.rtt];
        floats.into_iter().flatten().for_each(|x| add(if x.is_nan() { u64::MAX } else { x.to_bits() }));
    }
    for link in &run.outcome.links {
        let s = &link.series;
        s.max_queue.iter().for_each(|&x| add(x));
        s.drops.iter().for_each(|&x| add(x.into()));
        [&s.queue, &s.utilization].into_iter().flatten().for_each(|x| add(x.to_bits()));
    }
    hash.finalize().to_hex()[..16].to_string()
}

/// Two flows of each controller over a lossy path, random starts and RTTs, delayed acknowledgments for one of them, and
/// constant traffic for a while.
#[test]
fn every_build_gives_the_same_bits() {
    let names: Vec<&str> = control::registry::all().iter().map(|controller| controller.name).collect();
    let mut log = String::new();
    for finished in runs(&format!(
        r#"
        duration = "5 s"
        seed = 42
        path = {{ rate = "50 Mbps", rtt = "40 ms", buffer = "1 bdp", packet-error = 1e-4 }}
        compare.controllers = {names:?}
        [[flow]]
        start = {{ uniform = ["0 s", "300 ms"] }}
        rtt = {{ uniform = ["30 ms", "60 ms"] }}
        [[flow]]
        start = "1 s"
        size = "4 MB"
        delayed-ack = "40 ms"
        [[traffic]]
        kind = "cbr"
        rate = "10 Mbps"
        start = "2 s"
        stop = "3 s"
        "#
    )) {
        let f = figures(&finished);
        let link = &f.links[0];
        writeln!(
            log,
            "{}: {} packets, {} events, used {}, queue {} to {}, {} drops, {} errors, Jain {}, series {}",
            f.name,
            f.packets_delivered,
            f.events,
            link.utilization,
            link.mean_queue_packets,
            link.max_queue_packets,
            link.drops,
            link.errors,
            f.jain,
            digest(&finished)
        )
        .unwrap();
        for flow in &f.flows {
            writeln!(
                log,
                "  {} Mbps, RTT {} of {} ms, window {:?}, {} sent again, {} loss events, acquired {:?}, completed {:?}",
                flow.throughput_mbps,
                flow.mean_rtt_ms,
                flow.rtt_ms,
                flow.mean_window_packets,
                flow.retransmitted_packets,
                flow.loss_events,
                flow.acquire_rtts,
                flow.completion_seconds
            )
            .unwrap();
        }
    }
    insta::assert_snapshot!("figures", log);
}
