//! Routers in the emulator answer the stamps of real QUIC packets, and senders follow the answers.

#![cfg(target_os = "linux")]

use assert_cmd::cargo::cargo_bin;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tokio::time::{Instant, sleep, sleep_until};
use wire::{Choice, Connection, Endpoint, Identity, PACKET, Stamps, server_tls};

const PROTOCOL: &[u8] = b"test";
const ANY: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
const RTT: Duration = Duration::from_millis(40);
const FLOWS: u32 = 4;

/// A relay over a path, until it is dropped.
struct Relay {
    child: Child,
    address: SocketAddr,
}

impl Relay {
    /// A relay to `server`, over a link of `mbps` in either direction with a queue of this kind.
    fn start(mbps: u32, queue: &str, server: SocketAddr) -> Relay {
        let folder = tempfile::tempdir().unwrap();
        let scenario = folder.path().join("path.toml");
        let rtt = RTT.as_millis();
        let path = format!("rate = \"{mbps} Mbps\"\nrtt = \"{rtt} ms\"\nbuffer = \"1 bdp\"\nqueue = \"{queue}\"");
        fs::write(&scenario, format!("packet = \"1256 B\"\n[path]\n{path}\n")).unwrap();
        let mut relay = Command::new(cargo_bin!("thalweg"));
        relay.arg("emulate").arg(scenario).args([
            "--listen",
            "127.0.0.1:0",
            "--to",
            &server.to_string(),
            "--format",
            "json",
        ]);
        let mut child = relay.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut said = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut said).unwrap();
        let address = said.strip_prefix("listening on ").and_then(|rest| rest.split(';').next());
        Relay { child, address: address.expect(&said).parse().unwrap() }
    }

    /// Ends the relay, and returns its results.
    fn end(&mut self) -> serde_json::Value {
        let _ = Command::new("kill").args(["-INT", &self.child.id().to_string()]).status();
        let mut out = String::new();
        self.child.stdout.as_mut().unwrap().read_to_string(&mut out).unwrap();
        serde_json::from_str(&out).unwrap()
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Both ends of several connections over one path.
struct Flows {
    near: Vec<Connection>,
    far: Vec<Connection>,
    relay: Relay,
    _ends: [Endpoint; 2],
}

/// Opens that many connections over such a path, whose data `controller` drives.
async fn connect(mbps: u32, queue: &str, controller: &str, count: u32) -> Flows {
    let identity = Identity::new().unwrap();
    let fingerprint = identity.fingerprint();
    let choice = |name| Choice::new(name, &serde_json::Map::new()).unwrap();
    let server = Endpoint::server(ANY, choice("cubic"), server_tls(identity, None, PROTOCOL).unwrap()).unwrap();
    let relay = Relay::start(mbps, queue, server.quinn().local_addr().unwrap());
    let client = Endpoint::client(ANY, choice(controller)).unwrap();
    let (mut near, mut far) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let (one, other) = tokio::join!(client.connect_pinned(relay.address, fingerprint, PROTOCOL), async {
            server.accept().await.unwrap().finish().await.unwrap()
        });
        let one = one.unwrap();
        assert_eq!(one.settled().await, Stamps::On);
        near.push(one);
        far.push(other);
    }
    Flows { near, far, relay, _ends: [client, server] }
}

/// Sends without end from `near`, and reads at `far`.
fn send(near: &Connection, far: &Connection) {
    let (near, far) = (near.clone(), far.clone());
    tokio::spawn(async move {
        let mut stream = near.open_uni().await.unwrap();
        // quinn accepts data as fast as memory can be copied. Yielding lets the other connections write, too.
        while stream.write_all(&[0x55; 1 << 12]).await.is_ok() {
            tokio::task::yield_now().await;
        }
    });
    tokio::spawn(async move {
        let mut stream = far.accept_uni().await.unwrap();
        while let Ok(Some(_)) = stream.read_chunk(1 << 20, false).await {}
    });
}

/// Bytes of a connection that have arrived, headers included.
fn arrived(connection: &Connection) -> u64 {
    let udp = connection.stats().udp_rx;
    udp.bytes + udp.datagrams * wire::header::ROUTED as u64
}

/// The throughput of each of four flows that start one after the other, over a link with the routers of their protocol.
/// It is taken from 20 to 40 round trips after the last start, and given as a multiple of an equal share.
async fn shares(mbps: u32, controller: &str) -> Vec<f64> {
    let mut flows = connect(mbps, controller, controller, FLOWS).await;
    for (near, far) in flows.near.iter().zip(&flows.far) {
        sleep(10 * RTT).await;
        send(near, far);
    }
    let last = Instant::now();
    let look = async |rounds: u32| {
        sleep_until(last + rounds * RTT).await;
        (Instant::now(), flows.far.iter().map(arrived).collect::<Vec<_>>())
    };
    let (from, to) = (look(20).await, look(40).await);
    assert!(flows.near.iter().all(|near| near.stamps() == Stamps::On), "{controller}: the routers answer");
    let rate = |bytes: u64| bytes as f64 * 8e-6 / to.0.duration_since(from.0).as_secs_f64();
    let rates: Vec<f64> = from.1.iter().zip(&to.1).map(|(before, after)| rate(after - before)).collect();
    let summary = flows.relay.end();
    let (link, emulator) = (&summary["runs"][0]["links"][0], &summary["runs"][0]["emulator"]);
    println!(
        "{controller:6} {rates:5.2?} Mbps, queue {:.1} packets, {} dropped, 99 % left within {} us of their time",
        link["mean_queue_packets"].as_f64().unwrap(),
        link["drops"],
        emulator["late_p99_us"]
    );
    rates.iter().map(|rate| rate * f64::from(FLOWS) / f64::from(mbps)).collect()
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// The bounds allow for other work on the same machine; bench/wire/routers.toml shows what the protocols do on an idle
/// one.
#[test]
fn four_flows_share_a_link_as_its_routers_allow() {
    for controller in ["rcp-ac", "rcp"] {
        let shares = runtime().block_on(shares(20, controller));
        let mean = shares.iter().sum::<f64>() / f64::from(FLOWS);
        assert!((mean - 1.0).abs() < 0.3, "{controller}: {shares:.2?}");
        assert!(shares.iter().all(|share| (share - 1.0).abs() < 0.3), "{controller}: {shares:.2?}");
    }
}

/// The same of XCP, of which only the sum is bounded.
#[test]
fn four_flows_share_a_link_with_xcp() {
    let shares = runtime().block_on(shares(20, "xcp"));
    let mean = shares.iter().sum::<f64>() / f64::from(FLOWS);
    assert!((mean - 1.0).abs() < 0.3, "{shares:.2?}");
}

#[test]
fn without_routers_a_sender_reports_so_and_falls_back_to_a_window_controller() {
    for controller in ["rcp-ac", "rcp", "xcp"] {
        runtime().block_on(async {
            let flows = connect(20, "droptail", controller, 1).await;
            let near = &flows.near[0];
            send(near, &flows.far[0]);
            let begin = Instant::now();
            while near.stamps() != Stamps::Unanswered {
                assert!(begin.elapsed() < Duration::from_secs(10), "{controller}: {:?}", near.stamps());
                sleep(RTT).await;
            }
            assert!(near.state().window.is_some(), "{controller}: {:?}", near.state());
            let before = arrived(&flows.far[0]);
            sleep(10 * RTT).await;
            assert!(arrived(&flows.far[0]) > before + 10 * PACKET, "{controller}");
        });
    }
}
