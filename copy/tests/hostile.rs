//! Hostile peers that know the key: the paths that they name and the messages that they send.

use proptest::prelude::*;
use quinn::{RecvStream, SendStream};
use serde::Serialize;
use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;
use thalweg_copy::frame::{decode, encode, read};
use thalweg_copy::message::{Answer, Attributes, Hello, Offer, Piece, Request, Response, SourcePath};
use thalweg_copy::{Access, Client, Credentials, Event, Job, Key, Observer, Options, Peer, Server};
use tokio::time::timeout;
use wire::{Choice, Connection, Endpoint, Identity, client_tls, server_tls};

const PROTOCOL: &[u8] = b"thalweg-cp/2";
const LOOPBACK: &str = "127.0.0.1:0";
/// How long a test may take.
const TIMEOUT: Duration = Duration::from_secs(20);

fn choice() -> Choice {
    Choice::new("cubic", &serde_json::Map::new()).unwrap()
}

fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { timeout(TIMEOUT, test).await.expect("the test takes too long") });
}

fn source_path(source: u32, path: &[u8]) -> SourcePath {
    SourcePath { source, path: path.to_vec() }
}

fn file(id: u64, source: u32, path: &[u8]) -> Offer {
    Offer::File { id, path: source_path(source, path), size: 4 }
}

fn bytes(messages: &[impl Serialize]) -> Vec<u8> {
    messages.iter().flat_map(|message| encode(message).unwrap()).collect()
}

/// What a hostile server sends after it has granted the request.
struct Script {
    /// Bytes on the stream of the messages.
    messages: Vec<u8>,
    /// Bytes on the stream of the contents.
    contents: Vec<u8>,
}

fn contents(text: &[u8]) -> Vec<u8> {
    let (size, hash) = (text.len() as u64, *blake3::hash(text).as_bytes());
    [
        bytes(&[
            Piece::Begin { id: 0, offset: 0, size, attributes: Attributes::default() },
            Piece::Data(text.len() as u32),
        ]),
        text.to_vec(),
        bytes(&[Piece::End { hash, changed: false }]),
    ]
    .concat()
}

/// Runs a client against a server that follows `script`. Returns how the copy ended and the events of the client.
async fn fetch_from(script: Script, path: &str, options: Options, to: &Path) -> (Result<(), String>, Vec<Event>) {
    let identity = Identity::new().unwrap();
    let key: Key = format!("{}-{}", identity.fingerprint(), "0".repeat(32)).parse().unwrap();
    let tls = server_tls(identity, None, PROTOCOL).unwrap();
    let server = Endpoint::server(LOOPBACK.parse().unwrap(), choice(), tls).unwrap();
    let host = server.quinn().local_addr().unwrap().to_string();
    let job = Job::Fetch { paths: vec![path.into()], destination: to.into() };
    let mut client = Client::new(job, Peer::Served { host, key }, options, choice());
    client.retry_for = Duration::ZERO;
    let events = Arc::new(Mutex::new(Vec::new()));
    let heard = events.clone();
    let observer: Observer = Arc::new(move |event| heard.lock().unwrap().push(event));
    let serve = async {
        loop {
            let connection = server.accept().await.unwrap().finish().await.unwrap();
            let (mut control, mut hear) = connection.accept_bi().await.unwrap();
            let mut data = connection.open_uni().await.unwrap();
            let welcome = encode(&Response::Granted { renames: false }).unwrap();
            let _ = control.write_all(&[&welcome, &script.messages[..]].concat()).await;
            // The contents are sent when the client wants them, or a little later although it does not.
            let _ = timeout(Duration::from_millis(300), hear.read_exact(&mut [0; 100])).await;
            let _ = data.write_all(&script.contents).await;
            // Both streams stay open until the client closes the connection.
            let _ = timeout(Duration::from_secs(1), connection.closed()).await;
        }
    };
    let outcome = tokio::select! {
        outcome = client.run(&observer) => outcome.map(drop).map_err(|e| e.to_string()),
        () = serve => unreachable!(),
    };
    let events = events.lock().unwrap().clone();
    (outcome, events)
}

