//! Two endpoints on loopback, for tests.
#![allow(dead_code)] // no test uses all of it

use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};
use wire::{Choice, Connection, Endpoint, Fingerprint, Identity, server_tls};

pub const PROTOCOL: &[u8] = b"test";
pub const ANY: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

pub fn choice(name: &str) -> Choice {
    let mut parameters = serde_json::Map::new();
    if name == "rapid-2009" {
        // It begins at 100 kbps, with packets 96 ms apart. If the scheduler delays one of the first few, that reads as
        // congestion at half of this, and at 50 kbps the next stream takes six seconds.
        parameters.insert("initial-rate".into(), "10 Mbps".into());
    }
    Choice::new(name, &parameters).unwrap()
}

/// A server, its address and the fingerprint to trust it by.
pub fn server(choice: Choice) -> (Endpoint, SocketAddr, Fingerprint) {
    let identity = Identity::new().unwrap();
    let fingerprint = identity.fingerprint();
    let server = Endpoint::server(ANY, choice, server_tls(identity, None, PROTOCOL).unwrap()).unwrap();
    let address = server.quinn().local_addr().unwrap();
    (server, address, fingerprint)
}

/// The client's and the server's end of a connection, with their endpoints.
pub async fn pair(name: &str) -> (Connection, Connection, Endpoint, Endpoint) {
    let (server, address, fingerprint) = server(choice("cubic"));
    let client = Endpoint::client(ANY, choice(name)).unwrap();
    let (near, far) = tokio::join!(client.connect_pinned(address, fingerprint, PROTOCOL), async {
        server.accept().await.unwrap().finish().await.unwrap()
    });
    (near.unwrap(), far, client, server)
}

/// Bytes that look random: they neither compress nor repeat.
pub fn noise(size: usize) -> Vec<u8> {
    let mut x = 0x9e37_79b9_7f4a_7c15u64;
    let next = move || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        x as u8
    };
    std::iter::repeat_with(next).take(size).collect()
}

/// Sends `data` from `near` to `far` over a new stream. Returns how long that took, and what arrived.
pub async fn transfer(near: &Connection, far: &quinn::Connection, data: &[u8]) -> (Duration, Vec<u8>) {
    let begin = Instant::now();
    let (_, got) = tokio::join!(
        async {
            let mut stream = near.open_uni().await.unwrap();
            stream.write_all(data).await.unwrap();
            stream.finish().unwrap();
            let _ = stream.stopped().await;
        },
        async { far.accept_uni().await.unwrap().read_to_end(1 << 30).await.unwrap() }
    );
    (begin.elapsed(), got)
}

pub fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// Starts a relay between the first host that sends to it and the server at `to`, in a background task, and returns its
/// address. In the place of each datagram it passes on what `make` makes of it.
pub async fn between(to: SocketAddr, mut make: impl FnMut(&[u8]) -> Vec<Vec<u8>> + Send + 'static) -> SocketAddr {
    let socket = tokio::net::UdpSocket::bind(ANY).await.unwrap();
    // Room for a window that arrives at once: what follows a full window, as probes of path MTU discovery do, would
    // always be lost otherwise.
    socket2::SockRef::from(&socket).set_recv_buffer_size(4 << 20).unwrap();
    let own = socket.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut client, mut buffer) = (None, vec![0; 65536]);
        loop {
            let Ok((size, from)) = socket.recv_from(&mut buffer).await else { continue };
            let other = if from == to {
                let Some(client) = client else { continue };
                client
            } else {
                client = Some(from);
                to
            };
            for datagram in make(&buffer[..size]) {
                let _ = socket.send_to(&datagram, other).await;
            }
        }
    });
    own
}
