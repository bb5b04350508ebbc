//! Claims of RCP-AC, and of the protocols that it is compared with: RCP and XCP.

use crate::simulate::{between, figures, run, runs, shipped};
use experiment::Finished;
use experiment::{jain, mean};
use thalweg_lab::results::SizeBin;

/// Figure 1's link: 100 Mbps, 80 ms, a buffer of 1000 packets; and the arrival of its flash crowd, in seconds.
const CAPACITY: f64 = 100e6;
const RTT: f64 = 0.08;
const BUFFER: u64 = 1000;
const CROWD: f64 = 15.0;
const END: f64 = 30.0;

/// The rate that the router of the only link allows, between two times.
fn allowed(run: &Finished, from: f64, to: f64) -> Vec<f64> {
    between(run, &run.outcome.links[0].series.allowed, from, to)
}

/// Mean throughput of flow `i`, in Mbps.
fn rate(run: &Finished, i: usize, from: f64, to: f64) -> f64 {
    let bytes: u64 = between(run, &run.outcome.flows[i].series.delivered, from, to).iter().sum();
    bytes as f64 * 8e-6 / (to - from)
}

/// The longest queue of the only link and the packets that it drops, between two times in seconds.
fn worst(run: &Finished, from: f64, to: f64) -> (u64, u32) {
    let series = &run.outcome.links[0].series;
    let queue = between(run, &series.max_queue, from, to).into_iter().max().unwrap();
    (queue, between(run, &series.drops, from, to).iter().sum())
}

/// The number of round trips until the allowed rate has fallen to a hundredth of the capacity, within 10 %.
fn round_trips_to_the_new_share(run: &Finished) -> f64 {
    let step = run.run.experiment.sample.as_secs();
    let samples = allowed(run, CROWD, END).iter().position(|&rate| rate <= 1.1 * CAPACITY / 100.0).unwrap();
    (samples + 1) as f64 * step / RTT
}

fn print(run: &Finished) {
    let (queue, drops) = worst(run, CROWD, END);
    println!(
        "{}: worst queue {queue}, {drops} drops, new share after {:.1} RTTs, R at the end {:.3} Mbps",
        run.run.name(),
        round_trips_to_the_new_share(run),
        mean(&allowed(run, 25.0, END)) / 1e6
    );
}

/// Figure 1.
#[test]
fn a_flash_crowd_does_not_flood_rcp_ac_and_floods_rcp() {
    let runs = shipped("flash-crowd.toml", &["compare.controllers=[\"rcp-ac\", \"rcp\"]"]);
    let [rcp_ac, rcp] = &runs[..] else { panic!() };
    runs.iter().for_each(print);
    for run in &runs {
        let before = mean(&allowed(run, 10.0, CROWD)) / (CAPACITY / 10.0);
        let after = mean(&allowed(run, 25.0, END)) / (CAPACITY / 100.0);
        assert!((before - 1.0).abs() < 0.1 && (after - 1.0).abs() < 0.1, "{before}, {after}");
    }
    // No loss, and half of the buffer at most.
    assert_eq!(figures(rcp_ac).links[0].drops, 0);
    assert!(worst(rcp_ac, CROWD, END).0 <= BUFFER / 2);
    // RCP-AC, section III: "With RCP, we would have seen a surge in queue occupancy, or lots of dropped packets".
    let (queue, drops) = worst(rcp, CROWD, END);
    assert!(queue == BUFFER && drops > 1000, "{queue}, {drops}");
    // Figure 1 (b): the first flow gives way while the last one climbs.
    let (first, last) = (rate(rcp_ac, 0, 25.0, END), rate(rcp_ac, 99, 25.0, END));
    println!("flow 0 from {:.2} to {first:.2} Mbps, flow 99 to {last:.2}", rate(rcp_ac, 0, 10.0, CROWD));
    assert!((first - 1.0).abs() < 0.1 && (last - 1.0).abs() < 0.1);
    let climb: Vec<f64> =
        (0..4).map(|i| rate(rcp_ac, 99, CROWD + 0.4 * i as f64, CROWD + 0.4 * (i + 1) as f64)).collect();
    assert!(climb.is_sorted(), "{climb:?}");
}

