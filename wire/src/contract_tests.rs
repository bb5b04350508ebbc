//! This host keeps the contract of the roles ([`control::roles`]): in this crate's own tests, `Choice` has every call
//! of a sender checked.

use crate::test_ends::{ANY, PROTOCOL, between, choice, noise, runtime, server, transfer};
use crate::{Endpoint, Stamps};
use std::time::Duration;

/// Transfers data with a controller over a path that loses one full datagram in forty, once the connection stands.
async fn transfers(name: &str) {
    let data = noise(1 << 18);
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
