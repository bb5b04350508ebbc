//! Clients that do not know the key: what a server spends on them, and that they keep nobody out.

use std::fs;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use thalweg_copy::{Access, Client, Credentials, Event, Job, Key, Observer, Options, Peer, Server};
use tokio::time::{sleep, timeout};
use wire::{Choice, Connection, Endpoint, Identity, Stamps, server_tls};

const PROTOCOL: &[u8] = b"thalweg-cp/10";
const LOOPBACK: &str = "127.0.0.1:0";
/// How long a test may take.
const TIMEOUT: Duration = Duration::from_secs(30);

fn choice(name: &str) -> Choice {
    Choice::new(name, &serde_json::Map::new()).unwrap()
}

fn nobody() -> Observer {
    Arc::new(|_| {})
}

/// Runs `test` against a server of a folder with the file `fine`.
fn with_server(test: impl AsyncFnOnce(Key, SocketAddr, &Path)) {
    with_observed_server(nobody(), test);
}

fn with_observed_server(observer: Observer, test: impl AsyncFnOnce(Key, SocketAddr, &Path)) {
    let home = TempDir::new().unwrap();
    let (inside, to) = (home.path().join("inside"), home.path().join("to"));
    [&inside, &to].iter().for_each(|folder| fs::create_dir(folder).unwrap());
    fs::write(inside.join("fine"), "fine").unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let credentials = Credentials::generate().unwrap();
        let key = credentials.key();
        let addresses = [LOOPBACK.parse().unwrap()].into_iter();
        let access = Access { keep: true, ..Access::default() };
        let server = Server::new(&inside, addresses, &choice("cubic"), credentials, access).unwrap();
        let address = server.endpoint.quinn().local_addr().unwrap();
        tokio::select! {
            () = server.run(&observer) => unreachable!(),
            done = timeout(TIMEOUT, test(key, address, &to)) => done.expect("the test takes too long"),
        }
    });
}

/// Connects to a server from this address, with this controller, and says nothing.
async fn stranger(from: IpAddr, controller: &str, key: Key, address: SocketAddr) -> (Endpoint, Connection) {
    let endpoint = Endpoint::client(SocketAddr::new(from, 0), choice(controller)).unwrap();
    let connection = endpoint.connect_pinned(address, key.server, PROTOCOL).await.unwrap();
    (endpoint, connection)
}

/// An address of the loopback interface, which has the whole of 127/8 on Linux.
fn loopback(third: u8, last: u8) -> IpAddr {
    Ipv4Addr::new(127, 0, third, last).into()
}

/// Checks that the server serves a client with the key.
async fn assert_serves(key: Key, address: SocketAddr, to: &Path) {
    let job = Job::Fetch { paths: vec![b"fine".to_vec()], destination: to.into() };
    let peer = Peer::Served { host: address.to_string(), key };
    Client::new(job, peer, Options::default(), choice("cubic")).run(&nobody()).await.unwrap();
    assert_eq!(fs::read_to_string(to.join("fine")).unwrap(), "fine");
}

#[test]
fn a_stranger_gets_one_stream_and_a_small_window() {
    with_server(async |key, address, _| {
        let (_endpoint, connection) = stranger(loopback(0, 1), "cubic", key, address).await;
        let (mut to, _from) = connection.open_bi().await.unwrap();
        // One write takes what the windows allow, before the server can answer.
        let accepted = to.write(&vec![0; 1 << 20]).await.unwrap();
        assert!(accepted <= 16 << 10, "a stranger may send {accepted} bytes");
        let (_endpoint, connection) = stranger(loopback(0, 1), "cubic", key, address).await;
        let first = connection.open_bi().await.unwrap();
        let more = timeout(Duration::from_millis(300), connection.open_bi()).await;
        assert!(more.is_err(), "a stranger has two streams");
        assert!(
            timeout(Duration::from_millis(300), connection.open_uni()).await.is_err(),
            "a stranger has two streams"
        );
        drop(first);
    });
}

#[test]
fn a_stranger_chooses_no_controller() {
    with_server(async |key, address, _| {
        let (_endpoint, connection) = stranger(loopback(0, 1), "thalweg", key, address).await;
        let settled = timeout(Duration::from_secs(1), connection.settled()).await;
        assert_ne!(settled, Ok(Stamps::On));
    });
}

#[test]
fn slow_strangers_keep_nobody_out() {
    with_server(async |key, address, to| {
        let mut strangers = Vec::new();
        for last in 1..=40 {
            let (endpoint, connection) = stranger(loopback(1, last), "cubic", key, address).await;
            let mut streams = connection.open_bi().await.unwrap();
            streams.0.write_all(&[0]).await.unwrap();
            strangers.push((endpoint, connection, streams));
        }
        let begin = Instant::now();
        assert_serves(key, address, to).await;
        assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
    });
}

#[test]
fn an_address_has_two_places_and_its_oldest_stranger_goes() {
    with_server(async |key, address, to| {
        let mut strangers = Vec::new();
        for _ in 0..6 {
            strangers.push(stranger(loopback(2, 1), "cubic", key, address).await);
        }
        let other = stranger(loopback(2, 2), "cubic", key, address).await;
        for (_, connection) in &strangers[..4] {
            connection.closed().await;
        }
        assert_serves(key, address, to).await;
        for (_, connection) in strangers[4..].iter().chain([&other]) {
            assert_eq!(connection.close_reason(), None);
        }
    });
}

