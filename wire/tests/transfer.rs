//! Transfers with every controller, in real time, and with plain QUIC peers.

extern crate thalweg_wire as wire;

mod common;

use common::{ANY, PROTOCOL, choice, noise, pair, runtime, transfer};
use std::sync::Arc;
use std::time::Duration;
use wire::{Endpoint, Identity, Stamps, server_tls};

#[test]
fn every_controller_delivers_every_byte() {
    let data = noise(1 << 19);
    for controller in control::registry::all() {
        let name = controller.name;
        runtime().block_on(async {
            let (near, far, ..) = pair(name).await;
            let stamps = near.settled().await;
            assert_eq!(stamps, if choice(name).needs_stamps() { Stamps::On } else { Stamps::Unneeded }, "{name}");
            let carried = tokio::time::timeout(Duration::from_secs(20), transfer(&near, &far, &data)).await;
            let Ok((time, got)) = carried else {
                panic!("{name}: not done in 20 s; {:?} {:?}", near.state(), near.stats())
            };
            assert!(got == data, "{name}: {} of {} bytes, or others", got.len(), data.len());
            let lost = near.stats().path.lost_packets;
            println!("{name:12} {:7.1} ms, {lost:3} packets lost, {:?}", time.as_secs_f64() * 1e3, near.state());
        });
    }
}

#[test]
fn a_plain_quic_server_is_talked_to_with_a_window_controller() {
    let data = noise(1 << 18);
    for (name, expected) in [("cubic", Stamps::Unneeded), ("rapid", Stamps::Refused)] {
        runtime().block_on(async {
            let identity = Identity::new().unwrap();
            let fingerprint = identity.fingerprint();
            let tls = server_tls(identity, None, PROTOCOL).unwrap();
            let crypto = quinn::crypto::rustls::QuicServerConfig::try_from(tls).unwrap();
            let plain = quinn::Endpoint::server(quinn::ServerConfig::with_crypto(Arc::new(crypto)), ANY).unwrap();
            let client = Endpoint::client(ANY, choice(name)).unwrap();
            let (near, far) =
                tokio::join!(client.connect_pinned(plain.local_addr().unwrap(), fingerprint, PROTOCOL), async {
                    plain.accept().await.unwrap().await.unwrap()
                });
            let near = near.unwrap();
            assert_eq!(near.settled().await, expected, "{name}");
            let state = near.state();
            assert!(state.window.is_some(), "{name}: a window controller decides, not {state:?}");
            assert!(transfer(&near, &far, &data).await.1 == data);
        });
    }
}

#[test]
fn a_plain_quic_client_is_served() {
    let data = noise(1 << 18);
    runtime().block_on(async {
        let (server, address, fingerprint) = common::server(choice("rapid"));
        let crypto =
            quinn::crypto::rustls::QuicClientConfig::try_from(wire::client_tls(fingerprint, None, PROTOCOL)).unwrap();
        let plain = quinn::Endpoint::client(ANY).unwrap();
        let config = quinn::ClientConfig::new(Arc::new(crypto));
        let (near, far) = tokio::join!(plain.connect_with(config, address, "thalweg").unwrap(), async {
            server.accept().await.unwrap().finish().await.unwrap()
        });
        assert_eq!(far.settled().await, Stamps::Refused);
        assert!(transfer(&far, &near.unwrap(), &data).await.1 == data);
    });
}

#[test]
fn only_the_holder_of_the_certificate_is_trusted() {
    runtime().block_on(async {
        let (server, address, _) = common::server(choice("cubic"));
        let client = Endpoint::client(ANY, choice("cubic")).unwrap();
        let other = Identity::new().unwrap().fingerprint();
        let (refused, _) = tokio::join!(client.connect_pinned(address, other, PROTOCOL), async {
            server.accept().await.unwrap().finish().await.is_err()
        });
        assert!(refused.err().unwrap().to_string().contains("fingerprint"));
    });
}
