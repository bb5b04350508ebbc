//! Queue disciplines: what their papers and RFCs claim, and what BIC-2004 measured of them.

use crate::simulate::{figures, run, runs};
use experiment::synchronization_ratio;
use thalweg_lab::reproduce::measure::{self, Scope};

/// "Adaptive RED" holds the average queue in the middle of its thresholds, whatever the load and wherever `max-p`
/// starts: within 40 to 60 % of the way up, by its section 3. The mean of the queue itself is that of its average.
#[test]
fn adaptive_red_holds_its_target_whatever_the_load() {
    for (flows, max_p) in [(20, 0.1), (40, 0.02), (80, 0.5)] {
        let figures = figures(&run(&format!(
            r#"
            duration = "40 s"
            measure.from = "15 s"
            [path]
            rate = "50 Mbps"
            rtt = "60 ms"
            buffer = "1000 packets"
            queue = {{ kind = "ared", min = 30, max = 90, max-p = {max_p}, bottom = 0.001 }}
            [[flow]]
            controller = "reno"
            count = {flows}
            rtt = {{ uniform = ["40 ms", "80 ms"] }}
            start = {{ uniform = ["0 s", "2 s"] }}
            "#
        )));
        let link = &figures.links[0];
        println!(
            "{flows} flows: mean queue {:.1} packets of 54 to 66 wanted, used {:.3}, {} drops, {} of them early",
            link.mean_queue_packets, link.utilization, link.drops, link.early_drops
        );
        assert!((54.0..=66.0).contains(&link.mean_queue_packets), "{flows} flows: {}", link.mean_queue_packets);
    }
}

/// BIC-2004, figure 2: with half of 20 HSTCP flows as the threshold, DropTail's ratio rises from about 0.23 at 100 Mbps
/// to about 0.6 at 2.5 Gbps, and adaptive RED's is close to zero at all speeds. Here without the paper's background
/// traffic, so that DropTail's may be higher.
#[test]
fn red_desynchronises_losses_that_droptail_synchronises() {
    for rate in ["100 Mbps", "622 Mbps"] {
        let runs = runs(&format!(
            r#"
            duration = "90 s"
            sample = "10 ms"
            [path]
            rate = "{rate}"
            rtt = "100 ms"
            buffer = "1 bdp"
            [[flow]]
            controller = "highspeed"
            count = 20
            rtt = {{ uniform = ["40 ms", "150 ms"] }}
            start = {{ uniform = ["0 s", "5 s"] }}
            [sweep]
            "path.queue" = ["droptail", {{ kind = "ared", bottom = 0.001 }}]
            "#
        ));
        let [droptail, red] = [&runs[0], &runs[1]].map(|run| synchronization_ratio(run, 0..20, 0.5, [20.0, 90.0]));
        assert!(droptail >= 0.23 && red <= 0.1, "{rate}: DropTail {droptail}, RED {red}");
    }
}

/// RFC 8289: a standing queue of bulk flows is held near the target of 5 ms, and DropTail's, in the same buffer, is
/// not. Measured by the queue's mean length at the link's rate. One flow that reduces by much leaves the queue empty
/// for most of each sawtooth; several keep it at the target. (Flows that reduce by less can exceed it for long: the
/// drops come closer only with the square root of their number. Eight BIC flows hold 20 ms.)
#[test]
fn codel_holds_the_delay_near_its_target() {
    let delay = |controller: &str, flows: u32, queue: &str| {
        let figures = figures(&run(&format!(
            r#"
            duration = "40 s"
            measure.from = "15 s"
            path = {{ rate = "50 Mbps", rtt = "40 ms", buffer = "1000 packets", queue = "{queue}" }}
            [[flow]]
            controller = "{controller}"
            count = {flows}
            start = {{ uniform = ["0 s", "1 s"] }}
            "#
        )));
        let link = &figures.links[0];
        let milliseconds = link.mean_queue_packets * 8000.0 / 50e6 * 1e3;
        println!(
            "{controller} x {flows}, {queue}: {milliseconds:.2} ms, used {:.3}, {} drops, {} early",
            link.utilization, link.drops, link.early_drops
        );
        milliseconds
    };
    for (controller, flows) in [("reno", 1), ("reno", 4), ("reno", 8), ("cubic", 1), ("cubic", 4), ("bic", 1)] {
        let (codel, droptail) = (delay(controller, flows, "codel"), delay(controller, flows, "droptail"));
        assert!(codel < 7.5 && droptail > 50.0, "{controller} x {flows}: {codel} and {droptail}");
        assert!(flows == 1 || codel > 2.5, "{controller} x {flows}: {codel}");
    }
}

