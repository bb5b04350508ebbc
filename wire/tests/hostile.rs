//! An attacker on the path who duplicates, truncates, changes and invents datagrams, but has no key.

extern crate thalweg_wire as wire;

mod common;

use common::{ANY, PROTOCOL, between, choice, noise, runtime, transfer};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use wire::{Endpoint, Stamps};

/// Adds the attacker's datagrams to each that passes. Counts the stamped ones that pass.
fn meddle(meddles: Arc<AtomicBool>, stamped: Arc<AtomicU64>) -> impl FnMut(&[u8]) -> Vec<Vec<u8>> {
    let mut random = noise(1 << 16).into_iter().cycle();
    move |datagram| {
        let size = datagram.len();
        if size >= header::SIZE && datagram[0] == header::MAGIC {
            stamped.fetch_add(1, Ordering::Relaxed);
        }
        if !meddles.load(Ordering::Relaxed) {
            return vec![datagram.to_vec()];
        }
        let mut chance = || random.next().unwrap() as usize;
        let mut changed = datagram.to_vec();
        changed[chance() % size] ^= 1 + (chance() % 255) as u8;
        let mut invented: Vec<u8> = (0..1 + chance() * 4).map(|_| chance() as u8).collect();
        if chance() % 2 == 0 {
            invented[0] = header::MAGIC;
        }
        let cut = datagram[..chance() % size].to_vec();
        // Its header may be genuine, but what follows is not.
        let mut garbage = datagram.to_vec();
        garbage.iter_mut().skip(header::SIZE).for_each(|byte| *byte = chance() as u8);
        // Garbage behind the genuine header comes first; then the datagram, a copy, and three that are wrong.
        vec![garbage, datagram.to_vec(), datagram.to_vec(), changed, invented, cut]
    }
}

#[test]
fn forged_replayed_truncated_and_random_datagrams_neither_break_a_transfer_nor_change_its_reports() {
    let data = noise(1 << 18);
    for name in ["rapid", "rrrp"] {
        runtime().block_on(async {
            let (server, address, fingerprint) = common::server(choice("cubic"));
            let (meddles, stamped) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
            let via = between(address, meddle(meddles.clone(), stamped.clone())).await;
            let client = Endpoint::client(ANY, choice(name)).unwrap();
            let (near, far) = tokio::join!(client.connect_pinned(via, fingerprint, PROTOCOL), async {
                server.accept().await.unwrap().finish().await.unwrap()
            });
            let near = near.unwrap();
            assert_eq!(near.settled().await, Stamps::On);
            meddles.store(true, Ordering::Relaxed);
            let carried = tokio::time::timeout(Duration::from_secs(20), transfer(&near, &far, &data)).await;
            let Ok((time, got)) = carried else { panic!("{name}: not done; {:?} {:?}", near.state(), near.stats()) };
            assert!(got == data);
            let (stamped, dropped) = (stamped.load(Ordering::Relaxed), server.invalid_headers());
            println!("{name}: {time:.0?}, {stamped} stamped datagrams, {dropped} others dropped, {:?}", near.state());
            assert!(stamped >= (data.len() / 1460) as u64, "{stamped} packets of up to 1452 bytes");
            // Every other one that is invented begins as a header does.
            assert!(dropped > stamped / 4, "{dropped} of {stamped}");
            let lost = near.stats().path.lost_packets;
            assert!(lost < stamped / 4, "{lost} of {stamped}: what is genuine gets through");
        });
    }
}
