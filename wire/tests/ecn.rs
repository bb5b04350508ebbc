//! The ECN field of packets: Not-ECT unless the controller was chosen to send otherwise, and again where the path or
//! the peer do not support it (RFC 3168, section 6.1; RFC 9000, section 13.4).

extern crate thalweg_wire as wire;

mod common;

use common::{ANY, PROTOCOL, choice, noise, runtime, transfer};
use quinn::udp::{EcnCodepoint, RecvMeta, Transmit, UdpSockRef, UdpSocketState};
use std::io::IoSliceMut;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use wire::{Connection, EcnState, Endpoint, Stamps};

/// Datagrams seen so far that came from the client, by their ECN field; and those from the server that were
/// ECN-capable.
#[derive(Default)]
struct Seen {
    all: AtomicU64,
    ect0: AtomicU64,
    ect1: AtomicU64,
    back: AtomicU64,
}

impl Seen {
    fn counts(&self) -> [u64; 4] {
        [&self.all, &self.ect0, &self.ect1, &self.back].map(|count| count.load(Ordering::Relaxed))
    }
}

/// What a relay does with datagrams that are ECN-capable.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Network {
    Passes,
    Clears,
    Drops,
    Marks,
    /// Changes the codepoint to ECT(0) or ECT(1).
    Changes(EcnCodepoint),
}

/// A relay in front of `to`.
struct Relay {
    address: SocketAddr,
    seen: Arc<Seen>,
    ended: Arc<AtomicBool>,
}

impl Relay {
    fn start(to: SocketAddr, network: Network) -> Relay {
        let socket = UdpSocket::bind(ANY).unwrap();
        let (address, state) = (socket.local_addr().unwrap(), UdpSocketState::new(UdpSockRef::from(&socket)).unwrap());
        socket.set_nonblocking(false).unwrap();
        socket.set_read_timeout(Some(std::time::Duration::from_millis(50))).unwrap();
        let (seen, ended) = (Arc::<Seen>::default(), Arc::<AtomicBool>::default());
        let (seeing, ending) = (seen.clone(), ended.clone());
        std::thread::spawn(move || {
            let (mut client, mut buffer, mut meta) = (None, vec![0; 65536], [RecvMeta::default()]);
            while !ending.load(Ordering::Relaxed) {
                let Ok(1) = state.recv(UdpSockRef::from(&socket), &mut [IoSliceMut::new(&mut buffer)], &mut meta)
                else {
                    continue;
                };
                let RecvMeta { addr, len, stride, ecn, .. } = meta[0];
                let forward = addr != to;
                if forward {
                    client = Some(addr);
                }
                let Some(destination) = (if forward { Some(to) } else { client }) else { continue };
                let after = match (ecn, network) {
                    (None, _) | (_, Network::Passes) => ecn,
                    (_, Network::Clears) => None,
                    (_, Network::Marks) => Some(EcnCodepoint::Ce),
                    (_, Network::Changes(codepoint)) => Some(codepoint),
                    (_, Network::Drops) => {
                        seeing.ect0.fetch_add((len / stride.max(1)) as u64, Ordering::Relaxed);
                        continue;
                    }
                };
                for contents in buffer[..len].chunks(stride) {
                    let capable = |codepoint| u64::from(forward && ecn == Some(codepoint));
                    seeing.all.fetch_add(u64::from(forward), Ordering::Relaxed);
                    seeing.ect0.fetch_add(capable(EcnCodepoint::Ect0), Ordering::Relaxed);
                    seeing.ect1.fetch_add(capable(EcnCodepoint::Ect1), Ordering::Relaxed);
                    seeing.back.fetch_add(u64::from(!forward && ecn.is_some()), Ordering::Relaxed);
                    let transmit = Transmit { destination, ecn: after, contents, segment_size: None, src_ip: None };
                    let _ = state.send(UdpSockRef::from(&socket), &transmit);
                }
            }
        });
        Relay { address, seen, ended }
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
    }
}

/// A connection whose client sends with `name` and ECN, through such a network: its two ends, what keeps them, and the
/// relay.
async fn connect(name: &str, network: Network) -> (Connection, Connection, [Endpoint; 2], Relay) {
    let (server, address, fingerprint) = common::server(choice("cubic").with_ecn().unwrap());
    let relay = Relay::start(address, network);
    let client = Endpoint::client(ANY, choice(name).with_ecn().unwrap()).unwrap();
    let (near, far) = tokio::join!(client.connect_pinned(relay.address, fingerprint, PROTOCOL), async {
        server.accept().await.unwrap().finish().await.unwrap()
    });
    (near.unwrap(), far, [client, server], relay)
}

