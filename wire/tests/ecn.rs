//! Packets are not-ECT: no sender here reacts to a router's marks (RFC 3168, section 6.1; RFC 9002, section 7.1).

extern crate thalweg_wire as wire;

mod common;

use common::{ANY, PROTOCOL, choice, noise, runtime, transfer};
use quinn::udp::{RecvMeta, UdpSockRef, UdpSocketState};
use std::io::IoSliceMut;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use wire::{Endpoint, Stamps};

/// Datagrams seen so far, and how many of them claimed in the IP header that their transport knows ECN.
#[derive(Default)]
struct Seen {
    all: AtomicU64,
    capable: AtomicU64,
}

/// A relay in front of `to` that looks at IP headers.
fn relay(to: SocketAddr, seen: Arc<Seen>, ended: Arc<AtomicBool>) -> SocketAddr {
    let socket = UdpSocket::bind(ANY).unwrap();
    let (own, state) = (socket.local_addr().unwrap(), UdpSocketState::new(UdpSockRef::from(&socket)).unwrap());
    socket.set_nonblocking(false).unwrap();
    socket.set_read_timeout(Some(std::time::Duration::from_millis(50))).unwrap();
    std::thread::spawn(move || {
        let (mut client, mut buffer, mut meta) = (None, vec![0; 65536], [RecvMeta::default()]);
        while !ended.load(Ordering::Relaxed) {
            let Ok(1) = state.recv(UdpSockRef::from(&socket), &mut [IoSliceMut::new(&mut buffer)], &mut meta) else {
                continue;
            };
            if meta[0].addr != to {
                client = Some(meta[0].addr);
            }
            let other = if meta[0].addr == to { client } else { Some(to) };
            for datagram in buffer[..meta[0].len].chunks(meta[0].stride) {
                seen.all.fetch_add(1, Ordering::Relaxed);
                seen.capable.fetch_add(u64::from(meta[0].ecn.is_some()), Ordering::Relaxed);
                let _ = other.map(|other| socket.send_to(datagram, other));
            }
        }
    });
    own
}

#[test]
fn no_packet_claims_that_its_sender_reacts_to_marks() {
    runtime().block_on(async {
        for name in ["cubic", "thalweg"] {
            let (seen, ended) = (Arc::<Seen>::default(), Arc::<AtomicBool>::default());
            let (server, address, fingerprint) = common::server(choice("cubic"));
            let via = relay(address, seen.clone(), ended.clone());
            let client = Endpoint::client(ANY, choice(name)).unwrap();
            let (near, far) = tokio::join!(client.connect_pinned(via, fingerprint, PROTOCOL), async {
                server.accept().await.unwrap().finish().await.unwrap()
            });
            let near = near.unwrap();
            assert_ne!(near.settled().await, Stamps::Refused);
            let data = noise(1 << 18);
            assert!(transfer(&near, &far, &data).await.1 == data);
            ended.store(true, Ordering::Relaxed);
            let (all, capable) = (seen.all.load(Ordering::Relaxed), seen.capable.load(Ordering::Relaxed));
            assert!(all > 30 && capable == 0, "{name}: {capable} of {all}");
        }
    });
}

#[test]
fn quinn_alone_claims_it() {
    runtime().block_on(async {
        let (seen, ended) = (Arc::<Seen>::default(), Arc::<AtomicBool>::default());
        let (server, address, fingerprint) = common::server(choice("cubic"));
        let via = relay(address, seen.clone(), ended.clone());
        let tls = wire::client_tls(fingerprint, None, PROTOCOL);
        let crypto = quinn::crypto::rustls::QuicClientConfig::try_from(tls).unwrap();
        let client = quinn::Endpoint::client(ANY).unwrap();
        let connecting = client.connect_with(quinn::ClientConfig::new(Arc::new(crypto)), via, "thalweg").unwrap();
        let (near, _far) = tokio::join!(connecting, async { server.accept().await.unwrap().finish().await.unwrap() });
        near.unwrap();
        ended.store(true, Ordering::Relaxed);
        assert!(seen.capable.load(Ordering::Relaxed) > 0, "the relay would see it");
    });
}