#[test]
fn a_hostile_server_writes_nothing_that_was_not_asked_for() {
    let home = TempDir::new().unwrap();
    let to = home.path().join("to");
    fs::create_dir(&to).unwrap();
    fs::create_dir(home.path().join("elsewhere")).unwrap();
    std::os::unix::fs::symlink("../elsewhere", to.join("way")).unwrap();
    run(async {
        let folder = |path: &[u8]| Offer::Folder(source_path(0, path), Attributes::default());
        for (offers, recursive) in [
            // The client asked for one file.
            (vec![file(0, 0, b"x")], false),
            (vec![file(0, 1, b"")], false),
            (vec![folder(b"")], false),
            // The client asked for a folder and its contents.
            (vec![file(0, 0, b"..")], true),
            (vec![file(0, 0, b"../x")], true),
            (vec![file(0, 0, b"../../elsewhere/x")], true),
            (vec![file(0, 0, b"/tmp/thalweg-hostile")], true),
            (vec![file(0, 0, b"a/../../x")], true),
            (vec![file(0, 0, b"a//b")], true),
            (vec![file(0, 0, b"a\0b")], true),
            (vec![file(0, 7, b"x")], true),
            (vec![folder(b"../x")], true),
            (vec![folder(b"")], false),
            // File numbers begin at zero, and each file is begun once.
            (vec![file(1, 0, b"x")], true),
            (vec![folder(b""), file(0, 0, b"x"), file(0, 0, b"y")], true),
        ] {
            let said = format!("{offers:?}");
            let script = Script { messages: bytes(&offers), contents: contents(b"evil") };
            let options = Options { recursive, preserve: true };
            let (outcome, _) = fetch_from(script, "asked", options, &to).await;
            assert!(outcome.is_err_and(|why| why.contains("breaks the protocol")), "{said}");
            assert!(!home.path().join("x").exists() && !to.join("x").exists(), "{said}");
        }
        // A link in the destination has the name of the source and leads elsewhere.
        let offers = [folder(b""), file(0, 0, b"x")];
        let script = Script { messages: bytes(&offers), contents: vec![] };
        let (outcome, events) = fetch_from(script, "way", Options { recursive: true, preserve: true }, &to).await;
        assert!(outcome.is_err() && events.iter().any(|event| matches!(event, Event::Problem { .. })), "{outcome:?}");
    });
    assert_eq!(fs::read_dir(home.path().join("elsewhere")).unwrap().count(), 0);
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 2);
}

#[test]
fn contents_that_do_not_match_their_hash_get_no_name() {
    let home = TempDir::new().unwrap();
    let control = bytes(&[file(0, 0, b""), Offer::End]);
    let attributes = Attributes::default();
    let begin = |offset, size| Piece::Begin { id: 0, offset, size, attributes };
    let end = Piece::End { hash: [0; 32], changed: false };
    let damaged = [bytes(&[begin(0, 4), Piece::Data(4)]), b"evil".to_vec(), bytes(std::slice::from_ref(&end))].concat();
    run(async {
        let script = Script { messages: control.clone(), contents: damaged };
        let (_, events) = fetch_from(script, "asked", Options::default(), home.path()).await;
        assert!(
            events.iter().any(|event| matches!(event, Event::Problem { reason, .. } if reason.contains("damaged"))),
            "{events:?}"
        );
        for pieces in [
            vec![Piece::Begin { id: 9, offset: 0, size: 4, attributes }],
            vec![begin(3, 4), end.clone()],
            vec![begin(0, 4), Piece::Data(u32::MAX)],
            vec![begin(0, 4), Piece::Hole(u64::MAX)],
            vec![begin(0, u64::MAX), Piece::Hole(u64::MAX), Piece::Hole(1)],
            vec![begin(0, 4), begin(0, 4)],
            vec![end.clone()],
        ] {
            let said = format!("{pieces:?}");
            let script = Script { messages: control.clone(), contents: bytes(&pieces) };
            let fetch = fetch_from(script, "asked", Options::default(), home.path());
            // An immense hole is hashed for as long as the connection lasts, and not longer.
            let (outcome, _) = fetch.await;
            assert!(outcome.is_err(), "{said}");
        }
    });
    assert!(!home.path().join("asked").exists());
}

