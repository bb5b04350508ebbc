//! 2 to 100 flows with RTTs from 60 to 165 ms on 1 Gbps, measured over the last 40 of 100 seconds:
//! `scenarios/many-flows.toml`.

use crate::simulate::{between, figures, shipped};

#[test]
fn thalweg_uses_the_link_and_divides_it_equally_at_every_scale() {
    let mut misses = Vec::new();
    for seed in [1, 2] {
        for run in shipped("many-flows.toml", &["compare.controllers=[\"thalweg\"]", &format!("seed={seed}")]) {
            let figures = figures(&run);
            let (link, median) = (&figures.links[0], figures.jain_500ms_median.unwrap());
            let line = format!(
                "seed {seed}, {:3} flows: used {:.3}, mean queue {:6.1}, drops {}, Jain {:.3} over 40 s, {median:.3} at 500 ms",
                figures.flows.len(),
                link.utilization,
                link.mean_queue_packets,
                link.drops,
                figures.jain
            );
            println!("{line}");
            let queue = link.mean_queue_packets;
            if link.utilization < 0.85 || queue >= 50.0 || link.drops > 0 || figures.jain < 0.98 || median < 0.95 {
                misses.push(line);
            }
        }
    }
    assert!(misses.is_empty(), "{misses:#?}");
}

/// The published versions of RAPID overload a link that 50 flows share, because each flow increases its rate by the
/// whole spare bandwidth. But the flows recover: a flow that gets no feedback slows down, and a full buffer empties
/// again.
#[test]
fn the_published_versions_never_collapse_for_good() {
    let sets = ["compare.controllers=[\"rapid-2009\", \"rapid\"]", "sweep={ \"flow[0].count\" = [50] }"];
    for run in shipped("many-flows.toml", &sets) {
        let buffer = 14_063.0; // 1 Gbps x 112.5 ms
        let delivered = |from: f64, to: f64| {
            let of =
                |flow: &experiment::FlowOutcome| between(&run, &flow.series.delivered, from, to).iter().sum::<u64>();
            run.outcome.flows.iter().map(of).sum::<u64>() as f64 * 8.0 / (to - from) / 1e9
        };
        let shares: Vec<f64> = (0..8).map(|i| delivered(60.0 + 5.0 * i as f64, 65.0 + 5.0 * i as f64)).collect();
        let emptiest = [60.0, 80.0].map(|from| {
            let queue = between(&run, &run.outcome.links[0].series.queue, from, from + 20.0);
            queue.into_iter().fold(f64::INFINITY, f64::min) / buffer
        });
        let figures = figures(&run);
        println!(
            "{:10} goodput in windows of 5 s {shares:.2?}; used {:.3}, mean queue {:.0}, drops {}, Jain {:.3}, {:.3}; emptiest {emptiest:.3?}",
            figures.controller,
            figures.links[0].utilization,
            figures.links[0].mean_queue_packets,
            figures.links[0].drops,
            figures.jain,
            figures.jain_500ms_median.unwrap()
        );
        assert!(shares.iter().all(|&share| share >= 0.5), "{}: {shares:?}", figures.name);
        assert!(emptiest.iter().all(|&queue| queue < 0.1), "{}: {emptiest:?}", figures.name);
    }
}
