//! Hostile peers that know the key: the paths that they name and the messages that they send.

use proptest::prelude::*;
use quinn::{RecvStream, SendStream};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;
use thalweg_copy::frame::{decode, encode, read};
use thalweg_copy::message::{Answer, Attributes, MAX_SIZE, Offer, Piece, Request, Response, SourcePath};
use thalweg_copy::{Access, Client, Credentials, Event, Job, Key, Observer, Options, Peer, Server, Summary};
use tokio::time::timeout;
use wire::{Choice, Connection, Endpoint, Identity, client_tls, server_tls};

const PROTOCOL: &[u8] = b"thalweg-cp/10";
const LOOPBACK: &str = "127.0.0.1:0";
/// How long a test may take.
const TIMEOUT: Duration = Duration::from_secs(60);

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
#[derive(Default)]
struct Script {
    /// The name of its folder.
    folder: Vec<u8>,
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
    let (outcome, events, _) = fetch_and_listen(script, path, options, to).await;
    (outcome, events)
}

/// Does the same, and also returns what the client has said on the stream of the messages.
async fn fetch_and_listen(
    script: Script,
    path: &str,
    options: Options,
    to: &Path,
) -> (Result<(), String>, Vec<Event>, Vec<u8>) {
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
    let said = Arc::new(Mutex::new(Vec::new()));
    let serve = async {
        loop {
            let connection = server.accept().await.unwrap().finish().await.unwrap();
            let (mut control, mut hear) = connection.accept_bi().await.unwrap();
            let mut data = connection.open_uni().await.unwrap();
            let welcome = encode(&Response::Granted { renames: false, folder: script.folder.clone() }).unwrap();
            let _ = control.write_all(&[&welcome, &script.messages[..]].concat()).await;
            // The contents are sent a little later, whether the client wants them or not.
            let listen = async {
                while let Ok(Some(chunk)) = hear.read_chunk(1000, true).await {
                    said.lock().unwrap().extend_from_slice(&chunk.bytes);
                }
            };
            let _ = timeout(Duration::from_millis(300), listen).await;
            let _ = data.write_all(&script.contents).await;
            // Both streams stay open until the client closes the connection.
            let _ = timeout(Duration::from_secs(1), connection.closed()).await;
        }
    };
    let outcome = tokio::select! {
        outcome = client.run(&observer) => outcome.map(drop).map_err(|e| e.to_string()),
        () = serve => unreachable!(),
    };
    let (events, said) = (events.lock().unwrap().clone(), said.lock().unwrap().clone());
    (outcome, events, said)
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
            // A hash that the client has not asked for, an end before the end, and offers after the end.
            (vec![folder(b""), file(0, 0, b"x"), Offer::Hash { id: 0, hash: None }], true),
            (vec![folder(b""), file(0, 0, b"x"), Offer::Goodbye(Summary::default())], true),
            (vec![Offer::End, folder(b"")], true),
            (vec![Offer::End, Offer::End], true),
            (vec![Offer::End, file(0, 0, b"x")], true),
            (vec![Offer::File { id: 0, path: source_path(0, b"x"), size: MAX_SIZE + 1 }], true),
            // File numbers begin at zero, and each file is begun once.
            (vec![file(1, 0, b"x")], true),
            (vec![folder(b""), file(0, 0, b"x"), file(0, 0, b"y")], true),
        ] {
            let said = format!("{offers:?}");
            let messages = [bytes(&offers), bytes(&[Offer::End])].concat();
            let script = Script { messages, contents: contents(b"evil"), ..Script::default() };
            let options = Options { recursive, preserve: true, sync: true };
            let (outcome, _) = fetch_from(script, "asked", options, &to).await;
            assert!(outcome.is_err_and(|why| why.contains("breaks the protocol")), "{said}");
            assert!(!home.path().join("x").exists() && !to.join("x").exists(), "{said}");
        }
        // A link in the destination has the name of the source and leads elsewhere.
        let offers = [folder(b""), file(0, 0, b"x"), Offer::End];
        let script = Script { messages: bytes(&offers), ..Script::default() };
        let options = Options { recursive: true, preserve: true, sync: true };
        let (outcome, events) = fetch_from(script, "way", options, &to).await;
        assert!(events.iter().any(|event| matches!(event, Event::Problem { .. })), "{outcome:?}: {events:?}");
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
        let script = Script { messages: control.clone(), contents: damaged, ..Script::default() };
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
            vec![begin(0, 4), Piece::Data(0)],
            // An immense hole would be hashed for ever.
            vec![begin(0, 1 << 62), Piece::Hole(1 << 62)],
            vec![begin(0, 1 << 40), Piece::Hole(1 << 40)],
            vec![begin(0, 4), begin(0, 4)],
            vec![end.clone()],
        ] {
            let said = format!("{pieces:?}");
            let script = Script { messages: control.clone(), contents: bytes(&pieces), ..Script::default() };
            let (outcome, _) = fetch_from(script, "asked", Options::default(), home.path()).await;
            assert!(outcome.is_err_and(|why| why.contains("breaks the protocol")), "{said}");
        }
    });
    assert!(!home.path().join("asked").exists());
}

