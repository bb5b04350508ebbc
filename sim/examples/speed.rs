//! Packets per second of window-limited flows: `speed FLOWS SECONDS`.
use control::*;
use sim::*;
fn main() {
    let mut args = std::env::args().skip(1);
    let n: usize = args.next().unwrap().parse().unwrap();
    let secs: u64 = args.next().unwrap().parse().unwrap();
    let name = args.next().unwrap_or("reno".into());
    let window: u64 = args.next().unwrap_or("12500".into()).parse().unwrap();
    let gbps: f64 = args.next().unwrap_or("1".into()).parse().unwrap();
    let c = registry::find(&name).unwrap();
    let flow = Flow {
        controller: name,
        parameters: c.defaults().clone(),
        recovery: c.recovery,
        route: Route { links: vec![0], reverse: false },
        rtt: Duration::from_millis(100),
        access: None,
        start: Time::ZERO,
        stop: None,
        size: None,
        packet: Bytes(1000),
        ack_size: Bytes(40),
        receive_window: if window == 0 { None } else { Some((window / n as u64).max(1)) },
        delayed_ack: None,
        min_rto: Duration::from_millis(200),
    };
    let e = Experiment {
        seed: 1,
        duration: Duration::from_millis(1000 * secs),
        sample: Duration::from_millis(1000),
        measure: (Time::ZERO + Duration::from_millis(1000), Time::ZERO + Duration::from_millis(1000 * secs)),
        links: vec![Link {
            name: "bottleneck".into(),
            rate: Rate::from_gbps(gbps),
            delay: Duration::from_millis(50),
            buffer: Buffer::Packets((12500. * gbps) as u64),
            packet_error: 0.0,
        }],
        flows: (0..n).map(|i| Flow { start: Time(i as u64 * 100_000_000_000 / n as u64), ..flow.clone() }).collect(),
        cross: vec![],
    };
    let t = std::time::Instant::now();
    let o = run(&e, &mut |_| true).unwrap().unwrap();
    let s = t.elapsed().as_secs_f64();
    println!(
        "{n} flows: {:.2} M packets, {:.2} M/s, {:.1} ns/packet, {:.2} events/packet, util {:.4} mean q {:.1} max {} drops {} retx {} loss {} to {} acq {:?}",
        o.packets_delivered as f64 / 1e6,
        o.packets_delivered as f64 / 1e6 / s,
        s * 1e9 / o.packets_delivered as f64,
        o.events as f64 / o.packets_delivered as f64,
        o.links[0].utilization,
        o.links[0].mean_queue,
        o.links[0].max_queue,
        o.links[0].drops,
        o.flows[0].retransmitted_packets,
        o.flows[0].loss_events,
        o.flows[0].timeouts,
        o.flows[0].acquired.map(|d| d.as_secs()),
    );
}