/// RFC 8290: the queueing delay of a flow that sends less than its share does not depend on the other flows; here it is
/// at most two of their packets, a quantum begun.
#[test]
fn fq_codel_isolates_a_thin_flow_from_bulk_flows() {
    let thin = |queue: &str, bulk: u32| {
        let start = if bulk == 0 { "29 s" } else { "1 ms" };
        let figures = figures(&run(&format!(
            r#"
            duration = "30 s"
            measure = {{ from = "10 s", to = "28 s" }}
            path = {{ rate = "50 Mbps", rtt = "40 ms", buffer = "1000 packets", queue = "{queue}" }}
            [[flow]]
            controller = "reno"
            receive-window = 5
            [[flow]]
            controller = "bic"
            count = 4
            start = "{start}"
            [[traffic]]
            kind = "cbr"
            rate = "1 Mbps"
            "#
        )));
        let (thin, fat) = (&figures.flows[0], &figures.flows[1]);
        println!(
            "{queue}, {bulk} bulk flows: thin {:.3} Mbps at {:.2} ms, bulk {:.2} Mbps at {:.2} ms, {} drops",
            thin.throughput_mbps, thin.mean_rtt_ms, fat.throughput_mbps, fat.mean_rtt_ms, figures.links[0].drops
        );
        (thin.mean_rtt_ms, thin.throughput_mbps)
    };
    let (alone, share) = thin("fq-codel", 0);
    let (beside, share_beside) = thin("fq-codel", 4);
    assert!(beside - alone <= 2.0 * 0.16 && share_beside >= 0.98 * share, "{alone} and {beside} ms");
    let (behind, share_behind) = thin("droptail", 4);
    assert!(behind > 2.0 * alone && share_behind < 0.5 * share, "{alone} and {behind} ms");
}

/// Little's law: the packets of single flows, which follow from their round-trip times, add up to the queue, which the
/// simulator counts.
#[test]
fn the_packets_of_all_flows_in_buffers_add_up_to_the_queue() {
    let run = run(r#"
        duration = "60 s"
        packet = "1500 B"
        path = { rate = "20 Mbps", rtt = "40 ms", delay = "10 ms", buffer = "60 packets", access = "100 Mbps" }
        [[flow]]
        controller = "cubic"
        [[flow]]
        controller = "reno"
        rtt = "90 ms"
        [[flow]]
        controller = "rrrp"
        "#);
    let of = |name: &str, flows| {
        let measure = measure::find(name).unwrap();
        measure.of(&run, Scope { span: Some([10.0, 60.0]), flows, ..Scope::default() })
    };
    let flows = [0, 1, 2].map(|flow| of("buffered", Some([flow, flow])));
    let queue = of("mean-queue", None);
    println!("{flows:.2?} packets of the flows in a mean queue of {queue:.2}");
    assert!(queue > 20.0 && flows.iter().all(|&packets| packets > 1.0));
    assert!((flows.iter().sum::<f64>() / queue - 1.0).abs() < 0.02);
    assert!((of("buffered", None) - flows.iter().sum::<f64>()).abs() < 1e-9);
}
