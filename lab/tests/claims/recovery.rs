//! Thousands of losses at once: all are repaired, with no more events than a run without losses. (`bench/run` measures
//! what an event costs then, that is, the time in the scoreboard.)

use crate::simulate::{figures, run};
use experiment::Finished;

/// One flow on 1 Gbps and 100 ms with a buffer of one bandwidth-delay product: slow start fills both and doubles its
/// window once more.
fn fill(controller: &str, window: &str) -> Finished {
    run(&format!(
        r#"
        duration = "12 s"
        measure.from = "8 s"
        path = {{ rate = "1 Gbps", rtt = "100 ms", buffer = "1 bdp" }}
        [[flow]]
        controller = "{controller}"
        {window}
        "#
    ))
}

fn events_per_packet(run: &Finished) -> f64 {
    run.outcome.events as f64 / run.outcome.packets_delivered as f64
}

#[test]
fn an_overshoot_of_thousands_of_packets_is_repaired_in_as_many_events_as_none() {
    let loss_free = events_per_packet(&fill("reno", "receive-window = 12500"));
    println!("loss-free: {loss_free:.4} events per packet");
    for controller in ["reno", "highspeed", "bic", "scalable", "newreno"] {
        let finished = fill(controller, "");
        let drops = &finished.outcome.links[0].series.drops;
        let (lost, in_slow_start) = (drops.iter().sum::<u32>(), drops[..40].iter().sum::<u32>()); // 2 s
        let (figures, events) = (figures(&finished), events_per_packet(&finished));
        let (flow, used) = (&figures.flows[0], figures.links[0].utilization);
        println!(
            "{controller:10} lost {in_slow_start} in 2 s, {lost} in all, sent again {}, {} timeouts, {} loss events, {events:.4} \
             events per packet, used {used:.4} from 8 s on, goodput {:.1} Mbps",
            flow.retransmitted_packets, flow.timeouts, flow.loss_events, flow.throughput_mbps,
        );
        assert!(in_slow_start > 10_000, "{controller}");
        assert!((events / loss_free - 1.0).abs() < 0.01, "{controller}: {events} events per packet");
        assert!(used > 0.999 && flow.throughput_mbps > 999.0, "{controller}: {used}, {}", flow.throughput_mbps);
        if controller != "newreno" {
            // Each lost packet is sent again once: no packet is sent again in vain, and no repair waits for a timeout.
            assert_eq!((flow.retransmitted_packets, flow.timeouts), (u64::from(lost), 0), "{controller}");
        }
    }
}
