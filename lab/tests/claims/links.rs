//! Links that change over time, follow a trace, lose in bursts, reorder and duplicate packets.

use crate::simulate::{between, figures, run, runs};

const ALL: &str = r#"controllers = ["reno", "newreno", "aimd", "bic", "highspeed", "scalable", "cubic", "htcp", "westwood", "vegas", "fast",
    "compound", "illinois", "copa", "ledbat", "ledbat-plus-plus", "rapid", "rapid-2009", "rapid-hybrid", "rrrp",
    "thalweg", "bbr1", "vivace"]"#;

/// A flow that keeps the queue filled receives a packet of an opportunity's size at each of the trace's times, and at
/// no other time.
#[test]
fn a_trace_driven_link_delivers_exactly_the_traces_opportunities() {
    // A made-up cellular trace: bursts, single opportunities and pauses in 997 ms.
    let mut stamps: Vec<u64> =
        (0..1000).map(|i: u64| (i * i * 7919 + i * 131) % 990).filter(|ms| !(300..420).contains(ms)).collect();
    stamps.push(997);
    stamps.sort();
    let file = std::env::temp_dir().join(format!("thalweg-cell-{}.trace", std::process::id()));
    std::fs::write(&file, stamps.iter().map(|ms| format!("{ms}\n")).collect::<String>()).unwrap();
    let run = run(&format!(
        r#"
        duration = "8 s"
        sample = "1 ms"
        packet = "1504 B"
        [path]
        trace = {file:?}
        rtt = "20 ms"
        buffer = "2000 packets"
        [[flow]]
        controller = "reno"
        receive-window = 1500
        "#
    ));
    std::fs::remove_file(&file).unwrap();
    let delivered = &run.outcome.flows[0].series.delivered;
    let mut expected = vec![0; 8000];
    for pass in 0..9 {
        for ms in &stamps {
            // The propagation delay is 10 ms. A packet that arrives at the end of a sample counts in that sample.
            if let Some(bytes) = (pass * 997 + ms + 10).checked_sub(1).and_then(|at| expected.get_mut(at as usize)) {
                *bytes += 1504;
            }
        }
    }
    // After the first round trips, in which the window grows.
    assert!(run.outcome.links[0].series.queue[2000..].iter().all(|&queue| queue > 0.0));
    assert_eq!(delivered[2000..], expected[2000..]);
    let figures = figures(&run);
    println!("{:.3} Mbps over a trace of {}", figures.throughput_mbps, run.run.experiment.links[0].forward.rate);
}

