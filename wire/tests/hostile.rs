//! Someone between the two ends who duplicates, cuts, changes and invents datagrams, but has no key.

mod common;

use common::{ANY, PROTOCOL, choice, noise, runtime, transfer};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use wire::{Endpoint, Stamps};

/// Carries datagrams between the first who sends and `to`; to each it adds its own. Counts the stamped ones it saw.
async fn meddle(socket: tokio::net::UdpSocket, to: SocketAddr, meddles: Arc<AtomicBool>, stamped: Arc<AtomicU64>) {
    let (mut client, mut buffer) = (None, vec![0; 65536]);
    let mut random = noise(1 << 16).into_iter().cycle();
    loop {
        let Ok((size, from)) = socket.recv_from(&mut buffer).await else { continue };
        let other = if from == to {
            let Some(client) = client else { continue };
            client
        } else {
            client = Some(from);
            to
        };
        let datagram = &buffer[..size];
        let _ = socket.send_to(datagram, other).await;
        if size >= header::SIZE && datagram[0] == header::MAGIC {
            stamped.fetch_add(1, Ordering::Relaxed);
        }
        if !meddles.load(Ordering::Relaxed) {
            continue;
        }
        let mut chance = || random.next().unwrap() as usize;
        let mut changed = datagram.to_vec();
        changed[chance() % size] ^= 1 + (chance() % 255) as u8;
        let mut invented: Vec<u8> = (0..1 + chance() * 4).map(|_| chance() as u8).collect();
        if chance() % 2 == 0 {
            invented[0] = header::MAGIC;
        }
        let cut = &datagram[..chance() % size];
        for bytes in [datagram, &changed, &invented, cut] {
            let _ = socket.send_to(bytes, other).await; // a copy, and three that are wrong
        }
    }
}

#[test]
fn what_is_forged_replayed_cut_or_random_neither_breaks_nor_speeds_up_a_transfer() {
    let data = noise(1 << 18);
    for name in ["rapid", "rrrp"] {
        runtime().block_on(async {
            let (server, address, fingerprint) = common::server(choice("cubic"));
            let between = tokio::net::UdpSocket::bind(ANY).await.unwrap();
            let via = between.local_addr().unwrap();
            let (meddles, stamped) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
            tokio::spawn(meddle(between, address, meddles.clone(), stamped.clone()));
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
            let (stamped, refused) = (stamped.load(Ordering::Relaxed), server.refused());
            println!("{name}: {time:.0?}, {stamped} stamped datagrams, {refused} others refused, {:?}", near.state());
            assert!(stamped >= (data.len() / 1200) as u64, "{stamped}");
            // Of each, the copy and the changed one, if it got there, and what was invented.
            assert!(refused > stamped, "{refused} of {stamped}");
        });
    }
}
