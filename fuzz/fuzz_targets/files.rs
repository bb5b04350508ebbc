//! The files that scenarios name (traces of delivery opportunities, distributions of sizes) and the outcomes that the
//! cache of runs keeps: no bytes make a reader panic, hang or take much memory, and the error that it reports is one
//! line. A link follows each trace that is accepted. The first byte says which kind of file the rest is.
#![no_main]

use control::{Bytes, Duration, Stamp, Time};
use experiment::Outcome;
use libfuzzer_sys::fuzz_target;
use path::{Buffer, Link, Packet, Trace};
use scenario::Machine;
use std::num::NonZero;
use std::sync::Arc;

/// A scenario whose one link follows a trace.
const SCENARIO: &str = "duration = \"1 s\"\npath = { trace = \"trace\", rtt = \"10 ms\", buffer = 10 }\n\
    flow = [{ controller = \"reno\" }]\n";

fuzz_target!(|data: &[u8]| {
    let Some((kind, bytes)) = data.split_first() else { return };
    match kind % 3 {
        0 => trace(bytes),
        1 => match scenario::fuzzing::sizes(bytes) {
            Ok(sizes) => assert!((0.0..=1e15).contains(&sizes.mean()), "{}", sizes.mean()),
            Err(message) => assert_eq!(message.lines().count(), 1, "{message}"),
        },
        _ => drop(postcard::from_bytes::<Outcome>(bytes)),
    }
});

fn trace(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let machine = Machine { memory: 20_000_000, jobs: NonZero::<usize>::MIN };
    match scenario::read_beside("fuzz.toml", SCENARIO, &[], &machine, &|_| Some(text.to_string())) {
        Ok(plan) => {
            let trace = plan.runs[0].experiment.links[0].forward.trace.clone();
            follow(&trace.expect("a link that follows it"));
        }
        Err(problems) => assert!(problems.iter().all(|problem| problem.to_string().lines().count() == 1)),
    }
}

/// Packets cross a link that follows `trace`, with times without packets between them.
fn follow(trace: &Arc<Trace>) {
    let mut link = Link::new(None, Duration::from_millis(1), Buffer::Packets(10)).with_trace(trace.clone());
    let mut now = Time::ZERO;
    for exponent in 0..60 {
        now = now.max(Time(1 << exponent));
        for _ in 0..8 {
            link.arrive(now, &Plain);
        }
        while let Some(exit) = link.next_exit() {
            assert!(exit >= now, "a packet leaves before it came");
            if exit == Time::MAX {
                return; // never
            }
            now = exit;
            link.exit();
        }
    }
}

/// A packet of 1500 bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Plain;

impl Packet for Plain {
    fn size(&self) -> Bytes {
        Bytes(1500)
    }
    fn flow(&self) -> u64 {
        0
    }
    fn pass_hop(&mut self) {}
    fn set_hop(&mut self, _: u32) {}
    fn stamp(&mut self) -> Option<&mut Stamp> {
        None
    }
}