/// RRR-2008's handovers, with a flow that is limited by its receiver's window: the window is enough for either rate,
/// and the flow follows at once and without loss.
#[test]
fn a_window_follows_the_rate_up_down_and_through_an_interruption() {
    let run = run(r#"
        duration = "12 s"
        [path]
        rate = "10 Mbps"
        rtt = "40 ms"
        buffer = "1000 packets"
        change = [
            { at = "2 s", rate = "100 Mbps" },
            { at = "4 s", rate = "10 Mbps" },
            { at = "6 s", rate = "0 bps" },
            { at = "6.1 s", rate = "20 Mbps" },
            { at = "9 s", delay = "2 ms" },
        ]
        [[flow]]
        controller = "reno"
        receive-window = 600
        "#);
    let flow = &run.outcome.flows[0];
    let mbps = |from: f64, to: f64| {
        between(&run, &flow.series.delivered, from, to).iter().sum::<u64>() as f64 * 8e-6 / (to - from)
    };
    let rtt = |from: f64, to: f64| {
        between(&run, &flow.series.rtt, from, to).iter().fold(0.0, |most: f64, &rtt| most.max(rtt))
    };
    for (from, to, rate) in [(1.0, 2.0, 10.0), (2.5, 4.0, 100.0), (4.5, 6.0, 10.0), (6.5, 9.0, 20.0), (9.5, 12.0, 20.0)]
    {
        println!("{from} to {to} s: {:.2} Mbps, RTT up to {:.1} ms", mbps(from, to), 1e3 * rtt(from, to));
        assert!((mbps(from, to) / rate - 1.0).abs() < 0.01, "{from} s: {} Mbps", mbps(from, to));
    }
    assert!(between(&run, &flow.series.delivered, 6.05, 6.1)[0] == 0, "nothing moves");
    // The window lasts 240 ms at 20 Mbps, whatever the propagation delay. A shorter delay reorders no packets.
    assert_eq!((run.outcome.links[0].drops, flow.retransmitted_packets), (0, 0));
}

/// On links that lose in bursts, corrupt, reorder and duplicate packets, in both directions, every controller delivers
/// all of its data, and every packet that was sent or duplicated has arrived or was lost.
#[test]
fn all_data_arrives_over_links_that_lose_reorder_and_duplicate() {
    for recovery in ["sack", "newreno"] {
        for finished in runs(&format!(
            r#"
            duration = "200 s"
            sample = "1 s"
            [path]
            rate = "20 Mbps"
            rtt = "40 ms"
            buffer = "100 packets"
            packet-error = {{ p = 0.003, r = 0.3 }}
            corrupt = 0.001
            reorder = {{ probability = 0.01, delay = "7 ms" }}
            duplicate = 0.01
            [compare]
            {ALL}
            [[flow]]
            count = 2
            size = "2 MB"
            recovery = "{recovery}"
            "#
        )) {
            let figures = figures(&finished);
            let link = &figures.links[0];
            let again: u64 = figures.flows.iter().map(|flow| flow.retransmitted_packets).sum();
            let (sent, arrived) = (2 * 2000 + again, finished.outcome.packets_delivered);
            println!(
                "{:12} {recovery}: sent {sent}, doubled {}, late {}, lost {}, arrived {arrived}; done after {:?}",
                figures.name,
                link.duplicates,
                link.late,
                link.drops + link.errors + link.corrupted,
                figures.flows.iter().map(|flow| flow.completion_seconds.map(f64::round)).collect::<Vec<_>>()
            );
            assert!(figures.flows.iter().all(|flow| flow.completion_seconds.is_some()), "{}", figures.name);
            assert_eq!(sent + link.duplicates, arrived + link.drops + link.errors + link.corrupted, "{}", figures.name);
            assert!(
                link.corrupted > 0 && link.late > 10 && link.duplicates > 10 && link.errors > 0,
                "{}",
                figures.name
            );
        }
    }
}

/// ACK congestion (H. Balakrishnan, V. Padmanabhan, R. Katz, "The Effects of Asymmetry on TCP Performance", MobiCom
/// 1997): 12,500 packets per second arrive, and the reverse direction carries 1 Mbps / 320 bit = 3125 acknowledgments
/// per second, so that three of four find its buffer full. The others wait for the 10 before them, 3.2 ms.
#[test]
fn three_of_four_acknowledgments_are_dropped_at_a_quarter_of_their_rate() {
    let run = run(r#"
        duration = "20 s"
        measure.from = "5 s"
        [path]
        rate = "100 Mbps"
        rtt = "40 ms"
        buffer = "1000 packets"
        reverse = { rate = "1 Mbps", buffer = "10 packets" }
        [[flow]]
        controller = "reno"
        receive-window = 700
        "#);
    let figures = figures(&run);
    let [data, acks] = &figures.links[..] else { panic!("both directions are listed") };
    assert_eq!((data.name.as_str(), acks.name.as_str()), ("bottleneck", "bottleneck (reverse)"));
    assert!(data.utilization > 0.99 && acks.utilization > 0.99, "{} {}", data.utilization, acks.utilization);
    let dropped = acks.drops as f64 / (12_500.0 * 15.0);
    println!("{dropped:.4} of acknowledgments dropped, {:.2} packets waited", acks.mean_queue_packets);
    assert!((dropped - 0.75).abs() < 0.005 && (9.0..=10.0).contains(&acks.mean_queue_packets), "{dropped}");
    // 700 packets last 56 ms.
    assert_eq!((data.drops, figures.flows[0].retransmitted_packets), (0, 0));
    assert!((figures.flows[0].mean_rtt_ms - 56.0).abs() < 1.0, "{} ms", figures.flows[0].mean_rtt_ms);
}

/// Acknowledgments are cumulative: one of 20 is lost, and nothing is sent again.
#[test]
fn acknowledgments_that_are_lost_alone_cost_nothing() {
    let run = run(r#"
        duration = "20 s"
        [path]
        rate = "20 Mbps"
        rtt = "40 ms"
        buffer = "1000 packets"
        reverse = { packet-error = 0.05 }
        [[flow]]
        controller = "reno"
        receive-window = 200
        "#);
    let figures = figures(&run);
    let [data, acks] = &figures.links[..] else { panic!("both directions are listed") };
    let lost = acks.errors as f64 / run.outcome.packets_delivered as f64;
    assert!((lost - 0.05).abs() < 0.005 && data.errors == 0, "{lost}");
    assert_eq!(figures.flows[0].retransmitted_packets, 0);
    assert!(data.utilization > 0.97, "{}", data.utilization);
}

/// A flow in the reverse direction has the rate and the buffer of that direction, and acquires that rate.
#[test]
fn a_reverse_flow_fills_the_reverse_direction() {
    let run = run(r#"
        duration = "30 s"
        measure.from = "10 s"
        [path]
        rate = "100 Mbps"
        rtt = "40 ms"
        buffer = "1 bdp"
        reverse = { rate = "10 Mbps" }
        [[flow]]
        controller = "reno"
        direction = "reverse"
        "#);
    let figures = figures(&run);
    assert_eq!(figures.links[0].name, "bottleneck");
    // 10 Mbps x 40 ms are 50 packets.
    let link = &figures.links[1];
    assert!(link.utilization > 0.99 && link.max_queue_packets == 50, "{} {}", link.utilization, link.max_queue_packets);
    assert!(figures.links[0].drops == 0 && figures.flows[0].acquire_rtts.is_some());
}

/// A shaper of 20 Mbps on a link of 100 Mbps: a transfer of 1 MB finds tokens for all of it and takes as long as
/// without a shaper, one of 3 MB as long as its other 2 MB at the shaper's rate, and a flow without end acquires that
/// rate.
#[test]
fn a_burst_passes_a_shaper_and_a_long_transfer_has_its_rate() {
    let transfer = |size: &str, shaper: &str| {
        let run = run(&format!(
            r#"
            duration = "10 s"
            [path]
            rate = "100 Mbps"
            rtt = "10 ms"
            buffer = "5 MB"
            {shaper}
            [[flow]]
            controller = "reno"
            receive-window = 4000
            {size}
            "#
        ));
        let figures = figures(&run);
        (figures.flows[0].completion_seconds, figures.flows[0].acquire_rtts, figures.throughput_mbps)
    };
    let shaped = r#"shaper = { rate = "20 Mbps", burst = "1 MB" }"#;
    let done = |size: &str, shaper: &str| transfer(size, shaper).0.expect("it is completed");
    assert_eq!(done("size = \"1 MB\"", shaped), done("size = \"1 MB\"", ""));
    let longer = done("size = \"3 MB\"", shaped);
    // A bucket of 8 Mbit and tokens at 20 Mbps: 24 Mbit have passed after 0.8 s. In the first four round trips of slow
    // start, 2, 4, 8 and 16 packets are sent where tokens for 25 come, and a full bucket loses those for 70 packets: 28
    // ms. The last packet travels for 5 ms.
    println!("3 MB in {longer:.4} s");
    assert!((longer - 0.833).abs() < 0.002, "{longer}");
    let (_, acquired, mbps) = transfer("", shaped);
    assert!(acquired.is_some() && (20.0..21.0).contains(&mbps), "{mbps} Mbps");
}
