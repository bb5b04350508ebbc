//! The queue discipline of CONTRIBUTING.md, which is this module, word for word.

use control::{Bytes, Duration, Rate, Stamp, Time};
use thalweg_path::queue::{Drops, Queueing, Site};
use thalweg_path::{Buffer, Link, Packet, queue};

#[path = "contributing/lifetime.rs"]
mod lifetime;

#[derive(Clone, Copy, Debug, Default)]
struct Parcel(u64);

impl Packet for Parcel {
    fn size(&self) -> Bytes {
        Bytes(1000)
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

const SITE: Site = Site { rate: Rate::from_bps(1e6), buffer: Buffer::Packets(10), packet: Bytes(1000) };

fn ms(ms: u64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}

#[test]
fn the_example_is_the_one_that_compiles() {
    assert!(include_str!("../../CONTRIBUTING.md").contains(include_str!("contributing/lifetime.rs")));
}

#[test]
fn the_example_drops_what_has_waited_for_too_long() {
    let mut queue = lifetime::Parameters::default().queue(&SITE, 1);
    let mut drops = Drops::default();
    queue.enqueue(ms(0), &Parcel(0), Duration::ZERO, &mut drops);
    queue.enqueue(ms(20), &Parcel(1), Duration::ZERO, &mut drops);
    assert_eq!((queue.len(), queue.bytes()), (2, Bytes(2000)));
    assert_eq!(queue.dequeue(ms(60), &mut drops).map(|packet| packet.0), Some(1));
    assert_eq!((drops.early, drops.full, queue.bytes()), (1, 0, Bytes(0)));
    (0..12).for_each(|i| queue.enqueue(ms(100), &Parcel(i), Duration::ZERO, &mut drops));
    assert_eq!((drops.full, queue.len()), (2, 10));
    assert_eq!(lifetime::Parameters { limit: Duration::ZERO }.check(&SITE).len(), 1);
}

/// A packet takes 8 ms: behind six others, it has waited for 48 ms, and behind seven for 56.
#[test]
fn the_example_works_in_a_link() {
    let queue = lifetime::Parameters::default().queue(&SITE, 1);
    let mut link = Link::new(Some(SITE.rate), Duration::ZERO, SITE.buffer).with_queue(queue);
    for i in 0..11 {
        link.arrive(ms(0), &Parcel(i));
    }
    let mut passed = 0;
    while link.next_exit().is_some() {
        link.exit();
        passed += 1;
    }
    assert_eq!((passed, link.observe(ms(1000)).early), (7, 4));
}