/// Square of the correlation.
fn r_squared(points: &[(f64, f64)]) -> f64 {
    let (x, y): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
    let (mx, my) = (mean(&x), mean(&y));
    let sum = |f: &dyn Fn(f64, f64) -> f64| points.iter().map(|&(x, y)| f(x - mx, y - my)).sum::<f64>();
    sum(&|x, y| x * y).powi(2) / (sum(&|x, _| x * x) * sum(&|_, y| y * y))
}

/// Figure 1 with gamma from 0.05 to 1: "the size of the queue spike is a linear function of gamma B". In four times the
/// buffer and with a fourth of each gamma, which is the same to the router, so that the spike is not cut off where the
/// buffer ends.
#[test]
fn the_worst_queue_is_linear_in_gamma() {
    let gammas = [0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0];
    let quarters = gammas.map(|gamma| gamma / 4.0);
    let runs = shipped(
        "flash-crowd.toml",
        &[
            "compare.controllers=[\"rcp-ac\"]",
            "duration=25 s",
            "path.buffer=4 bdp",
            "path.queue={ kind = \"rcp-ac\" }",
            &format!("sweep.\"path.queue.gamma\"={quarters:?}"),
        ],
    );
    let points: Vec<(f64, f64)> =
        gammas.iter().zip(&runs).map(|(&gamma, run)| (gamma, worst(run, CROWD, 25.0).0 as f64)).collect();
    println!("gamma, worst queue: {points:?}; r^2 = {:.4}", r_squared(&points));
    assert!(r_squared(&points) >= 0.95);
}

/// RCP's fixed point is stable: RTTs of 10, 100 and 1000 ms with 1, 10 and 1000 flows, all of which begin at once.
#[test]
fn rcp_is_stable_and_fair_whatever_delay_and_number_of_flows() {
    for (rtt, mbps) in [(0.01, 2000.0), (0.1, 300.0), (1.0, 50.0)] {
        let runs = runs(&format!(
            r#"
            duration = "{} s"
            sample = "{} s"
            path = {{ rate = "{mbps} Mbps", rtt = "{rtt} s", buffer = "1 bdp", queue = "rcp" }}
            measure.from = "{} s"
            [[flow]]
            controller = "rcp"
            [sweep]
            "flow[0].count" = [1, 10, 1000]
            "#,
            150.0 * rtt,
            rtt / 4.0,
            100.0 * rtt
        ));
        for run in &runs {
            let (share, figures) = (mbps * 1e6 / run.outcome.flows.len() as f64, figures(run));
            let rates = allowed(run, 100.0 * rtt, 150.0 * rtt);
            let (low, high) = rates.iter().fold((f64::MAX, 0f64), |(a, b), &r| (a.min(r / share), b.max(r / share)));
            let link = &figures.links[0];
            println!(
                "{rtt} s, {} flows: R/(C/N) {low:.3} to {high:.3}, used {:.3}, mean queue {:.1}, Jain {:.4}",
                run.outcome.flows.len(),
                link.utilization,
                link.mean_queue_packets,
                figures.jain
            );
            assert!(low >= 0.9 && high <= 1.1 && link.utilization >= 0.95, "{low}, {high}, {}", link.utilization);
        }
    }
}

#[test]
fn xcp_alone_fills_the_link_without_a_queue_and_shares_it_equally() {
    let runs = runs(
        r#"
        duration = "20 s"
        measure.from = "10 s"
        path = { rate = "100 Mbps", rtt = "80 ms", buffer = "1 bdp", queue = "xcp" }
        [[flow]]
        controller = "xcp"
        start = { uniform = ["0 s", "5 s"] }
        [sweep]
        "flow[0].count" = [1, 10, 30]
        "#,
    );
    for run in &runs {
        let figures = figures(run);
        let link = &figures.links[0];
        println!(
            "{} flows: used {:.3}, mean queue {:.2}, Jain {:.4}",
            run.outcome.flows.len(),
            link.utilization,
            link.mean_queue_packets,
            figures.jain
        );
        assert!(link.utilization >= 0.95 && link.mean_queue_packets < 0.02 * BUFFER as f64 && figures.jain >= 0.99);
        assert_eq!(link.drops, 0);
    }
}

