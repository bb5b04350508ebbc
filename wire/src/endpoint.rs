//! Endpoints and connections: quinn's, with a controller to choose.

use crate::adaptor::Adaptor;
use crate::choice::Choice;
use crate::flow::Flow;
use crate::identity::{Fingerprint, Identity, NAME, Pinned, provider};
use crate::lasting;
use crate::pacing::Pacing;
use crate::socket::Socket;
use crate::talk::{Stamps, talk};
use control::State;
use quinn::crypto::rustls::{HandshakeData, QuicClientConfig, QuicServerConfig};
use quinn::{AckFrequencyConfig, EndpointConfig, TokioRuntime, TransportConfig, VarInt};
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::watch;

/// Bytes of a full QUIC packet. It is not looked for more: what analyses delays needs packets of one size.
pub const PACKET: u64 = 1200;

/// What a peer may have sent that the application has not read yet, and the other way round: enough for 1 Gbps over half a second.
const WINDOW: u32 = 64 << 20;

/// What the round trip is taken for until one is seen. A handshake is repeated after 0.3, 0.9, 2.1, 4.5 and 9.3 s; with the 333 ms of RFC 9002
/// (section 6.2.2), where a fifth of all packets is lost each way, many took over 8 s.
const FIRST_RTT: Duration = Duration::from_millis(100);

/// The longest that a peer is asked to hold back an acknowledgment; QUIC's timers go no lower.
const ACK_DELAY: Duration = Duration::from_millis(1);

/// Who waits asks so often at least whether the peer is still there: one that was restarted says no.
const KEEP_ALIVE: Duration = Duration::from_secs(5);

/// What an application protocol's name (ALPN) ends with if stamps may be talked about.
const STAMPS: &[u8] = b"+stamps1";

/// A QUIC endpoint whose connections run the controllers of the registry.
#[derive(Clone)]
pub struct Endpoint {
    quinn: quinn::Endpoint,
    socket: Arc<Socket>,
    choice: Choice,
    server: Option<quinn::ServerConfig>,
    silence: Option<Duration>,
}

impl Endpoint {
    /// An endpoint that connects to others, with `choice` for what it sends. Must be called from within a Tokio runtime. Fails if
    /// `address` cannot be bound.
    pub fn client(address: SocketAddr, choice: Choice) -> io::Result<Endpoint> {
        Endpoint::new(address, choice, EndpointConfig::default(), None)
    }

    /// An endpoint that accepts connections as well. `tls` names the application's protocol (ALPN).
    pub fn server(address: SocketAddr, choice: Choice, tls: rustls::ServerConfig) -> io::Result<Endpoint> {
        Endpoint::new(address, choice, EndpointConfig::default(), Some(server_config(tls)?))
    }

    /// The same, with a `secret` that is the same after a restart: peers of connections from before are told at their next packet
    /// that these are no more (stateless resets, RFC 9000, section 10.3), instead of waiting for an answer.
    pub fn lasting_server(
        address: SocketAddr,
        choice: Choice,
        tls: rustls::ServerConfig,
        secret: &[u8; 32],
    ) -> io::Result<Endpoint> {
        Endpoint::new(address, choice, lasting::config(secret), Some(server_config(tls)?))
    }

    /// The same endpoint, whose further connections send with `choice`.
    pub fn with_choice(&self, choice: Choice) -> Endpoint {
        Endpoint { choice, ..self.clone() }
    }

    fn new(
        address: SocketAddr,
        choice: Choice,
        mut config: EndpointConfig,
        server: Option<quinn::ServerConfig>,
    ) -> io::Result<Endpoint> {
        let bound = UdpSocket::bind(address)?;
        bound.set_nonblocking(true)?;
        // What is asked for beyond the system's limit is not given, and no error.
        let sizes = socket2::SockRef::from(&bound);
        let _ = sizes.set_recv_buffer_size(4 << 20).and_then(|()| sizes.set_send_buffer_size(4 << 20));
        let socket = Arc::new(Socket::new(bound)?);
        // The bit tells QUIC's packets from stamped ones.
        config.grease_quic_bit(false);
        let quinn =
            quinn::Endpoint::new_with_abstract_socket(config, server.clone(), socket.clone(), Arc::new(TokioRuntime))?;
        Ok(Endpoint { quinn, socket, choice, server, silence: None })
    }

    /// Further connections end when nothing was heard of the peer for so long (30 s otherwise), and say so much themselves
    /// that this means something. The peer's time counts if it is shorter.
    pub fn give_up_after(mut self, silence: Duration) -> Endpoint {
        self.silence = Some(silence);
        self
    }

