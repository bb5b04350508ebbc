//! How many packets delay-based windows keep in the queue.

use crate::simulate::{between, run};
use experiment::Finished;
use thalweg_lab::theory;

/// The mean queue in the last `seconds` of a run of `duration`, packets.
fn queue(finished: &Finished, duration: f64, seconds: f64) -> f64 {
    let queue = between(finished, &finished.outcome.links[0].series.queue, duration - seconds, duration);
    queue.iter().sum::<f64>() / queue.len() as f64
}

/// Each flow's share of what was delivered in the last `seconds`.
fn shares(finished: &Finished, duration: f64, seconds: f64) -> Vec<f64> {
    let series = finished.outcome.flows.iter().map(|flow| &flow.series.delivered);
    let delivered: Vec<u64> =
        series.map(|series| between(finished, series, duration - seconds, duration).iter().sum()).collect();
    delivered.iter().map(|&bytes| bytes as f64 / delivered.iter().sum::<u64>() as f64).collect()
}

/// FAST flows on 1 Gbps x 100 ms, one for each start time in `starts` (seconds). Returns the queue and the flows'
/// shares after 40 s, as simulated, and as theory derives them from the least queue that each flow has met.
fn fast(starts: &[f64]) -> [(f64, Vec<f64>); 2] {
    let flows: String =
        starts.iter().map(|s| format!("[[flow]]\ncontroller = \"fast\"\nstart = \"{s} s\"\n")).collect();
    let finished = run(&format!(
        r#"
        duration = "45 s"
        sample = "5 ms"
        path = {{ rate = "1 Gbps", rtt = "100 ms", buffer = "1 bdp" }}
        {flows}
        "#
    ));
    let link = &finished.outcome.links[0].series;
    let since = |start: f64| between(&finished, &link.queue, start, 45.0).into_iter().fold(f64::MAX, f64::min);
    let unseen: Vec<f64> = starts.iter().map(|&start| since(start) / 200.0).collect();
    let (expected, expected_shares) = theory::fast(&unseen);
    let (queue, shares) = (queue(&finished, 45.0, 5.0), shares(&finished, 45.0, 5.0));
    println!("FAST from {starts:?} s: queue {queue:.1}, shares {shares:.3?}");
    println!("    least met, in alpha: {unseen:.2?}; so expected {:.1}, {expected_shares:.3?}", 200.0 * expected);
    assert_eq!(link.drops.iter().sum::<u32>(), 0);
    [(queue, shares), (200.0 * expected, expected_shares)]
}

/// alpha is 200 packets for each of one or two flows, whenever the second starts: its slow start makes the first flow
/// give way, the queue runs empty, and both measure the propagation delay.
#[test]
fn fast_keeps_alpha_packets_per_flow_in_the_queue() {
    for starts in [&[0.0][..], &[0.0, 0.0], &[0.0, 20.0]] {
        let [(queue, shares), _] = fast(starts);
        let expected = 200.0 * starts.len() as f64;
        assert!((queue / expected - 1.0).abs() < 0.05, "{queue} instead of {expected}");
        assert!(shares.iter().all(|share| (share * starts.len() as f64 - 1.0).abs() < 0.05), "{shares:?}");
    }
}

/// Persistent congestion: flows that start among many others may never meet an empty queue. They take the delay of the
/// remaining queue for propagation delay, keep alpha packets beyond it, and get more than the flows before them.
#[test]
fn fast_flows_that_never_meet_an_empty_queue_keep_more_and_get_more() {
    let [(queue, shares), (expected, expected_shares)] = fast(&[0.0, 6.0, 12.0, 18.0, 24.0]);
    assert!((queue / expected - 1.0).abs() < 0.05, "{queue} instead of {expected}");
    assert!(shares.iter().zip(&expected_shares).all(|(a, b)| (a / b - 1.0).abs() < 0.05), "{shares:?}");
    assert!(queue > 1.1 * 5.0 * 200.0 && shares[4] > 1.5 * shares[0], "{queue}, {shares:?}");
}

/// Vegas keeps between alpha = 1 and beta = 3 packets per flow in the queue, if the flows have met an empty queue.
#[test]
fn vegas_keeps_one_to_three_packets_per_flow_in_the_queue() {
    for flows in [1, 2, 5] {
        let finished = run(&format!(
            r#"
            duration = "60 s"
            path = {{ rate = "20 Mbps", rtt = "40 ms", buffer = "1 bdp" }}
            [[flow]]
            controller = "vegas"
            count = {flows}
            "#
        ));
        let queue = queue(&finished, 60.0, 20.0);
        let used = between(&finished, &finished.outcome.links[0].series.utilization, 40.0, 60.0);
        let used = used.iter().sum::<f64>() / used.len() as f64;
        println!("{flows}: queue {queue:.2}, used {used:.4}");
        assert!((1.0..=3.0).contains(&(queue / f64::from(flows))), "{flows} flows: {queue}");
        assert!(used > 0.99, "{flows} flows: {used}");
    }
}