/// A flow over a narrow and a wide link gets what the narrow one allows, whichever comes first, and the other flow on
/// the wide link gets the rest.
#[test]
fn the_smallest_allocation_on_the_route_wins() {
    for protocol in ["rcp", "rcp-ac", "xcp"] {
        for route in ["[\"wide\", \"narrow\"]", "[\"narrow\", \"wide\"]"] {
            let run = run(&format!(
                r#"
                duration = "25 s"
                measure.from = "15 s"
                link = [
                  {{ name = "wide", rate = "100 Mbps", delay = "20 ms", buffer = "1 bdp", queue = "{protocol}" }},
                  {{ name = "narrow", rate = "20 Mbps", delay = "20 ms", buffer = "1 bdp", queue = "{protocol}" }},
                ]
                [[flow]]
                controller = "{protocol}"
                route = {route}
                [[flow]]
                controller = "{protocol}"
                route = ["wide"]
                "#
            ));
            let figures = figures(&run);
            let got = [0, 1].map(|i: usize| figures.flows[i].throughput_mbps);
            println!(
                "{protocol}, {route}: {got:.2?} Mbps, {} drops",
                figures.links.iter().map(|l| l.drops).sum::<u64>()
            );
            // XCP gives and takes a tenth of the wide link all the time, of which the first flow cannot use its half.
            // At rest, what the second flow is given is what is taken from it: 0.05 u = (1 - 0.2/u)(0.1 u - 0.4 (1 -
            // u)), so that u = 0.917 of it is used.
            let used = if protocol == "xcp" { 91.7 } else { 100.0 };
            assert!(got[0] > 0.95 * 20.0 && got[0] <= 20.0, "{got:?}");
            assert!(((got[0] + got[1]) / used - 1.0).abs() < 0.01, "{got:?}");
        }
    }
}

/// Routers count traffic that does not react, and allow flows what it leaves.
#[test]
fn flows_share_what_other_traffic_leaves() {
    for protocol in ["rcp", "rcp-ac", "xcp"] {
        let figures = figures(&run(&format!(
            r#"
            duration = "25 s"
            measure.from = "10 s"
            path = {{ rate = "100 Mbps", rtt = "80 ms", buffer = "1 bdp", queue = "matching" }}
            [[flow]]
            controller = "{protocol}"
            count = 5
            [[traffic]]
            kind = "poisson"
            rate = "30 Mbps"
            "#
        )));
        let shares: Vec<f64> = figures.flows.iter().map(|flow| flow.throughput_mbps).collect();
        let (total, link) = (shares.iter().sum::<f64>(), &figures.links[0]);
        println!(
            "{protocol}: {total:.1} of 70 Mbps, Jain {:.4}, mean queue {:.1}, {} drops",
            jain(&shares),
            link.mean_queue_packets,
            link.drops
        );
        assert!(total >= 0.95 * 70.0 && jain(&shares) >= 0.99 && link.drops == 0);
    }
}

/// On a path without routers, each protocol behaves as Reno.
#[test]
fn without_a_router_they_are_reno() {
    let goodput = |controller: &str| {
        let figures = figures(&run(&format!(
            r#"
            duration = "60 s"
            path = {{ rate = "20 Mbps", rtt = "40 ms", buffer = "50 packets" }}
            flow = [{{ controller = "{controller}" }}]
            "#
        )));
        println!("{controller}: {:.2} Mbps, {} loss events", figures.throughput_mbps, figures.flows[0].loss_events);
        figures.throughput_mbps
    };
    let reno = goodput("reno");
    for protocol in ["rcp", "rcp-ac", "xcp"] {
        assert!((goodput(protocol) / reno - 1.0).abs() < 0.03);
    }
}