#[test]
fn data_is_capable_and_acknowledgments_are_not_and_both_ends_find_that_the_path_supports_it() {
    let data = noise(1 << 20);
    for (name, is_l4s) in [("cubic", false), ("reno", false), ("prague", true), ("dctcp", true)] {
        runtime().block_on(async {
            let (near, far, _ends, relay) = connect(name, Network::Passes).await;
            assert!(transfer(&near, &far, &data).await.1 == data);
            assert_eq!(near.ecn(), EcnState::Capable, "{name}");
            let [all, ect0, ect1, back] = relay.seen.counts();
            println!("{name}: {ect0} and {ect1} of {all}, {back} back");
            let (capable, other) = if is_l4s { (ect1, ect0) } else { (ect0, ect1) };
            // All but the handshake, and what left between the tenth packet and its acknowledgment.
            assert!(capable > all * 3 / 4 && other == 0, "{name}: {ect0} and {ect1} of {all}");
            assert_eq!(back, 0, "{name}: the other end has sent no data");
            // The server's end sends, too.
            assert!(transfer(&far, &near, &data).await.1 == data);
            assert_eq!(far.ecn(), EcnState::Capable, "{name}");
            assert!(relay.seen.counts()[3] > 500, "{name}");
        });
    }
}

/// Marks hold a controller back as losses would, but nothing is lost and sent again.
#[test]
fn a_controller_whose_packets_are_all_marked_keeps_a_small_window() {
    let data = noise(1 << 20);
    for (name, window) in [("cubic", 4.0), ("prague", 4.0)] {
        runtime().block_on(async {
            let windows = [Network::Passes, Network::Marks].map(async |network| {
                let (near, far, _ends, _relay) = connect(name, network).await;
                assert!(transfer(&near, &far, &data).await.1 == data);
                assert_eq!(near.ecn(), EcnState::Capable, "{name}");
                near.state().window.unwrap()
            });
            let [passed, marked] = windows;
            let (passed, marked) = (passed.await, marked.await);
            println!("{name}: {passed} packets, {marked} if all are marked");
            assert!(passed > 10.0 && marked <= window, "{name}: {passed}, {marked}");
        });
    }
}

#[test]
fn what_a_path_or_peer_does_not_support_is_found_and_the_data_arrive() {
    let data = noise(1 << 20);
    let cases = [
        ("cubic", Network::Clears, EcnState::Failed),
        ("prague", Network::Clears, EcnState::Failed),
        ("cubic", Network::Changes(EcnCodepoint::Ect1), EcnState::Failed),
        ("prague", Network::Changes(EcnCodepoint::Ect0), EcnState::Failed),
        ("cubic", Network::Drops, EcnState::Unknown),
        ("prague", Network::Drops, EcnState::Unknown),
    ];
    for (name, network, expected) in cases {
        runtime().block_on(async {
            let (near, far, _ends, relay) = connect(name, network).await;
            assert!(transfer(&near, &far, &data).await.1 == data);
            assert_eq!(near.ecn(), expected, "{name}");
            let [_, ect0, ect1, _] = relay.seen.counts();
            println!("{name}: {ect0} and {ect1}");
            assert!(transfer(&near, &far, &data).await.1 == data);
            let later = relay.seen.counts();
            assert_eq!([later[1], later[2]], [ect0, ect1], "{name}: no more of them");
        });
    }
}

/// Any QUIC peer reports counts that this end can use.
#[test]
fn a_plain_quic_server_reports_counts() {
    let data = noise(1 << 20);
    for name in ["cubic", "prague"] {
        runtime().block_on(async {
            let identity = wire::Identity::new().unwrap();
            let fingerprint = identity.fingerprint();
            let tls = wire::server_tls(identity, None, PROTOCOL).unwrap();
            let crypto = quinn::crypto::rustls::QuicServerConfig::try_from(tls).unwrap();
            let plain = quinn::Endpoint::server(quinn::ServerConfig::with_crypto(Arc::new(crypto)), ANY).unwrap();
            let client = Endpoint::client(ANY, choice(name).with_ecn().unwrap()).unwrap();
            let (near, far) =
                tokio::join!(client.connect_pinned(plain.local_addr().unwrap(), fingerprint, PROTOCOL), async {
                    plain.accept().await.unwrap().await.unwrap()
                });
            let near = near.unwrap();
            assert!(transfer(&near, &far, &data).await.1 == data);
            assert_eq!(near.ecn(), EcnState::Capable, "{name}");
        });
    }
}

#[test]
fn no_packet_claims_that_its_sender_reacts_to_marks_unless_it_was_chosen_so() {
    runtime().block_on(async {
        for name in ["cubic", "prague", "thalweg"] {
            let (server, address, fingerprint) = common::server(choice("cubic"));
            let relay = Relay::start(address, Network::Passes);
            let client = Endpoint::client(ANY, choice(name)).unwrap();
            let (near, far) = tokio::join!(client.connect_pinned(relay.address, fingerprint, PROTOCOL), async {
                server.accept().await.unwrap().finish().await.unwrap()
            });
            let near = near.unwrap();
            assert_ne!(near.settled().await, Stamps::Refused);
            let data = noise(1 << 18);
            assert!(transfer(&near, &far, &data).await.1 == data);
            let [all, ect0, ect1, back] = relay.seen.counts();
            assert!(all > 30 && [ect0, ect1, back] == [0; 3], "{name}: {ect0}, {ect1} and {back} of {all}");
            assert_eq!(near.ecn(), EcnState::Off);
        }
    });
}