    /// Connects to `address`. `tls` says whom to trust under which `name`, and the application's protocol (ALPN).
    pub async fn connect(
        &self,
        address: SocketAddr,
        name: &str,
        mut tls: rustls::ClientConfig,
    ) -> Result<Connection, ConnectError> {
        tls.alpn_protocols = with_stamps(&tls.alpn_protocols);
        let crypto = QuicClientConfig::try_from(tls).map_err(|_| ConnectError::Tls)?;
        let mut config = quinn::ClientConfig::new(Arc::new(crypto));
        let flow = self.flow(address);
        config.transport_config(transport(&flow, self.silence));
        let connecting = self.quinn.connect_with(config, address, name).map_err(ConnectError::Start)?;
        Ok(self.connection(connecting.await.map_err(ConnectError::Lost)?, flow))
    }

    /// Connects to the holder of the certificate with this fingerprint.
    pub async fn connect_pinned(
        &self,
        address: SocketAddr,
        fingerprint: Fingerprint,
        protocol: &[u8],
    ) -> Result<Connection, ConnectError> {
        self.connect(address, NAME, client_tls(fingerprint, None, protocol)).await
    }

    /// The next connection that someone wants, with its handshake to come; none once the endpoint is closed.
    pub async fn accept(&self) -> Option<Incoming> {
        let incoming = self.quinn.accept().await?;
        Some(Incoming { incoming, endpoint: self.clone() })
    }

    /// quinn's endpoint: its address, its statistics, its end.
    pub fn quinn(&self) -> &quinn::Endpoint {
        &self.quinn
    }

    /// Datagrams thrown away because their header was forged, replayed or mutilated.
    pub fn refused(&self) -> u64 {
        self.socket.arrivals.refused.load(Ordering::Relaxed)
    }

    fn flow(&self, peer: SocketAddr) -> Arc<Flow> {
        let flow = Flow::new(self.socket.clock, self.socket.agenda.clone(), PACKET, self.choice.first(PACKET));
        flow.pace(self.socket.pacing(peer));
        flow
    }

    fn connection(&self, quinn: quinn::Connection, flow: Arc<Flow>) -> Connection {
        let protocol = quinn.handshake_data().and_then(|data| data.downcast::<HandshakeData>().ok()?.protocol);
        let known = protocol.is_some_and(|name| name.ends_with(STAMPS)) && quinn.max_datagram_size().is_some();
        let begin = match (self.choice.needs_stamps(), known) {
            (false, _) => Stamps::Unneeded,
            (true, true) => Stamps::Asked,
            (true, false) => Stamps::Refused,
        };
        let (news, stamps) = watch::channel(begin);
        if known {
            tokio::spawn(talk(quinn.clone(), flow.clone(), self.socket.clone(), self.choice.clone(), PACKET, news));
        }
        Connection { quinn, controller: self.choice.name(), flow, stamps }
    }
}

/// A connection that someone wants.
pub struct Incoming {
    incoming: quinn::Incoming,
    endpoint: Endpoint,
}

impl Incoming {
    /// Completes the handshake.
    pub async fn finish(self) -> Result<Connection, quinn::ConnectionError> {
        let mut config = self.endpoint.server.clone().ok_or(quinn::ConnectionError::LocallyClosed)?;
        let flow = self.endpoint.flow(self.incoming.remote_address());
        config.transport_config(transport(&flow, self.endpoint.silence));
        let quinn = self.incoming.accept_with(Arc::new(config))?.await?;
        Ok(self.endpoint.connection(quinn, flow))
    }

    /// quinn's: who it is, and whether they are there.
    pub fn quinn(&self) -> &quinn::Incoming {
        &self.incoming
    }

    /// quinn's, with the ways to turn it down.
    pub fn into_quinn(self) -> quinn::Incoming {
        self.incoming
    }
}

/// A connection: quinn's, whose datagrams are taken, and a controller.
#[derive(Clone)]
pub struct Connection {
    quinn: quinn::Connection,
    controller: &'static str,
    flow: Arc<Flow>,
    stamps: watch::Receiver<Stamps>,
}

impl Connection {
    /// The name of the controller that was chosen for the data sent here.
    pub fn controller(&self) -> &'static str {
        self.controller
    }

    /// What the controller of the data sent here is doing.
    pub fn state(&self) -> State {
        self.flow.state()
    }

    /// Smoothed round-trip time of what is sent here, counted from when packets really left; none before the first
    /// acknowledgment. It takes the place of quinn's, in which they wait for their turn, too.
    pub fn rtt(&self) -> Option<control::Duration> {
        self.flow.rtt()
    }

    /// How packets sent here are sent at their time.
    pub fn pacing(&self) -> Pacing {
        self.flow.pacing()
    }

    /// Whether packets sent here are stamped, and so whether the chosen controller drives.
    pub fn stamps(&self) -> Stamps {
        match *self.stamps.borrow() {
            Stamps::On if !self.flow.is_stamped() => Stamps::Blocked,
            Stamps::On if self.flow.is_unanswered() => Stamps::Unanswered,
            stamps => stamps,
        }
    }

    /// Waits until that is settled, which takes a round trip; what routers make of the stamps shows when data is sent.
    pub async fn settled(&self) -> Stamps {
        let mut stamps = self.stamps.clone();
        // If the conversation has ended, what it came to holds.
        let _ = stamps.wait_for(|stamps| *stamps != Stamps::Asked).await;
        self.stamps()
    }
}

