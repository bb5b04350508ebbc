//! How a client connects to a server that may have several addresses.

use super::failure::Failure;
use crate::close::{Ended, explain};
use crate::error::Error;
use crate::handshake::PROTOCOL;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;
use tokio::time::timeout;
use wire::{Choice, ConnectError, Connection, Endpoint, Fingerprint, Identity, client_tls};

/// How long the attempt to connect to one address may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// What every connection of a client has in common.
pub(super) struct Connector<'a> {
    /// The fingerprint of the server's certificate.
    pub(super) server: Fingerprint,
    pub(super) identity: &'a Identity,
    pub(super) choice: &'a Choice,
    pub(super) idle_timeout: Duration,
}

impl Connector<'_> {
    /// Connects to the first of `hosts`, names or IP addresses with a port, that answers.
    pub(super) async fn connect(&self, hosts: &[String]) -> Result<(Endpoint, Connection), Failure> {
        let mut failure = Failure::NotConnected(Error::Unreachable("the server has no address".into()));
        for host in hosts {
            let addresses = match tokio::net::lookup_host(host).await {
                Ok(addresses) => addresses,
                Err(e) => {
                    failure = Failure::NotConnected(Error::Unreachable(format!("{host}: {e}")));
                    continue;
                }
            };
            for address in addresses {
                match self.connect_to(address).await {
                    Err(Failure::NotConnected(e)) => failure = Failure::NotConnected(e),
                    done => return done,
                }
            }
        }
        Err(failure)
    }

    async fn connect_to(&self, address: SocketAddr) -> Result<(Endpoint, Connection), Failure> {
        let any = if address.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
        let endpoint = Endpoint::builder(self.choice.clone())
            .idle_timeout(self.idle_timeout)
            .bind(SocketAddr::new(any, 0))
            .map_err(|e| Failure::Final(Error::Socket { port: 0, source: e.into() }))?;
        let tls = client_tls(self.server, Some(self.identity), PROTOCOL);
        let unreachable = |why| Failure::NotConnected(Error::Unreachable(why));
        match timeout(CONNECT_TIMEOUT, endpoint.connect(address, "thalweg", tls)).await {
            Ok(Ok(connection)) => Ok((endpoint, connection)),
            Err(_) | Ok(Err(ConnectError::Failed(quinn::ConnectionError::TimedOut))) => Err(unreachable(format!(
                "no answer from {address}: the server has ended, or a firewall drops UDP packets to port {}; let them \
                 through, or choose another port with cp --ports or serve --listen",
                address.port()
            ))),
            Ok(Err(ConnectError::Failed(e))) => Err(match explain(&e) {
                Ended::Lost(why) => unreachable(format!("{address}: {why}")),
                Ended::NoPlace(source) => Failure::NotConnected(Error::At { address, source: Box::new(source) }),
                Ended::Failed(source) => Failure::Final(Error::At { address, source: Box::new(source) }),
            }),
            Ok(Err(e)) => Err(unreachable(format!("{address}: {e}"))),
        }
    }
}