/// A server of `folder` with its key and its address.
fn server(folder: &Path, writable: bool) -> (Server, Key, SocketAddr) {
    let credentials = Credentials::generate().unwrap();
    let key = credentials.key();
    let addresses = [LOOPBACK.parse().unwrap()].into_iter();
    let server = Server::new(folder, addresses, &choice(), credentials, Access { writable, keep: true }).unwrap();
    let address = server.endpoint.quinn().local_addr().unwrap();
    (server, key, address)
}

/// Connects to a server and sends this request with a valid proof.
async fn greet(key: &Key, address: SocketAddr, request: Request) -> (Endpoint, Connection, SendStream, RecvStream) {
    let endpoint = Endpoint::client(LOOPBACK.parse().unwrap(), choice()).unwrap();
    let connection = endpoint.connect(address, "x", client_tls(key.server, None, PROTOCOL)).await.unwrap();
    let mut exported = [0; 32];
    connection.export_keying_material(&mut exported, b"EXPORTER-thalweg-cp-1", b"").unwrap();
    let proof = *key.proof(&exported).as_bytes();
    let (mut to, from) = connection.open_bi().await.unwrap();
    to.write_all(&encode(&Hello { proof, request }).unwrap()).await.unwrap();
    (endpoint, connection, to, from)
}

fn push(names: &[&[u8]], destination: &[u8]) -> Request {
    let names = names.iter().map(|name| name.to_vec()).collect();
    let options = Options { recursive: true, preserve: true };
    Request::Push { destination: destination.to_vec(), names, renames: false, options }
}

/// Checks that the server still serves another client.
async fn assert_serves(key: Key, address: SocketAddr, to: &Path) {
    let job = Job::Fetch { paths: vec![b"fine".to_vec()], destination: to.into() };
    let peer = Peer::Served { host: address.to_string(), key };
    let observer: Observer = Arc::new(|_| {});
    Client::new(job, peer, Options::default(), choice()).run(&observer).await.unwrap();
    assert_eq!(fs::read_to_string(to.join("fine")).unwrap(), "fine");
}

