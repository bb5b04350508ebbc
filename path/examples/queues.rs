//! What a packet costs in each queue discipline: `cargo run --release -p thalweg-path --example queues`.
//!
//! A million packets of 16 flows cross a link, as Poisson arrivals at 60, 95 and 140 % of its rate. The time counted is
//! that of their arrival, the queue's decisions and their exit. The result is the least of five runs, in nanoseconds of
//! real time per packet.

use control::{Bytes, Duration, Rate, Stamp, Time};
use std::time::Instant;
use thalweg_path::queue::{QueueSetup, Site, registry};
use thalweg_path::{Buffer, Link, Packet};

const PACKETS: usize = 1_000_000;
const BUFFER: Buffer = Buffer::Packets(1000);

/// A packet as large as the simulator's.
#[derive(Clone, Copy, Debug, Default)]
struct Parcel {
    flow: u64,
    _rest: [u64; 6],
}

impl Packet for Parcel {
    fn size(&self) -> Bytes {
        Bytes(1000)
    }
    fn flow(&self) -> u64 {
        self.flow
    }
    fn pass_hop(&mut self) {}
    fn set_hop(&mut self, _: u32) {}
    fn stamp(&mut self) -> Option<&mut Stamp> {
        None
    }
}

fn main() {
    let rate = Rate::from_gbps(1.0);
    let site = Site { rate, buffer: BUFFER, packet: Bytes(1000) };
    println!("| discipline | ns per packet at 60 % | at 95 % | at 140 % |\n|---|---:|---:|---:|");
    for discipline in registry::all() {
        let setup = discipline.setup(&Default::default(), &site).expect("the defaults make sense");
        let costs = [0.6, 0.95, 1.4].map(|load| cost(rate, &setup, load));
        println!("| {} | {:.0} | {:.0} | {:.0} |", discipline.title, costs[0], costs[1], costs[2]);
    }
}

/// Nanoseconds per packet at `load`, the ratio of arrivals to the link's rate.
fn cost(rate: Rate, setup: &QueueSetup, load: f64) -> f64 {
    let mean = rate.time_for(Bytes(1000)).0 as f64 / load;
    let mut random = 1u64;
    let arrivals: Vec<(Time, u64)> = (0..PACKETS)
        .scan(Time::ZERO, |now, _| {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let uniform = ((random >> 11) + 1) as f64 / (1u64 << 53) as f64;
            *now += Duration((-mean * uniform.ln()) as u64);
            Some((*now, random >> 20 & 15))
        })
        .collect();
    let run = |_| {
        let mut link: Link<Parcel> = Link::new(Some(rate), Duration::from_millis(1), BUFFER);
        if !setup.is_drop_tail() {
            link = link.with_queue(setup.build(rate, BUFFER, 1).expect("the discipline is in the registry"));
        }
        let begin = Instant::now();
        for &(now, flow) in &arrivals {
            while link.next_exit().is_some_and(|exit| exit <= now) {
                std::hint::black_box(link.first());
                link.exit();
            }
            link.arrive(now, &Parcel { flow, _rest: [0; 6] });
        }
        begin.elapsed().as_nanos() as f64 / PACKETS as f64
    };
    (0..5).map(run).fold(f64::INFINITY, f64::min)
}
