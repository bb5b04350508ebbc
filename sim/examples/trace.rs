use control::*;
use sim::*;
fn main() {
    let mut args = std::env::args().skip(1);
    let name = args.next().unwrap();
    let gbps: f64 = args.next().unwrap().parse().unwrap();
    let packet: u64 = args.next().unwrap().parse().unwrap();
    let c = registry::find(&name).unwrap();
    let mut over = serde_json::Map::new();
    for kv in args {
        let (k, v) = kv.split_once('=').unwrap();
        over.insert(k.into(), serde_json::from_str(v).unwrap_or(serde_json::Value::String(v.into())));
    }
    let flow = Flow {
        controller: name,
        parameters: c.parameters(&over).unwrap(),
        recovery: c.recovery,
        route: Route { links: vec![0], reverse: false },
        rtt: Duration::from_millis(100),
        access: None,
        start: Time::ZERO,
        stop: None,
        size: None,
        packet: Bytes(packet),
        ack_size: Bytes(40),
        receive_window: None,
        delayed_ack: None,
        min_rto: Duration::from_millis(200),
    };
    let e = Experiment {
        seed: 1,
        duration: Duration::from_millis(5000),
        sample: Duration::from_millis(50),
        measure: (Time::ZERO + Duration::from_millis(1000), Time::ZERO + Duration::from_millis(5000)),
        links: vec![Link {
            name: "b".into(),
            rate: Rate::from_gbps(gbps),
            delay: Duration::from_millis(50),
            buffer: Buffer::Packets((12500. * gbps) as u64),
            packet_error: 0.0,
        }],
        flows: vec![flow],
        cross: vec![],
    };
    let o = run(&e, &mut |_| true).unwrap().unwrap();
    let s = &o.flows[0].series;
    let d: Vec<f64> = s.delivered.iter().map(|&b| b as f64 * 8.0 / 0.05 / 1e9 / gbps).collect();
    for i in 0..60 {
        let m: f64 = d[i..i + 20].iter().sum::<f64>() / 20.0;
        println!(
            "{:.2} rate {:.4} got {:.4} next10 {:.4} maxq {}",
            (i + 1) as f64 * 0.05,
            s.rate[i] / 1e9 / gbps,
            d[i],
            m,
            o.links[0].series.max_queue[i]
        );
    }
    println!("acq {:?} util {:.4}", o.flows[0].acquired, o.links[0].utilization);
}