#[test]
fn a_hostile_client_cannot_leave_the_folder_or_stop_the_server() {
    let home = TempDir::new().unwrap();
    let (inside, to) = (home.path().join("inside"), home.path().join("to"));
    [&inside, &to].iter().for_each(|folder| fs::create_dir(folder).unwrap());
    fs::write(inside.join("fine"), "fine").unwrap();
    run(async {
        let (server, key, address) = server(&inside, true);
        let observer: Observer = Arc::new(|_| {});
        let attack = async {
            // Names and destinations outside of the folder.
            for request in [push(&[b"../x"], b""), push(&[b".."], b""), push(&[b"x"], b".."), push(&[b"x"], b"/tmp")] {
                let said = format!("{request:?}");
                let (_endpoint, _connection, _to, mut from) = greet(&key, address, request).await;
                let answer = from.read_to_end(10_000).await.unwrap();
                assert!(matches!(decode(&answer[4..]), Ok(Response::Refused(_))), "{said}");
            }
            // Messages of each kind that violate the protocol, and bytes that are no messages.
            let fetch = Request::Fetch { paths: vec![b"fine".to_vec()], recursive: true };
            for (request, said) in [
                (push(&[b"x"], b""), bytes(&[file(0, 0, b"../../y")])),
                (push(&[b"x"], b""), bytes(&[file(5, 0, b"y")])),
                (push(&[b"x"], b""), vec![0xff; 100]),
                (push(&[b"x"], b""), vec![0, 0, 0, 2, 0xff, 0xff]),
                (fetch.clone(), bytes(&[Answer::Done(99)])),
                (fetch.clone(), bytes(&[Answer::Want { id: 99, offset: 0, hash: [0; 32] }])),
                (fetch.clone(), bytes(&[Answer::Failed(0, "no".into()), Answer::Failed(0, "no".into())])),
                (fetch, vec![0xff; 100]),
            ] {
                let (_endpoint, connection, mut to, _from) = greet(&key, address, request).await;
                to.write_all(&said).await.unwrap();
                assert!(matches!(connection.closed().await, quinn::ConnectionError::ApplicationClosed(_)), "{said:?}");
            }
            // A message that is too long, and one that never comes, from a client without the key.
            let endpoint = Endpoint::client(LOOPBACK.parse().unwrap(), choice()).unwrap();
            for word in [vec![0xff; 5], vec![]] {
                let connection = endpoint.connect_pinned(address, key.server, PROTOCOL).await.unwrap();
                let (mut to, _from) = connection.open_bi().await.unwrap();
                to.write_all(&word).await.unwrap();
            }
            assert_serves(key, address, &to).await;
        };
        tokio::select! {
            () = server.run(&observer) => unreachable!(),
            () = attack => {}
        }
    });
    assert_eq!(fs::read_dir(&inside).unwrap().count(), 1);
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 2);
}

/// The first datagrams of `count` clients, which never receive an answer.
async fn first_datagrams(key: Key, count: usize) -> Vec<Vec<u8>> {
    let mut datagrams = Vec::new();
    for _ in 0..count {
        let sink = tokio::net::UdpSocket::bind(LOOPBACK).await.unwrap();
        let address = sink.local_addr().unwrap();
        let endpoint = Endpoint::client(LOOPBACK.parse().unwrap(), choice()).unwrap();
        let mut datagram = vec![0; 2000];
        let size = tokio::select! {
            got = sink.recv(&mut datagram) => got.unwrap(),
            _ = endpoint.connect_pinned(address, key.server, PROTOCOL) => unreachable!(),
        };
        datagram.truncate(size);
        datagrams.push(datagram);
    }
    datagrams
}

#[test]
fn datagrams_with_forged_addresses_keep_no_client_out() {
    let home = TempDir::new().unwrap();
    let (inside, to) = (home.path().join("inside"), home.path().join("to"));
    [&inside, &to].iter().for_each(|folder| fs::create_dir(folder).unwrap());
    fs::write(inside.join("fine"), "fine").unwrap();
    run(async {
        let (server, key, address) = server(&inside, false);
        let observer: Observer = Arc::new(|_| {});
        let attack = async {
            // Each comes from another address that does not answer, and they are more than the server has places for
            // strangers.
            for datagram in first_datagrams(key, 20).await {
                let forged = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
                forged.send_to(&datagram, address).unwrap();
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
            assert_serves(key, address, &to).await;
        };
        tokio::select! {
            () = server.run(&observer) => unreachable!(),
            () = attack => {}
        }
    });
}

proptest! {
    #[test]
    fn no_bytes_make_the_decoder_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        fn check<T: serde::de::DeserializeOwned + Serialize + PartialEq + std::fmt::Debug>(bytes: &[u8]) {
            if let Ok(message) = decode::<T>(bytes) {
                let again = encode(&message).unwrap();
                assert_eq!(decode::<T>(&again[4..]).unwrap(), message);
            }
            let _ = read::<T>(&mut &bytes[..]);
        }
        check::<Hello>(&bytes);
        check::<Response>(&bytes);
        check::<Offer>(&bytes);
        check::<Answer>(&bytes);
        check::<Piece>(&bytes);
    }
}