/// A link becomes ten times slower, and faster again: its router allows rates by its present capacity.
#[test]
fn routers_follow_a_change_of_capacity() {
    for protocol in ["rcp", "rcp-ac", "xcp"] {
        let run = run(&format!(
            r#"
            duration = "40 s"
            [path]
            rate = "100 Mbps"
            rtt = "80 ms"
            buffer = "1 bdp"
            queue = "matching"
            change = [{{ at = "10 s", rate = "10 Mbps" }}, {{ at = "30 s", rate = "100 Mbps" }}]
            [[flow]]
            controller = "{protocol}"
            count = 5
            "#
        ));
        let total = |from, to| (0..5).map(|i| rate(&run, i, from, to)).sum::<f64>();
        let queue = mean(&between(&run, &run.outcome.links[0].series.queue, 25.0, 30.0));
        let (before, slow, after) = (total(8.0, 10.0), total(25.0, 30.0), total(35.0, 40.0));
        println!("{protocol}: {before:.1}, {slow:.2} (queue {queue:.1}) and {after:.1} Mbps");
        assert!(before > 97.0 && slow > 9.7 && after > 97.0 && queue < 50.0);
    }
}

/// Mean completion times of the only traffic, by size, of flows of 10 to 1000 packets of 1000 bytes.
fn completion(run: &Finished) -> Vec<SizeBin> {
    let bins = figures(run).traffic.remove(0).completion_by_size;
    bins.into_iter().filter(|bin| bin.bytes[0] >= 10_000 && bin.bytes[1] <= 1_000_000).collect()
}

/// Figure 2, at a sixteenth of its speed (150 Mbps in place of 2.4 Gbps; the same RTT, sizes and load), so that a
/// flow's size is a larger part of the bandwidth-delay product, and a flow of the traffic. XCP's first window is a
/// packet, as RCP-AC's.
#[test]
fn short_flows_finish_the_sooner_the_larger_gamma_and_far_sooner_than_with_xcp() {
    let of = |controller: &str, queue: &str| {
        let controllers = format!("compare.controllers=[\"{controller}\"]");
        let run = shipped(
            "short-flows.toml",
            &["duration=40 s", "measure.from=5 s", "controller.xcp.initial-window=1", &controllers, queue],
        )
        .remove(0);
        completion(&run)
    };
    let gamma = |gamma: f64| of("rcp-ac", &format!("path.queue={{ kind = \"rcp-ac\", gamma = {gamma} }}"));
    let (rcp, large, small, xcp) = (of("rcp", "path.queue=rcp"), gamma(5.0), gamma(0.2), of("xcp", "path.queue=xcp"));
    assert_eq!(rcp.len(), 8, "four bins per factor of ten");
    println!("from bytes: processor sharing, RCP, RCP-AC with gamma = 5 and 0.2, XCP (ms)");
    for (i, bin) in rcp.iter().enumerate() {
        let ideal = bin.ideal_seconds.unwrap();
        let times = [ideal, bin.mean_seconds, large[i].mean_seconds, small[i].mean_seconds, xcp[i].mean_seconds];
        println!("{}: {:.0?}", bin.bytes[0], times.map(|seconds| 1e3 * seconds));
        assert!(times.is_sorted(), "{times:?}");
        let [.., small, xcp] = times;
        assert!(xcp > 1.15 * small && (bin.bytes[0] < 100_000 || xcp > 1.5 * small), "{xcp}, {small}");
    }
}

/// With a handshake, the first rate arrives with the handshake: a lone flow takes 1.5 RTTs, its transmission time at
/// full rate, and that of one packet.
#[test]
fn a_lone_transfer_takes_what_processor_sharing_does() {
    let run = run(r#"
        duration = "20 s"
        path = { rate = "100 Mbps", rtt = "100 ms", buffer = "1 bdp", queue = { kind = "rcp", initial-rate = 1.0 } }
        traffic = [{ kind = "flows", per-second = 0.5, size = "1 MB", controller = "rcp" }]
        "#);
    for bin in figures(&run).traffic.remove(0).completion_by_size {
        let (mean, ideal) = (bin.mean_seconds, bin.ideal_seconds.unwrap());
        println!("{} transfers: {mean:.4} s, processor sharing {ideal:.4} s", bin.transfers);
        assert!((mean / ideal - 1.0).abs() < 0.02, "{mean}, {ideal}");
    }
}
