//! Endpoints: quinn's, whose connections have a controller.

use crate::ack_watch::{AckWatch, Watched};
use crate::choice::Choice;
use crate::connection::Connection;
use crate::datagram::PACKET;
use crate::error::ConnectError;
use crate::identity::{Fingerprint, NAME};
use crate::sending::{SendingEcn, SendingFlow};
use crate::socket::Socket;
use crate::tls::client_tls;
use crate::transport::{PacketSizes, of_connection, with_stamps};
use quinn::crypto::rustls::QuicClientConfig;
use quinn::{Runtime, TransportConfig};
use realtime::Clock;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// A QUIC endpoint whose connections run the controllers of the registry.
#[derive(Clone)]
pub struct Endpoint {
    pub(crate) quinn: quinn::Endpoint,
    pub(crate) socket: Arc<Socket>,
    /// The controller of further connections.
    pub(crate) choice: Choice,
    /// What senders' times are measured with; none if each connection has a clock of its own.
    pub(crate) clock: Option<Clock>,
    /// None for an endpoint that accepts no connections.
    pub(crate) server: Option<quinn::ServerConfig>,
    pub(crate) transport: Transport,
    pub(crate) idle_timeout: Option<Duration>,
    /// Whether connections grant stamps only when the application says so.
    pub(crate) hold_grants: bool,
    /// How large full packets may become.
    pub(crate) sizes: PacketSizes,
    pub(crate) runtime: Arc<dyn Runtime>,
}

/// Makes the transport settings of each connection.
pub(crate) type Transport = Arc<dyn Fn() -> TransportConfig + Send + Sync>;

impl Endpoint {
    /// The same endpoint, whose further connections send with `choice`.
    pub fn with_choice(&self, choice: Choice) -> Endpoint {
        Endpoint { choice: choice.on(self.choice.quantum()), ..self.clone() }
    }

    /// Connects to `address`. `tls` says whom to trust under which `name`, and names the application's protocol (ALPN).
    /// Fails if `tls` does not suit QUIC, if `address` or `name` cannot be used, or if there is no connection within
    /// the idle timeout.
    pub async fn connect(
        &self,
        address: SocketAddr,
        name: &str,
        mut tls: rustls::ClientConfig,
    ) -> Result<Connection, ConnectError> {
        tls.alpn_protocols = with_stamps(&tls.alpn_protocols);
        let crypto = Arc::new(QuicClientConfig::try_from(tls).map_err(ConnectError::Tls)?);
        let flow = self.flow();
        let mut config = quinn::ClientConfig::new(match flow.watch() {
            Some(watch) => Arc::new(Watched { inner: crypto, watch: watch.clone() }),
            None => crypto,
        });
        config.transport_config(self.transport(&flow));
        let connecting = self.quinn.connect_with(config, address, name).map_err(ConnectError::Start)?;
        Ok(self.connection(connecting.await.map_err(ConnectError::Failed)?, flow))
    }

    /// Connects to the holder of the certificate with this fingerprint, for the application's `protocol` (ALPN). Fails
    /// as [`Endpoint::connect`] does, and if the peer is another.
    pub async fn connect_pinned(
        &self,
        address: SocketAddr,
        fingerprint: Fingerprint,
        protocol: &[u8],
    ) -> Result<Connection, ConnectError> {
        self.connect(address, NAME, client_tls(fingerprint, None, protocol)).await
    }

    /// The next connection that a peer wants, before its handshake; none once the endpoint is closed.
    pub async fn accept(&self) -> Option<Incoming> {
        let incoming = self.quinn.accept().await?;
        Some(Incoming { incoming, endpoint: self.clone() })
    }

    /// quinn's endpoint: its address, its statistics, its end.
    pub fn quinn(&self) -> &quinn::Endpoint {
        &self.quinn
    }

    /// How many datagrams were dropped because their header was forged or damaged.
    pub fn invalid_headers(&self) -> u64 {
        self.socket.receiving.invalid_headers()
    }

    fn flow(&self) -> Arc<SendingFlow> {
        let first = self.choice.first_sender(PACKET);
        let clock = self.clock.unwrap_or_else(Clock::start);
        let ecn = self.choice.codepoint();
        let ecn = ecn.map(|codepoint| SendingEcn { codepoint, watch: Arc::new(AckWatch::default()) });
        let flow = SendingFlow::new(clock, self.socket.timers.clone(), PACKET, self.choice.quantum(), first, ecn);
        if self.choice.needs_stamps() {
            flow.leave_room();
        }
        flow
    }

    fn transport(&self, flow: &Arc<SendingFlow>) -> Arc<TransportConfig> {
        of_connection((self.transport)(), flow, self.idle_timeout, self.sizes.largest())
    }

    fn connection(&self, quinn: quinn::Connection, flow: Arc<SendingFlow>) -> Connection {
        flow.enable_ecn();
        let connection = Connection::new(quinn, flow, &self.socket, &self.choice, &*self.runtime);
        if !self.hold_grants {
            connection.grant_stamps();
        }
        connection
    }
}

/// A connection that a peer wants.
pub struct Incoming {
    incoming: quinn::Incoming,
    endpoint: Endpoint,
}

impl Incoming {
    /// Completes the handshake. Fails if the peer cannot, or goes away.
    pub async fn finish(self) -> Result<Connection, quinn::ConnectionError> {
        let mut config = self.endpoint.server.clone().ok_or(quinn::ConnectionError::LocallyClosed)?;
        let flow = self.endpoint.flow();
        config.transport_config(self.endpoint.transport(&flow));
        if let Some(watch) = flow.watch() {
            config.crypto = Arc::new(Watched { inner: config.crypto.clone(), watch: watch.clone() });
        }
        let quinn = self.incoming.accept_with(Arc::new(config))?.await?;
        Ok(self.endpoint.connection(quinn, flow))
    }

    /// quinn's view of it: the peer's address, and whether that is validated.
    pub fn quinn(&self) -> &quinn::Incoming {
        &self.incoming
    }

    /// quinn's own, with its ways to turn the connection down.
    pub fn into_quinn(self) -> quinn::Incoming {
        self.incoming
    }
}
