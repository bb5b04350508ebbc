//! What an endpoint can be made of: the caller's socket, transport settings and runtime.

extern crate thalweg_wire as wire;

mod common;

use common::{ANY, PROTOCOL, choice, noise, runtime, transfer};
use quinn::{AsyncTimer, AsyncUdpSocket, Runtime, TokioRuntime};
use std::error::Error;
use std::net::UdpSocket;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use wire::{Choice, ConnectError, Endpoint, EndpointError, Identity, Stamps, default_transport, server_tls};

/// Tokio's, with a count of the tasks that it was given.
#[derive(Debug, Default)]
struct Counting(AtomicU64);

impl Runtime for Counting {
    fn new_timer(&self, at: Instant) -> Pin<Box<dyn AsyncTimer>> {
        TokioRuntime.new_timer(at)
    }
    fn spawn(&self, task: Pin<Box<dyn Future<Output = ()> + Send>>) {
        self.0.fetch_add(1, Ordering::Relaxed);
        TokioRuntime.spawn(task);
    }
    fn wrap_udp_socket(&self, socket: UdpSocket) -> std::io::Result<Arc<dyn AsyncUdpSocket>> {
        TokioRuntime.wrap_udp_socket(socket)
    }
}

#[test]
fn the_callers_socket_transport_settings_and_runtime_are_used() {
    runtime().block_on(async {
        let identity = Identity::new().unwrap();
        let fingerprint = identity.fingerprint();
        let tls = server_tls(identity, None, PROTOCOL).unwrap();
        let socket = UdpSocket::bind(ANY).unwrap();
        let address = socket.local_addr().unwrap();
        let tasks = Arc::new(Counting::default());
        let builder = Endpoint::builder(choice("cubic")).accept(tls).runtime(tasks.clone());
        let one_stream = || {
            let mut transport = default_transport();
            transport.max_concurrent_uni_streams(1u32.into());
            transport
        };
        let server = builder.transport(one_stream).socket(socket).unwrap();
        assert_eq!(server.quinn().local_addr().unwrap(), address);
        let client = Endpoint::client(ANY, choice("thalweg")).unwrap();
        let (near, far) = tokio::join!(client.connect_pinned(address, fingerprint, PROTOCOL), async {
            server.accept().await.unwrap().finish().await.unwrap()
        });
        let near = near.unwrap();
        assert!(tasks.0.load(Ordering::Relaxed) >= 3, "the endpoint's, the connection's and the negotiation's");
        let mut first = near.open_uni().await.unwrap();
        let second = tokio::time::timeout(Duration::from_millis(100), near.open_uni()).await;
        assert!(second.is_err(), "the server lets its peers open one stream");
        first.write_all(b"first").await.unwrap();
        first.finish().unwrap();
        assert_eq!(far.accept_uni().await.unwrap().read_to_end(10).await.unwrap(), b"first");
        let data = noise(1 << 16);
        assert!(transfer(&near, &far, &data).await.1 == data);
    });
}

#[test]
fn an_endpoint_that_holds_grants_builds_no_receiver_before_the_application_allows_it() {
    runtime().block_on(async {
        let identity = Identity::new().unwrap();
        let fingerprint = identity.fingerprint();
        let tls = server_tls(identity, None, PROTOCOL).unwrap();
        let server = Endpoint::builder(choice("cubic")).accept(tls).hold_grants().bind(ANY).unwrap();
        let address = server.quinn().local_addr().unwrap();
        let client = Endpoint::client(ANY, choice("thalweg")).unwrap();
        let (near, far) = tokio::join!(client.connect_pinned(address, fingerprint, PROTOCOL), async {
            server.accept().await.unwrap().finish().await.unwrap()
        });
        let near = near.unwrap();
        let early = tokio::time::timeout(Duration::from_millis(400), near.settled()).await;
        assert!(early.is_err(), "{early:?}");
        let data = noise(1 << 16);
        assert!(transfer(&near, &far, &data).await.1 == data, "data flows without stamps");
        assert_eq!(near.stamps(), Stamps::Asked);
        far.grant_stamps();
        // The question that waits is answered at once.
        let settled = tokio::time::timeout(Duration::from_secs(10), near.settled()).await;
        assert_eq!(settled.unwrap(), Stamps::On);
        assert!(transfer(&near, &far, &data).await.1 == data);
    });
}

#[test]
fn errors_have_types_and_sources() {
    let taken = UdpSocket::bind(ANY).unwrap();
    let error = Endpoint::client(taken.local_addr().unwrap(), choice("cubic")).err().unwrap();
    assert!(matches!(&error, EndpointError::Socket(e) if e.kind() == std::io::ErrorKind::AddrInUse), "{error:?}");
    assert!(error.source().unwrap().is::<std::io::Error>());
    let error = Choice::new("rapid", serde_json::json!({"stream": 1}).as_object().unwrap()).unwrap_err();
    assert!(error.to_string().starts_with("rapid.stream: "), "{error}");
    runtime().block_on(async {
        let client = Endpoint::builder(choice("cubic")).idle_timeout(Duration::from_millis(200)).bind(ANY).unwrap();
        let nobody = taken.local_addr().unwrap();
        let fingerprint = Identity::new().unwrap().fingerprint();
        let error = client.connect_pinned(nobody, fingerprint, PROTOCOL).await.err().unwrap();
        assert!(matches!(error, ConnectError::Failed(quinn::ConnectionError::TimedOut)), "{error:?}");
        assert!(error.source().unwrap().is::<quinn::ConnectionError>());
    });
}
