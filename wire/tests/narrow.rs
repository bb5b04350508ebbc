//! Paths that carry datagrams only up to a size.

extern crate thalweg_wire as wire;

mod common;

use common::{ANY, PROTOCOL, between, choice, noise, runtime, transfer};
use std::time::Duration;
use wire::{Choice, Endpoint, Stamps};

/// The UDP payload, in bytes, of an IPv6 packet of 1280 bytes, which every path must carry.
const IPV6: usize = 1280 - 40 - 8;

async fn transfers(name: &str) {
    let data = noise(1 << 20);
    let (server, address, fingerprint) = common::server(choice("cubic"));
    let pass = |datagram: &[u8]| if datagram.len() <= IPV6 { vec![datagram.to_vec()] } else { vec![] };
    let via = between(address, pass).await;
    // A hybrid sends plain packets until it hands over, here soon.
    let soon = serde_json::json!({"threshold": "2 kB"});
    let chosen =
        if name == "thalweg-hybrid" { Choice::new(name, soon.as_object().unwrap()).unwrap() } else { choice(name) };
    let client = Endpoint::client(ANY, chosen).unwrap();
    let (near, far) = tokio::join!(client.connect_pinned(via, fingerprint, PROTOCOL), async {
        server.accept().await.unwrap().finish().await.unwrap()
    });
    let near = near.unwrap();
    assert_eq!(near.settled().await, Stamps::On, "{name}: small packets pass");
    // A transfer may be over before the hybrid hands over, as that needs a round trip without a queue.
    for _ in 0..10 {
        let carried = tokio::time::timeout(Duration::from_secs(20), transfer(&near, &far, &data)).await;
        let Ok((time, got)) = carried else { panic!("{name}: not done; {:?} {:?}", near.state(), near.stats()) };
        assert!(got == data);
        println!("{name}: {time:.0?}, {:?}", near.state());
        if near.stamps() != Stamps::On {
            break;
        }
    }
    // If small packets have shown first that no router answers, a window without stamps decides already.
    let is_unanswered = name == "rcp" && near.stamps() == Stamps::Unanswered;
    assert!(is_unanswered || near.stamps() == Stamps::Blocked, "{name}: {:?}", near.stamps());
    assert!(near.state().window.is_some(), "{name}: {:?}", near.state());
}

#[test]
fn a_window_controller_decides_where_stamped_packets_are_too_large() {
    runtime().block_on(async { tokio::join!(transfers("rapid"), transfers("thalweg-hybrid"), transfers("rcp")) });
}

/// How many bytes larger the packets may be that would pass than those that the search ends with.
const EXACTNESS: usize = 8;

/// The size that path MTU discovery finds where datagrams of up to `carried` bytes pass, once that is at least
/// `enough`.
async fn discovered(carried: usize, jumbo: bool, enough: usize) -> usize {
    let data = noise(4 << 20);
    let (server, address, fingerprint) = common::server(choice("cubic"));
    let pass = move |datagram: &[u8]| if datagram.len() <= carried { vec![datagram.to_vec()] } else { vec![] };
    let via = between(address, pass).await;
    // It sends plain packets until it hands over, so that only its probes show what room there is for headers.
    let builder = Endpoint::builder(choice("thalweg-hybrid"));
    let client = if jumbo { builder.jumbo_frames() } else { builder }.bind(ANY).unwrap();
    let (near, far) = tokio::join!(client.connect_pinned(via, fingerprint, PROTOCOL), async {
        server.accept().await.unwrap().finish().await.unwrap()
    });
    let near = near.unwrap();
    let mut found = 0;
    for _ in 0..100 {
        assert!(transfer(&near, &far, &data).await.1 == data);
        found = near.stats().path.current_mtu.into();
        if found >= enough {
            break;
        }
    }
    assert_eq!(near.stamps(), Stamps::On);
    found
}

#[test]
fn packets_that_path_mtu_discovery_finds_leave_room_for_a_header() {
    runtime().block_on(async {
        for (carried, jumbo) in [(1500 - 20 - 8, false), (9000 - 20 - 8, true), (60_000, false)] {
            let room = carried.min(if jumbo { 8952 } else { 1452 } + header::ROUTED) - header::ROUTED;
            let mtu = discovered(carried, jumbo, room - EXACTNESS).await;
            assert!((room - EXACTNESS..=room).contains(&mtu), "{mtu} of {room}");
        }
    });
}