impl Deref for Connection {
    type Target = quinn::Connection;

    fn deref(&self) -> &quinn::Connection {
        &self.quinn
    }
}

/// Why there is no connection.
#[derive(Debug)]
pub enum ConnectError {
    /// The TLS configuration does not suit QUIC, which needs TLS 1.3.
    Tls,
    /// It could not be begun.
    Start(quinn::ConnectError),
    /// It was begun, and failed.
    Lost(quinn::ConnectionError),
}

impl std::fmt::Display for ConnectError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ConnectError::Tls => write!(f, "the TLS configuration does not suit QUIC: it needs TLS 1.3"),
            ConnectError::Start(e) => write!(f, "cannot connect: {e}"),
            ConnectError::Lost(e) => write!(f, "cannot connect: {e}"),
        }
    }
}

impl std::error::Error for ConnectError {}

/// TLS for a client that trusts the holder of one certificate, and shows its own if it has one.
pub fn client_tls(server: Fingerprint, client: Option<&Identity>, protocol: &[u8]) -> rustls::ClientConfig {
    let builder = rustls::ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .expect("ring has TLS 1.3")
        .dangerous() // without authorities, that is: the fingerprint is checked, and the signature
        .with_custom_certificate_verifier(Arc::new(Pinned::new(server)));
    let shown = client.map(|own| (vec![own.certificate.clone()], own.key.clone_key()));
    let mut tls = match shown {
        Some((chain, key)) => builder.with_client_auth_cert(chain, key).expect("a key that rcgen made for ring"),
        None => builder.with_no_client_auth(),
    };
    tls.alpn_protocols = vec![protocol.to_vec()];
    tls
}

/// TLS for a server with a certificate of its own; if `client` is given, only that one may connect.
pub fn server_tls(
    identity: Identity,
    client: Option<Fingerprint>,
    protocol: &[u8],
) -> Result<rustls::ServerConfig, String> {
    let builder = rustls::ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .expect("ring has TLS 1.3");
    let builder = match client {
        Some(client) => builder.with_client_cert_verifier(Arc::new(Pinned::new(client))),
        None => builder.with_no_client_auth(),
    };
    let mut tls = builder
        .with_single_cert(vec![identity.certificate], identity.key)
        .map_err(|e| format!("the certificate cannot be used: {e}"))?;
    tls.alpn_protocols = vec![protocol.to_vec()];
    Ok(tls)
}

fn server_config(mut tls: rustls::ServerConfig) -> io::Result<quinn::ServerConfig> {
    tls.alpn_protocols = with_stamps(&tls.alpn_protocols);
    let crypto = QuicServerConfig::try_from(tls).map_err(io::Error::other)?;
    Ok(quinn::ServerConfig::with_crypto(Arc::new(crypto)))
}

/// Each protocol with stamps, and then without.
fn with_stamps(protocols: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let stamped = protocols.iter().map(|name| [name, STAMPS].concat());
    stamped.chain(protocols.iter().cloned()).collect()
}

fn transport(flow: &Arc<Flow>, silence: Option<Duration>) -> Arc<TransportConfig> {
    // Delays are measured: an acknowledgment that waits for company is noise (draft-ietf-quic-ack-frequency).
    let mut prompt = AckFrequencyConfig::default();
    prompt.ack_eliciting_threshold(VarInt::from_u32(1)).max_ack_delay(Some(ACK_DELAY));
    let mut config = TransportConfig::default();
    config
        .ack_frequency_config(Some(prompt))
        .congestion_controller_factory(Arc::new(Adaptor(flow.clone())))
        .initial_rtt(FIRST_RTT)
        .initial_mtu(PACKET as u16)
        .mtu_discovery_config(None)
        .enable_segmentation_offload(false)
        .stream_receive_window(VarInt::from_u32(WINDOW))
        .receive_window(VarInt::from_u32(WINDOW))
        .send_window(u64::from(WINDOW));
    if let Some(silence) = silence {
        config.max_idle_timeout(silence.try_into().ok()).keep_alive_interval(Some(KEEP_ALIVE.min(silence / 4)));
    }
    Arc::new(config)
}