#[test]
fn nobody_learns_the_hash_of_a_file_by_offering_one_of_its_size() {
    let home = TempDir::new().unwrap();
    fs::write(home.path().join("secret"), "1234").unwrap();
    let hash = blake3::hash(b"1234");
    run(async {
        for told in [None, Some([7; 32])] {
            let mut messages = vec![file(0, 0, b""), Offer::End];
            messages.extend(told.map(|hash| Offer::Hash { id: 0, hash: Some(hash) }));
            let script = Script { messages: bytes(&messages), ..Script::default() };
            let (_, _, said) = fetch_and_listen(script, "secret", Options::default(), home.path()).await;
            assert!(!said.windows(32).any(|bytes| bytes == hash.as_bytes()), "the client tells the hash");
            // A wrong hash is answered like any other: the whole file is wanted.
            let asked = bytes(&[Answer::Compare { id: 0, length: 4 }]);
            let wanted = bytes(&[Answer::Want { id: 0, offset: 0 }]);
            let end = if told.is_some() { [asked, wanted].concat() } else { asked };
            assert!(said.ends_with(&end), "{said:?}");
        }
    });
    assert_eq!(fs::read_to_string(home.path().join("secret")).unwrap(), "1234");
}

#[test]
fn a_server_cannot_name_its_folder_so_that_it_is_hidden_or_leads_elsewhere() {
    let home = TempDir::new().unwrap();
    let to = home.path().join("to");
    fs::create_dir(&to).unwrap();
    let messages = bytes(&[Offer::Folder(source_path(0, b""), Attributes::default()), Offer::End]);
    let options = Options { recursive: true, preserve: false, sync: true };
    run(async {
        for folder in [&b""[..], b".", b"..", b".ssh", b"a/b", b"/tmp", b"a\0", b"../x"] {
            let script = Script { folder: folder.to_vec(), messages: messages.clone(), ..Script::default() };
            let (outcome, _) = fetch_from(script, "", options, &to).await;
            assert!(outcome.is_err_and(|why| why.contains("/.")), "{folder:?}");
            assert_eq!(fs::read_dir(&to).unwrap().count(), 0, "{folder:?}");
        }
        let script = Script { folder: b"photos".to_vec(), messages: messages.clone(), ..Script::default() };
        let _ = fetch_from(script, "", options, &to).await;
        assert!(to.join("photos").is_dir());
    });
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
}

/// A server of `folder` with its key and its address.
fn server(folder: &Path, writable: bool) -> (Server, Key, SocketAddr) {
    let credentials = Credentials::generate().unwrap();
    let key = credentials.key();
    let addresses = [LOOPBACK.parse().unwrap()].into_iter();
    let access = Access { writable, keep: true, max_clients: 3 };
    let server = Server::new(folder, addresses, &choice(), credentials, access).unwrap();
    let address = server.endpoint.quinn().local_addr().unwrap();
    (server, key, address)
}

