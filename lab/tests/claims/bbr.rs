//! What BBR's draft claims: full links with short queues, in shallow buffers and under random losses, alone and beside
//! other BBR flows.

use crate::simulate::{between, figures, run, runs};
use control::Phase;

/// Packets of one bandwidth-delay product of 1 Gbps and 100 ms.
const BDP: f64 = 12_500.0;

/// Alone: Startup doubles per round trip; then the link is full but for the 1 % margin and ProbeRTT's 2 % (sections
/// 5.6.2, 5.3.4.2), the queue empty but for the probes, and nothing is lost in a buffer of one bandwidth-delay product.
#[test]
fn fills_a_gigabit_with_a_short_queue() {
    let run = run(r#"
        duration = "20 s"
        measure.from = "3 s"
        path = { rate = "1 Gbps", rtt = "100 ms", buffer = "1 bdp" }
        [[flow]]
        controller = "bbr"
        "#);
    let (figures, flow) = (figures(&run), &run.outcome.flows[0]);
    let (link, acquired) = (&figures.links[0], figures.flows[0].acquire_rtts);
    println!(
        "acquires in {acquired:?} RTTs, used {:.4}, queue {:.0} packets in the mean and {} at most, {} drops",
        link.utilization, link.mean_queue_packets, link.max_queue_packets, link.drops
    );
    // log2(12,500 packets / 10) is 10.3.
    assert!(acquired.is_some_and(|rtts| (9.0..14.0).contains(&rtts)), "{acquired:?}");
    assert!(link.utilization > 0.95, "{}", link.utilization);
    assert!(link.mean_queue_packets < 0.2 * BDP, "{}", link.mean_queue_packets);
    assert_eq!(link.drops, 0);

    // ProbeRTT comes every 5 s, unless draining after a probe shows the least round-trip time, and lasts 200 ms and a
    // round trip. It is visible in the samples.
    let probing = |phase: &Option<Phase>| *phase == Some(Phase::ProbeRtt);
    let times: Vec<f64> = run.outcome.sampled.iter().map(|time| time.as_secs()).collect();
    let starts: Vec<f64> = (1..times.len())
        .filter(|&k| probing(&flow.series.phase[k]) && !probing(&flow.series.phase[k - 1]))
        .map(|k| times[k])
        .collect();
    let share = flow.series.phase.iter().filter(|phase| probing(phase)).count() as f64 / times.len() as f64;
    println!("ProbeRTT at {starts:.2?} s, {:.1} % of the time", 100.0 * share);
    assert!((2..=3).contains(&starts.len()), "{starts:?}");
    assert!(starts.windows(2).all(|pair| pair[1] - pair[0] > 5.0));
    assert!(share < 0.06);
    for &start in &starts {
        let least = between(&run, &flow.series.rtt, start, start + 0.3).into_iter().fold(f64::INFINITY, f64::min);
        assert!(least < 0.1001, "{least}");
    }
}

/// Constant traffic leaves half of the link, then all of it: the probes find that within two of their cycles of 2 to 3
/// s, each of which raises the bandwidth by a quarter per round trip.
#[test]
fn finds_bandwidth_that_becomes_free_and_gives_way_when_it_goes() {
    let run = run(r#"
        duration = "40 s"
        path = { rate = "1 Gbps", rtt = "100 ms", buffer = "1 bdp" }
        [[flow]]
        controller = "bbr"
        [[traffic]]
        kind = "cbr"
        rate = "500 Mbps"
        stop = "15 s"
        [[traffic]]
        kind = "cbr"
        rate = "500 Mbps"
        start = "27 s"
        "#);
    let rate = |from, to| {
        let bytes: u64 = between(&run, &run.outcome.flows[0].series.delivered, from, to).iter().sum();
        bytes as f64 * 8e-6 / (to - from)
    };
    let (half, all, again) = (rate(8.0, 15.0), rate(21.0, 27.0), rate(33.0, 40.0));
    println!("{half:.0} Mbps beside 500, {all:.0} Mbps alone, {again:.0} Mbps beside 500 again");
    assert!((450.0..510.0).contains(&half), "{half}");
    assert!(all > 900.0, "{all}");
    assert!((450.0..560.0).contains(&again), "{again}");
}

#[test]
fn two_flows_share() {
    for buffer in ["0.25 bdp", "1 bdp"] {
        let run = run(&format!(
            r#"
            duration = "100 s"
            measure.from = "20 s"
            path = {{ rate = "100 Mbps", rtt = "50 ms", buffer = "{buffer}" }}
            [[flow]]
            controller = "bbr"
            [[flow]]
            controller = "bbr"
            start = "3 s"
            "#
        ));
        let figures = figures(&run);
        let (jain, used) = (figures.jain, figures.links[0].utilization);
        println!("{buffer}: Jain {jain:.4}, used {used:.4}");
        assert!(jain > 0.9 && used > 0.95, "{jain}, {used}");
    }
}

/// Losses below the threshold of 2 % are not taken for congestion (section 3.2): 1 % of packets and acknowledgments
/// lost at random leaves BBR most of the link. In between probes it gives way by the loss rate per round trip (section
/// 5.3.3.8.3). Reno's window is that of its response function, of about 12 packets.
#[test]
fn survives_random_losses_that_stop_reno() {
    let used: Vec<f64> = runs(
        r#"
        duration = "40 s"
        measure.from = "5 s"
        path = { rate = "100 Mbps", rtt = "100 ms", buffer = "1 bdp", packet-error = 0.01 }
        [compare]
        controllers = ["bbr", "reno"]
        "#,
    )
    .iter()
    .map(|run| figures(run).links[0].utilization)
    .collect();
    println!("1 % lost: BBR uses {:.3} of the link, Reno {:.3}", used[0], used[1]);
    assert!(used[0] > 0.8 && used[1] < 0.02, "{used:?}");
}

/// In a buffer that cannot hold what a probe sends, inflight_longterm learns how much the buffer holds, and little is
/// lost. The flow leaves a headroom of 15 % (section 5.3.3.1). With a buffer of b bandwidth-delay products that costs
/// link utilization: 0.85 (1 + b) of the link is used between probes.
#[test]
fn loses_little_in_a_shallow_buffer() {
    for (buffer, between_probes) in [(0.05, 0.8925), (0.1, 0.935), (0.25, 1.0)] {
        let run = run(&format!(
            r#"
            duration = "30 s"
            measure.from = "5 s"
            path = {{ rate = "100 Mbps", rtt = "50 ms", buffer = "{buffer} bdp" }}
            [[flow]]
            controller = "bbr"
            "#
        ));
        let (figures, flow) = (figures(&run), &run.outcome.flows[0]);
        let link = &figures.links[0];
        let lost = link.drops as f64 / (flow.delivered.0 as f64 / 1000.0);
        println!("{buffer} bdp: used {:.4}, lost {:.3} %", link.utilization, 100.0 * lost);
        assert!(link.utilization > between_probes - 0.04, "{}", link.utilization);
        assert!(lost < 0.005, "{lost}");
    }
}

/// Startup ends upon losses above the threshold (section 5.3.1.3), before three round trips without growth would end
/// it, so that half as much is lost.
#[test]
fn startup_ends_when_it_loses_too_much() {
    let drops = runs(
        r#"
        duration = "3 s"
        path = { rate = "1 Gbps", rtt = "100 ms", buffer = "0.25 bdp" }
        [[flow]]
        controller = "bbr"
        [sweep]
        "controller.bbr.loss-threshold" = [0.02, 0.5]
        "#,
    )
    .iter()
    .map(|run| figures(run).links[0].drops)
    .collect::<Vec<_>>();
    println!("{} packets lost with a threshold of 2 %, {} with 50 %", drops[0], drops[1]);
    assert!(0.6 * drops[1] as f64 > drops[0] as f64, "{drops:?}");
}
