//! This host keeps the contract of the roles ([`control::roles`]): in this crate's own tests, `Choice` has every call
//! of a sender checked.

use crate::test_ends::{ANY, PROTOCOL, between, choice, noise, runtime, server, transfer};
use crate::{Endpoint, Fingerprint, Stamps};
use std::net::SocketAddr;
use std::time::Duration;

/// Transfers data with a controller over a path that loses one full datagram in forty, once the connection stands.
async fn transfers(name: &str) {
    // Where packets may grow, more data, so that there are enough of them to lose some. Elsewhere no more than what
    // RAPID carries in 20 s at its least rate, 100 kbps, to which losses may bring it down.
    let data = noise(if choice(name).needs_stamps() { 1 << 17 } else { 1 << 20 });
    let (server, address, fingerprint) = server(choice("cubic"));
    let mut full = 0u32;
    let lossy = move |datagram: &[u8]| {
        full += u32::from(datagram.len() > 600);
        let is_lost = datagram.len() > 600 && full > 20 && full.is_multiple_of(40);
        if is_lost { vec![] } else { vec![datagram.to_vec()] }
    };
    let client = Endpoint::client(ANY, choice(name)).unwrap();
    let via = between(address, lossy).await;
    let (near, far) = tokio::join!(client.connect_pinned(via, fingerprint, PROTOCOL), async {
        server.accept().await.unwrap().finish().await.unwrap()
    });
    let near = near.unwrap();
    assert_ne!(near.settled().await, Stamps::Refused, "{name}");
    let carried = tokio::time::timeout(Duration::from_secs(20), transfer(&near, &far, &data)).await;
    let Ok((_, got)) = carried else { panic!("{name}: not done in 20 s; {:?} {:?}", near.state(), near.stats()) };
    assert!(got == data, "{name}");
    assert!(near.stats().path.lost_packets > 0, "{name}: nothing was lost");
}

#[test]
fn every_controller_is_told_of_losses_and_acknowledgments_as_the_contract_says() {
    for controller in control::registry::all() {
        runtime().block_on(transfers(controller.name));
    }
}

/// One connection of `client`.
async fn carries(client: Endpoint, server: Endpoint, address: SocketAddr, fingerprint: Fingerprint) {
    let data = noise(1 << 19);
    let (near, far) = tokio::join!(client.connect_pinned(address, fingerprint, PROTOCOL), async {
        server.accept().await.unwrap().finish().await.unwrap()
    });
    let near = near.unwrap();
    // The server's ends are taken in any order: each connection sends on both of its ends.
    let (sent, received) = tokio::join!(
        async {
            let mut stream = near.open_uni().await.unwrap();
            stream.write_all(&data).await.unwrap();
            stream.finish().unwrap();
            stream.stopped().await.unwrap();
            near
        },
        async { far.accept_uni().await.unwrap().read_to_end(1 << 20).await.unwrap() }
    );
    assert!(received == data, "{}", sent.controller());
}

/// quinn's drivers move between threads, and what they leave on a thread between two calls must be found again.
#[test]
fn connections_of_one_endpoint_on_several_threads_keep_the_contract() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build().unwrap();
    runtime.block_on(async {
        let (server, address, fingerprint) = server(choice("cubic"));
        let client = Endpoint::client(ANY, choice("cubic")).unwrap();
        let mut tasks = tokio::task::JoinSet::new();
        for name in ["cubic", "bbr", "thalweg", "thalweg-hybrid", "rrrp", "newreno", "rapid", "cubic"] {
            tasks.spawn(carries(client.with_choice(choice(name)), server.clone(), address, fingerprint));
        }
        let all = async { while tasks.join_next().await.map(Result::unwrap).is_some() {} };
        tokio::time::timeout(Duration::from_secs(30), all).await.expect("done within 30 s");
    });
}