#[test]
fn quinn_alone_claims_it() {
    runtime().block_on(async {
        let (server, address, fingerprint) = common::server(choice("cubic"));
        let relay = Relay::start(address, Network::Passes);
        let tls = wire::client_tls(fingerprint, None, PROTOCOL);
        let crypto = quinn::crypto::rustls::QuicClientConfig::try_from(tls).unwrap();
        let client = quinn::Endpoint::client(ANY).unwrap();
        let config = quinn::ClientConfig::new(Arc::new(crypto));
        let connecting = client.connect_with(config, relay.address, "thalweg").unwrap();
        let (near, _far) = tokio::join!(connecting, async { server.accept().await.unwrap().finish().await.unwrap() });
        near.unwrap();
        assert!(relay.seen.counts()[1] > 0, "the relay would see it");
    });
}

/// A relay that clears the ECN field, until it moves: then the server sees the client at another address, and the field
/// passes in its direction.
struct Moving {
    address: SocketAddr,
    has_moved: Arc<AtomicBool>,
    ended: Arc<AtomicBool>,
}

impl Moving {
    fn start(to: SocketAddr) -> Moving {
        let bind = |address: &str| {
            let socket = UdpSocket::bind(address).unwrap();
            let state = UdpSocketState::new(UdpSockRef::from(&socket)).unwrap();
            socket.set_nonblocking(false).unwrap();
            socket.set_read_timeout(Some(std::time::Duration::from_millis(50))).unwrap();
            (socket, state)
        };
        let sockets = Arc::new([bind("127.0.0.1:0"), bind("127.0.0.2:0")]);
        let address = sockets[0].0.local_addr().unwrap();
        let (has_moved, ended) = (Arc::<AtomicBool>::default(), Arc::<AtomicBool>::default());
        let client = Arc::<Mutex<Option<SocketAddr>>>::default();
        for at in 0..2 {
            let (sockets, client) = (sockets.clone(), client.clone());
            let (has_moved, ended) = (has_moved.clone(), ended.clone());
            std::thread::spawn(move || {
                let (mut buffer, mut meta) = (vec![0; 65536], [RecvMeta::default()]);
                let (socket, state) = &sockets[at];
                while !ended.load(Ordering::Relaxed) {
                    let Ok(1) = state.recv(UdpSockRef::from(socket), &mut [IoSliceMut::new(&mut buffer)], &mut meta)
                    else {
                        continue;
                    };
                    let RecvMeta { addr, len, stride, ecn, .. } = meta[0];
                    let mut client = client.lock().unwrap();
                    let (from, destination, ecn) = if addr == to {
                        let Some(client) = *client else { continue };
                        (0, client, ecn.filter(|_| at == 1))
                    } else {
                        *client = Some(addr);
                        (usize::from(has_moved.load(Ordering::Relaxed)), to, None)
                    };
                    for contents in buffer[..len].chunks(stride) {
                        let transmit = Transmit { destination, ecn, contents, segment_size: None, src_ip: None };
                        let _ = sockets[from].1.send(UdpSockRef::from(&sockets[from].0), &transmit);
                    }
                }
            });
        }
        Moving { address, has_moved, ended }
    }
}

impl Drop for Moving {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
    }
}

/// RFC 9000, section 13.4.2: an endpoint validates ECN when a connection migrates to a new path.
#[test]
fn after_the_peer_has_moved_the_new_path_is_tested() {
    let data = noise(1 << 20);
    runtime().block_on(async {
        let (server, address, fingerprint) = common::server(choice("cubic").with_ecn().unwrap());
        let relay = Moving::start(address);
        let client = Endpoint::client(ANY, choice("cubic").with_ecn().unwrap()).unwrap();
        let (near, far) = tokio::join!(client.connect_pinned(relay.address, fingerprint, PROTOCOL), async {
            server.accept().await.unwrap().finish().await.unwrap()
        });
        let near = near.unwrap();
        assert!(transfer(&far, &near, &data).await.1 == data);
        assert_eq!(far.ecn(), EcnState::Failed, "the first path clears the field");
        relay.has_moved.store(true, Ordering::Relaxed);
        assert!(transfer(&near, &far, &data).await.1 == data);
        println!("{}: {:?}", far.remote_address(), far.ecn());
        assert!(far.ecn() != EcnState::Failed);
        assert!(transfer(&far, &near, &data).await.1 == data);
        assert_eq!(far.ecn(), EcnState::Capable);
    });
}
