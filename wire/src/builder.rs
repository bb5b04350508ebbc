//! How endpoints are made.

use crate::choice::{Choice, QUANTUM};
use crate::endpoint::{Endpoint, Transport};
use crate::error::EndpointError;
use crate::held_ack::Releasing;
use crate::reset_secret;
use crate::socket::Socket;
use crate::transport::{JUMBO, PacketSizes, default_transport, with_stamps};
use quinn::crypto::rustls::QuicServerConfig;
use quinn::{EndpointConfig, Runtime, TokioRuntime, TransportConfig};
use realtime::Clock;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

/// The size of the socket's buffers that is asked for, in bytes. Where the system's limit is lower, that is no error.
pub(crate) const SOCKET_BUFFER: usize = 4 << 20;

impl Endpoint {
    /// Begins to make an endpoint whose connections send with `choice`. Unless told otherwise, it only connects to
    /// others.
    pub fn builder(choice: Choice) -> Builder {
        Builder {
            choice,
            quantum: QUANTUM,
            clock: None,
            tls: None,
            reset_secret: None,
            idle_timeout: None,
            hold_grants: false,
            sizes: PacketSizes::Ordinary,
            transport: Arc::new(default_transport),
            runtime: Arc::new(TokioRuntime),
        }
    }

    /// An endpoint at `address` that connects to others: `Endpoint::builder(choice).bind(address)`.
    pub fn client(address: SocketAddr, choice: Choice) -> Result<Endpoint, EndpointError> {
        Endpoint::builder(choice).bind(address)
    }

    /// An endpoint at `address` that accepts connections as well:
    /// `Endpoint::builder(choice).accept(tls).bind(address)`.
    pub fn server(address: SocketAddr, choice: Choice, tls: rustls::ServerConfig) -> Result<Endpoint, EndpointError> {
        Endpoint::builder(choice).accept(tls).bind(address)
    }
}

/// Makes an [`Endpoint`].
///
/// ```no_run
/// # fn example(choice: thalweg_wire::Choice, tls: rustls::ServerConfig) -> Result<(), Box<dyn std::error::Error>> {
/// use std::net::UdpSocket;
/// use std::time::Duration;
///
/// let endpoint = thalweg_wire::Endpoint::builder(choice)
///     .accept(tls)
///     .idle_timeout(Duration::from_secs(10))
///     .transport(|| {
///         let mut transport = thalweg_wire::default_transport();
///         transport.max_concurrent_uni_streams(1000u32.into());
///         transport
///     })
///     .socket(UdpSocket::bind("[::]:4433")?)?;
/// # Ok(())
/// # }
/// ```
#[must_use = "a builder makes an endpoint when it is given an address or a socket"]
pub struct Builder {
    choice: Choice,
    quantum: control::Duration,
    clock: Option<Clock>,
    tls: Option<rustls::ServerConfig>,
    reset_secret: Option<[u8; 32]>,
    idle_timeout: Option<Duration>,
    hold_grants: bool,
    sizes: PacketSizes,
    transport: Transport,
    runtime: Arc<dyn Runtime>,
}

impl Builder {
    /// The endpoint accepts connections as well. `tls` names the application's protocol (ALPN).
    pub fn accept(mut self, tls: rustls::ServerConfig) -> Builder {
        self.tls = Some(tls);
        self
    }

    /// The endpoint has a secret that is the same after a restart. Peers of connections from before are then told at
    /// their next packet that these have ended (stateless resets, RFC 9000, section 10.3), instead of waiting for an
    /// answer.
    pub fn reset_secret(mut self, secret: [u8; 32]) -> Builder {
        self.reset_secret = Some(secret);
        self
    }

    /// Connections end when nothing has arrived from the peer for this long (otherwise what [`Builder::transport`]
    /// says; 30 s by default), and send something often enough for the peer to be found gone. The peer's idle timeout
    /// counts if it is shorter.
    pub fn idle_timeout(mut self, timeout: Duration) -> Builder {
        self.idle_timeout = Some(timeout);
        self
    }

    /// Packets that a controller would have leave less than `quantum` apart leave together (200 us unless this is
    /// called). A host that keeps shorter gaps probes with shorter bursts; zero spaces every packet, and takes a core
    /// to do it.
    pub fn quantum(mut self, quantum: Duration) -> Builder {
        self.quantum = control::Duration::from_secs(quantum.as_secs_f64());
        self
    }