/// Connects to a server and sends this request with a valid proof.
async fn greet(key: &Key, address: SocketAddr, request: Request) -> (Endpoint, Connection, SendStream, RecvStream) {
    let endpoint = Endpoint::client(LOOPBACK.parse().unwrap(), choice()).unwrap();
    let connection = endpoint.connect(address, "x", client_tls(key.server, None, PROTOCOL)).await.unwrap();
    let mut exported = [0; 32];
    connection.export_keying_material(&mut exported, b"EXPORTER-thalweg-cp-1", b"").unwrap();
    let (mut to, from) = connection.open_bi().await.unwrap();
    to.write_all(key.proof(&exported).as_bytes()).await.unwrap();
    to.write_all(&encode(&request).unwrap()).await.unwrap();
    (endpoint, connection, to, from)
}

fn push(names: &[&[u8]], destination: &[u8]) -> Request {
    let names = names.iter().map(|name| name.to_vec()).collect();
    let options = Options { recursive: true, preserve: true, sync: true };
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

/// A temporary folder, in it the folder `inside` with the file `fine`, to be served, and the empty folder `to`.
fn served_file() -> (TempDir, PathBuf, PathBuf) {
    let home = TempDir::new().unwrap();
    let (inside, to) = (home.path().join("inside"), home.path().join("to"));
    [&inside, &to].iter().for_each(|folder| fs::create_dir(folder).unwrap());
    fs::write(inside.join("fine"), "fine").unwrap();
    (home, inside, to)
}

#[test]
fn a_hostile_client_cannot_leave_the_folder_or_stop_the_server() {
    let (home, inside, to) = served_file();
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
                (fetch.clone(), bytes(&[Answer::Want { id: 99, offset: 0 }])),
                (fetch.clone(), bytes(&[Answer::Failed(0, "no".into()), Answer::Failed(0, "no".into())])),
                // Each file is hashed once and sent once.
                (fetch.clone(), bytes(&[Answer::Want { id: 0, offset: 0 }, Answer::Want { id: 0, offset: 0 }])),
                (fetch.clone(), bytes(&[Answer::Compare { id: 0, length: 4 }, Answer::Compare { id: 0, length: 4 }])),
                (fetch.clone(), bytes(&[Answer::Want { id: 0, offset: 4 }])),
                (fetch.clone(), bytes(&[Answer::Compare { id: 0, length: 5 }])),
                (fetch.clone(), bytes(&[Answer::Compare { id: 0, length: 0 }])),
                (fetch.clone(), bytes(&[Answer::Progress { id: 0, position: 4, received: 4 }])),
                (fetch.clone(), bytes(&[Answer::Done(0)])),
                (fetch.clone(), bytes(&[Answer::Problem(source_path(0, b""), "no".into())])),
                (fetch.clone(), bytes(&[Answer::Finished { received: 0 }])),
                (fetch, vec![0xff; 100]),
            ] {
                let (_endpoint, connection, mut to, mut from) = greet(&key, address, request).await;
                // The offer, which follows the server's answer, must have been sent.
                from.read_exact(&mut [0; 8]).await.unwrap();
                tokio::time::sleep(Duration::from_millis(50)).await;
                to.write_all(&said).await.unwrap();
                let closed = connection.closed().await;
                let quinn::ConnectionError::ApplicationClosed(close) = closed else { panic!("{closed}: {said:?}") };
                assert_eq!(close.error_code, 2u32.into(), "{said:?}");
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

#[test]
fn a_server_has_a_bounded_number_of_clients_at_a_time() {
    let (_home, inside, to) = served_file();
    run(async {
        let (server, key, address) = server(&inside, false);
        let observer: Observer = Arc::new(|_| {});
        let attack = async {
            let fetch = Request::Fetch { paths: vec![b"fine".to_vec()], recursive: true };
            let mut clients = Vec::new();
            for _ in 0..3 {
                let mut client = greet(&key, address, fetch.clone()).await;
                client.3.read_exact(&mut [0; 8]).await.unwrap();
                clients.push(client);
            }
            let job = Job::Fetch { paths: vec![b"fine".to_vec()], destination: to.clone() };
            let peer = Peer::Served { host: address.to_string(), key };
            let refused = Client::new(job, peer, Options::default(), choice()).run(&observer).await;
            assert!(refused.is_err_and(|why| why.to_string().contains("--max-clients")));
            clients.pop().unwrap().1.close(0u32.into(), b"");
            tokio::time::sleep(Duration::from_millis(500)).await;
            assert_serves(key, address, &to).await;
        };
        tokio::select! {
            () = server.run(&observer) => unreachable!(),
            () = attack => {}
        }
    });
}

/// The next message on a stream.
async fn next<T: DeserializeOwned>(from: &mut RecvStream) -> T {
    let mut length = [0; 4];
    from.read_exact(&mut length).await.unwrap();
    let mut frame = vec![0; u32::from_be_bytes(length) as usize];
    from.read_exact(&mut frame).await.unwrap();
    decode(&frame).unwrap()
}

#[test]
fn a_complete_copy_ends_a_server_of_one_copy_even_if_its_client_comes_again() {
    let (_home, inside, _) = served_file();
    run(async {
        let (mut server, key, address) = server(&inside, false);
        server.access.keep = false;
        let observer: Observer = Arc::new(|_| {});
        let clients = async {
            let fetch = Request::Fetch { paths: vec![b"nothing".to_vec()], recursive: true };
            let (_endpoint, first, mut to, mut from) = greet(&key, address, fetch.clone()).await;
            assert!(matches!(next(&mut from).await, Response::Granted { .. }));
            while next::<Offer>(&mut from).await != Offer::End {}
            to.write_all(&bytes(&[Answer::Finished { received: 0 }])).await.unwrap();
            assert!(matches!(next(&mut from).await, Offer::Goodbye(_)));
            // The copy is complete, but the client does not close the connection. It connects again, and goes away.
            let (_other, second, _to, _from) = greet(&key, address, fetch).await;
            first.closed().await;
            second.close(0u32.into(), b"");
            std::future::pending().await
        };
        tokio::select! {
            () = server.run(&observer) => {}
            () = clients => unreachable!(),
        }
    });
}

#[test]
fn a_file_that_is_named_many_times_is_hashed_once() {
    let (_home, inside, _) = served_file();
    run(async {
        let (server, key, address) = server(&inside, false);
        let observer: Observer = Arc::new(|_| {});
        let ask = async {
            let names: Vec<Vec<u8>> = ["fine", "./fine", "fine"].iter().map(|name| name.as_bytes().to_vec()).collect();
            let request = Request::Fetch { paths: names, recursive: true };
            let (_endpoint, _connection, mut to, mut from) = greet(&key, address, request).await;
            assert!(matches!(next(&mut from).await, Response::Granted { .. }));
            while next::<Offer>(&mut from).await != Offer::End {}
            let mut hashes = Vec::new();
            for id in 0..3 {
                to.write_all(&bytes(&[Answer::Compare { id, length: 4 }])).await.unwrap();
                let Offer::Hash { hash, .. } = next(&mut from).await else { panic!("a hash was asked for") };
                hashes.push(hash);
            }
            assert_eq!(hashes, [Some(*blake3::hash(b"fine").as_bytes()), None, None]);
        };
        tokio::select! {
            () = server.run(&observer) => unreachable!(),
            () = ask => {}
        }
    });
}

#[test]
fn a_request_that_is_longer_than_a_strangers_window_is_read_after_the_proof() {
    let home = TempDir::new().unwrap();
    run(async {
        let (server, key, address) = server(home.path(), false);
        let observer: Observer = Arc::new(|_| {});
        let ask = async {
            let request = Request::Fetch { paths: vec![vec![b'x'; 200]; 5000], recursive: true };
            let (_endpoint, _connection, _to, mut from) = greet(&key, address, request).await;
            let mut answer = [0; 5];
            from.read_exact(&mut answer).await.unwrap();
            assert_eq!(answer[4], 0, "the request is granted");
        };
        tokio::select! {
            () = server.run(&observer) => unreachable!(),
            () = ask => {}
        }
    });
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
    let (_home, inside, to) = served_file();
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
        fn check<T: DeserializeOwned + Serialize + PartialEq + std::fmt::Debug>(bytes: &[u8]) {
            if let Ok(message) = decode::<T>(bytes) {
                let again = encode(&message).unwrap();
                assert_eq!(decode::<T>(&again[4..]).unwrap(), message);
            }
            let _ = read::<T>(&mut &bytes[..]);
        }
        check::<Request>(&bytes);
        check::<Response>(&bytes);
        check::<Offer>(&bytes);
        check::<Answer>(&bytes);
        check::<Piece>(&bytes);
    }
}
