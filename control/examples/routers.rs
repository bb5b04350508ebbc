//! How long each router protocol takes per packet, in nanoseconds: arrival, departure and ticks, with 10 and with
//! 100,000 flows. No router keeps state per flow, so the two must be alike.
//!
//! `cargo run --release -p thalweg-control --example routers`

use std::time::Instant;
use thalweg_control::{Bytes, Port, Rate, Router, Stamp, Time, routers};

/// Packets per measurement.
const PACKETS: u64 = 5_000_000;
const PACKET: Bytes = Bytes(1000);
/// Measurements, of which the median is shown.
const REPEAT: usize = 5;

fn main() {
    println!("| router | 10 flows | 100,000 flows |\n|---|---:|---:|");
    let mut grows = false;
    for protocol in routers::all() {
        let cost = |flows: u64| {
            let mut costs = [0.0; REPEAT].map(|_| {
                let port = Port { capacity: Rate::from_gbps(10.0), buffer: Bytes(125_000_000) };
                let mut router = protocol.build(protocol.defaults(), &port).expect("defaults are valid");
                nanoseconds(router.as_mut(), protocol.name, flows)
            });
            costs.sort_by(f64::total_cmp);
            costs[REPEAT / 2]
        };
        let (few, many) = (cost(10), cost(100_000));
        println!("| `{}` | {few:.1} | {many:.1} |", protocol.name);
        grows |= many > 2.0 * few;
    }
    if grows {
        println!("\na packet costs more than twice as much with 100,000 flows as with 10");
        std::process::exit(1);
    }
}

/// The time per packet of a full link with this many flows.
fn nanoseconds(router: &mut dyn Router, protocol: &str, flows: u64) -> f64 {
    let gap = Rate::from_gbps(10.0).time_for(PACKET);
    let mut now = Time::ZERO;
    let begin = Instant::now();
    for i in 0..PACKETS {
        now += gap;
        while let Some(tick) = router.next_tick().filter(|&tick| tick <= now) {
            router.on_tick(tick, now, Bytes(0));
        }
        // Windows and round-trip times differ between flows.
        let flow = i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let rtt = 0.05 + (flow % flows) as f32 / flows as f32 / 10.0;
        let mut stamp = match protocol {
            "rcp" => Stamp::Rate { rate: f32::INFINITY, rtt },
            _ => Stamp::Window { window: 2.0 + (flow % flows % 1000) as f32, rtt, feedback: f32::INFINITY },
        };
        router.on_arrival(now, &mut stamp, PACKET, Bytes(0));
        router.on_departure(now, &mut stamp, PACKET, Bytes(0));
        std::hint::black_box(stamp);
    }
    begin.elapsed().as_secs_f64() * 1e9 / PACKETS as f64
}