    /// The times that senders are told are those of `clock`, so that they can be compared with others. Otherwise a
    /// connection's time begins with the connection: [`control::Time`] ends after 213 days, which an endpoint may
    /// outlast.
    pub fn clock(mut self, clock: Clock) -> Builder {
        self.clock = Some(clock);
        self
    }

    /// No connection reads its peer's stamps before the application calls [`Connection::grant_stamps`], for example
    /// when the peer has proved who it is. Otherwise whoever completes the handshake has a controller of its choice
    /// built here, with parameters of its choice.
    ///
    /// [`Connection::grant_stamps`]: crate::Connection::grant_stamps
    pub fn hold_grants(mut self) -> Builder {
        self.hold_grants = true;
        self
    }

    /// Full packets have 1200 bytes, without path MTU discovery.
    pub fn constant_size(mut self) -> Builder {
        self.sizes = PacketSizes::Constant;
        self
    }

    /// Path MTU discovery looks for packets of up to 8952 bytes (jumbo frames).
    /// Over loopback, which carries them, CUBIC is slower with them than without.
    pub fn jumbo_frames(mut self) -> Builder {
        self.sizes = PacketSizes::Jumbo;
        self
    }

    /// quinn's transport settings, made anew for each connection, instead of [`default_transport`]. Two of them are
    /// replaced: the congestion controller is the chosen one; and packets have 1200 bytes at first, and later as many
    /// as path MTU discovery finds within the bounds that [`Builder::constant_size`] and [`Builder::jumbo_frames`] set.
    /// QUIC datagrams must stay enabled: they carry the receivers' reports.
    pub fn transport(mut self, transport: impl Fn() -> TransportConfig + Send + Sync + 'static) -> Builder {
        self.transport = Arc::new(transport);
        self
    }

    /// The runtime that runs quinn's and the connections' tasks and timers, instead of the present Tokio runtime. It
    /// must itself run on Tokio, whose reactor tells when the socket is readable.
    pub fn runtime(mut self, runtime: Arc<dyn Runtime>) -> Builder {
        self.runtime = runtime;
        self
    }

    /// Makes the endpoint with a new socket at `address`. Must be called from within a Tokio runtime. Fails if
    /// `address` cannot be bound, or as [`Builder::socket`] does.
    pub fn bind(self, address: SocketAddr) -> Result<Endpoint, EndpointError> {
        let socket = UdpSocket::bind(address)?;
        let sizes = socket2::SockRef::from(&socket);
        let _ = sizes.set_recv_buffer_size(SOCKET_BUFFER).and_then(|()| sizes.set_send_buffer_size(SOCKET_BUFFER));
        self.socket(socket)
    }

    /// Makes the endpoint with the caller's `socket`, whose buffers stay as they are. Must be called from within a
    /// Tokio runtime. Fails if the socket cannot be set up, if the pacer's thread cannot be started, or if the TLS
    /// configuration does not suit QUIC.
    pub fn socket(self, socket: UdpSocket) -> Result<Endpoint, EndpointError> {
        let Builder { choice, quantum, clock, tls, reset_secret, idle_timeout, hold_grants, sizes, transport, runtime } =
            self;
        let server = tls.map(server_config).transpose()?;
        socket.set_nonblocking(true)?;
        let choice = choice.on(quantum);
        let socket = Arc::new(Socket::new(socket, quantum)?);
        let mut config = reset_secret.map_or_else(EndpointConfig::default, |secret| reset_secret::config(&secret));
        // The bit that tells QUIC's packets from stamped ones must be as it is (RFC 9287).
        config.grease_quic_bit(false);
        config.max_udp_payload_size(JUMBO).expect("QUIC allows from 1200 to 65,527 bytes");
        let runtime: Arc<dyn Runtime> = Arc::new(Releasing(runtime));
        let quinn = quinn::Endpoint::new_with_abstract_socket(config, server.clone(), socket.clone(), runtime.clone())?;
        Ok(Endpoint { quinn, socket, choice, clock, server, transport, idle_timeout, hold_grants, sizes, runtime })
    }
}

fn server_config(mut tls: rustls::ServerConfig) -> Result<quinn::ServerConfig, EndpointError> {
    tls.alpn_protocols = with_stamps(&tls.alpn_protocols);
    let crypto = QuicServerConfig::try_from(tls).map_err(EndpointError::Tls)?;
    Ok(quinn::ServerConfig::with_crypto(Arc::new(crypto)))
}