#[test]
fn a_stranger_has_ten_seconds_in_all() {
    with_server(async |key, address, _| {
        let begin = Instant::now();
        let (_endpoint, connection) = stranger(loopback(0, 1), "cubic", key, address).await;
        sleep(Duration::from_secs(6)).await;
        let mut streams = connection.open_bi().await.unwrap();
        streams.0.write_all(&[0]).await.unwrap();
        connection.closed().await;
        let took = begin.elapsed().as_secs_f64();
        assert!((9.0..13.0).contains(&took), "{took} s");
    });
}

#[test]
fn a_proof_is_good_in_its_own_tls_session_only() {
    with_server(async |key, address, _| {
        let (_one, first) = stranger(loopback(0, 1), "cubic", key, address).await;
        let (_other, second) = stranger(loopback(0, 1), "cubic", key, address).await;
        let mut exported = [0; 32];
        first.export_keying_material(&mut exported, b"EXPORTER-thalweg-cp-1", b"").unwrap();
        let proof = key.proof(&exported);
        for (connection, known) in [(second, false), (first, true)] {
            let (mut to, _from) = connection.open_bi().await.unwrap();
            to.write_all(proof.as_bytes()).await.unwrap();
            if known {
                let closed = timeout(Duration::from_millis(500), connection.closed()).await;
                assert!(closed.is_err(), "{closed:?}");
            } else {
                connection.closed().await;
            }
            // A known client gets what a copy needs.
            assert_eq!(timeout(Duration::from_secs(5), connection.open_uni()).await.is_ok_and(|s| s.is_ok()), known);
        }
    });
}

#[test]
fn a_client_with_a_wrong_key_is_told_so() {
    with_server(async |key, address, to| {
        let text = key.to_string();
        let (server, _) = text.split_once('-').unwrap();
        let key: Key = format!("{server}-{}", "0".repeat(32)).parse().unwrap();
        let job = Job::Fetch { paths: vec![b"fine".to_vec()], destination: to.into() };
        let peer = Peer::Served { host: address.to_string(), key };
        let refused = Client::new(job, peer, Options::default(), choice("cubic")).run(&nobody()).await;
        assert!(refused.as_ref().is_err_and(|why| why.to_string().contains("not this server's")), "{refused:?}");
    });
}

#[test]
fn a_known_client_chooses_its_controller() {
    with_server(async |key, address, _| {
        let (_endpoint, connection) = stranger(loopback(0, 1), "thalweg", key, address).await;
        let mut exported = [0; 32];
        connection.export_keying_material(&mut exported, b"EXPORTER-thalweg-cp-1", b"").unwrap();
        let (mut to, _from) = connection.open_bi().await.unwrap();
        to.write_all(key.proof(&exported).as_bytes()).await.unwrap();
        assert_eq!(timeout(Duration::from_secs(10), connection.settled()).await, Ok(Stamps::On));
    });
}

#[test]
fn both_ends_say_that_their_versions_differ() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let identity = Identity::new().unwrap();
        let key: Key = format!("{}-{}", identity.fingerprint(), "0".repeat(32)).parse().unwrap();
        let tls = server_tls(identity, None, b"thalweg-cp/99").unwrap();
        let server = Endpoint::server(LOOPBACK.parse().unwrap(), choice("cubic"), tls).unwrap();
        let host = server.quinn().local_addr().unwrap().to_string();
        let job = Job::Fetch { paths: vec![b"x".to_vec()], destination: "/tmp".into() };
        let client = Client::new(job, Peer::Served { host, key }, Options::default(), choice("cubic"));
        let observer = nobody();
        let serve = async {
            loop {
                let _ = server.accept().await.unwrap().finish().await;
            }
        };
        let said = tokio::select! {
            outcome = client.run(&observer) => outcome.unwrap_err().to_string(),
            () = serve => unreachable!(),
        };
        assert!(said.contains("another version"), "{said}");
    });
    let heard = Arc::new(Mutex::new(Vec::new()));
    let events = heard.clone();
    let observer: Observer = Arc::new(move |event| events.lock().unwrap().push(event));
    with_observed_server(observer, async |key: Key, address, to: &Path| {
        let endpoint = Endpoint::client(LOOPBACK.parse().unwrap(), choice("cubic")).unwrap();
        for _ in 0..3 {
            assert!(endpoint.connect_pinned(address, key.server, b"thalweg-cp/2").await.is_err());
        }
        while heard.lock().unwrap().is_empty() {
            sleep(Duration::from_millis(10)).await;
        }
        assert_serves(key, address, to).await;
    });
    // Strangers cause one line a minute at most.
    let mut heard = heard.lock().unwrap().clone();
    heard.retain(|event| matches!(event, Event::Note(_)));
    assert!(matches!(&heard[..], [Event::Note(line)] if line.contains("another version")), "{heard:?}");
}
