//! Opens the connections of the sending side, all from one endpoint.

use super::connection::{Connection, quinn_endpoint, quinn_transport};
use super::stack::{ANY, PROTOCOL, Stack, choice};
use crate::contestant::Congestion;
use crate::error::Cause;
use experiment::Flow;
use qlog::Record;
use quinn::congestion::{BbrConfig, CubicConfig, NewRenoConfig};
use quinn::crypto::rustls::QuicClientConfig;
use quinn::rustls::{ClientConfig, KeyLogFile};
use realtime::Clock;
use std::net::SocketAddr;
use std::sync::Arc;
use wire::{Fingerprint, client_tls};

/// The name under which the receiver is asked for. Its certificate is known by its fingerprint, whatever the name.
const NAME: &str = "thalweg";

/// Makes a [`Connector`] for each flow.
pub struct Connectors {
    stack: Stack,
    fingerprint: Fingerprint,
    /// The endpoint of all flows, once there is one.
    clock: Clock,
    wire: Option<wire::Endpoint>,
    quinn: Option<quinn::Endpoint>,
}

/// Opens one flow's connection.
pub enum Connector {
    /// With `wire`.
    Wire(Box<wire::Endpoint>, SocketAddr, Box<ClientConfig>),
    /// With quinn.
    Quinn(quinn::Endpoint, SocketAddr, Box<quinn::ClientConfig>),
}

impl Connectors {
    /// Connectors to a receiver whose certificate has this `fingerprint`.
    pub fn new(stack: Stack, fingerprint: Fingerprint) -> Connectors {
        Connectors { stack, fingerprint, clock: Clock::start(), wire: None, quinn: None }
    }

    /// The clock by which senders that are recorded are told the time.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// A connector for `flow`, whose packets take their route from `address`. If there is a `record`, its sender is
    /// recorded there.
    pub fn connector(&mut self, flow: &Flow, address: SocketAddr, record: Option<&Record>) -> Result<Connector, Cause> {
        let Connectors { stack, fingerprint, clock, .. } = *self;
        match stack {
            Stack::Wire => {
                let mut choice = choice(flow)?;
                if let Some(record) = record.cloned() {
                    choice = choice.watched(move |sender, packet| record.watch(sender, packet));
                }
                let endpoint = match &self.wire {
                    Some(endpoint) => endpoint.with_choice(choice),
                    None => wire::Endpoint::builder(choice).clock(clock).constant_size().bind(ANY)?,
                };
                self.wire.get_or_insert(endpoint.clone());
                Ok(Connector::Wire(Box::new(endpoint), address, Box::new(tls(fingerprint))))
            }
            Stack::Quinn(congestion) => {
                let endpoint = match &self.quinn {
                    Some(endpoint) => endpoint.clone(),
                    // All flows of a run are alike in this (`unsupported.rs`).
                    None => quinn_endpoint(None, flow.ecn.is_capable() && congestion.reacts_to_marks())?,
                };
                self.quinn.get_or_insert(endpoint.clone());
                let crypto = QuicClientConfig::try_from(tls(fingerprint))?;
                let mut config = quinn::ClientConfig::new(Arc::new(crypto));
                let mut transport = quinn_transport();
                match congestion {
                    Congestion::Cubic => transport.congestion_controller_factory(Arc::new(CubicConfig::default())),
                    Congestion::Bbr => transport.congestion_controller_factory(Arc::new(BbrConfig::default())),
                    Congestion::NewReno => transport.congestion_controller_factory(Arc::new(NewRenoConfig::default())),
                };
                config.transport_config(Arc::new(transport));
                Ok(Connector::Quinn(endpoint, address, Box::new(config)))
            }
        }
    }
}

/// Whom the sender trusts. The keys of its connections are written to the file that the environment variable
/// SSLKEYLOGFILE names, if it is set.
fn tls(fingerprint: Fingerprint) -> ClientConfig {
    let mut tls = client_tls(fingerprint, None, PROTOCOL);
    tls.key_log = Arc::new(KeyLogFile::new());
    tls
}

impl Connector {
    /// Opens the connection. With `wire`, it is open when the receiver has also granted the stamps that the controller
    /// needs.
    pub async fn open(&self) -> Result<Connection, Cause> {
        match self {
            Connector::Wire(endpoint, address, tls) => {
                let connection = endpoint.connect(*address, NAME, (**tls).clone()).await?;
                if connection.settled().await == wire::Stamps::Refused {
                    return Err("the receiver did not grant stamps".into());
                }
                Ok(Connection::Wire(connection))
            }
            Connector::Quinn(endpoint, address, config) => {
                let connecting = endpoint.connect_with((**config).clone(), *address, NAME)?;
                Ok(Connection::Quinn(connecting.await?))
            }
        }
    }
}
