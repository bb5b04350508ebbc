//! The end of a copy that waits for clients: for whoever knows its key, or for the one client that has started it over
//! ssh.

pub(crate) mod listen;
mod serve;
mod strangers;

use crate::close::{close_all, code};
use crate::error::Error;
use crate::event::Observer;
use crate::files::root::Root;
use crate::handshake::PROTOCOL;
use crate::key::{Credentials, Key};
use crate::thread::Stop;
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use listen::first_free;
use quinn::VarInt;
use serve::serve;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use strangers::Strangers;
use tokio::task::JoinSet;
use wire::{Choice, Connection, Endpoint, server_tls};

/// A connection on which nothing is received for this time is lost. Clients may ask for a shorter time.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);

/// A server.
pub struct Server {
    /// Where it listens.
    pub endpoint: Endpoint,
    /// What clients must know; `None` if TLS admits only the one client.
    pub key: Option<Key>,
    /// What it may read.
    pub root: Arc<Root>,
    /// What it permits.
    pub access: Access,
}

/// What a server permits its clients.
#[derive(Clone, Copy, Debug, Default)]
pub struct Access {
    /// Whether clients may also write, over existing files, too.
    pub writable: bool,
    /// Whether the server goes on after the first complete copy, with several clients at a time. Otherwise it has one
    /// client at a time: a new client replaces the previous one, whose connection may have been lost without notice.
    pub keep: bool,
}

impl Server {
    /// A server of one folder, at the first of `addresses` that is free. Fails if the folder cannot be opened, if TLS
    /// cannot be set up, or if none of the addresses is free.
    pub fn new(
        folder: &Path,
        addresses: impl Iterator<Item = SocketAddr>,
        choice: &Choice,
        credentials: Credentials,
        access: Access,
    ) -> Result<Server, Error> {
        let dir = Dir::open_ambient_dir(folder, ambient_authority());
        let dir = dir.map_err(|source| Error::File { path: folder.into(), source })?;
        let (key, reset_key) = (credentials.key(), credentials.reset_key());
        let tls = server_tls(credentials.identity, None, PROTOCOL).map_err(Error::tls)?;
        let builder = || Endpoint::builder(choice.clone()).accept(tls.clone()).reset_secret(reset_key);
        let listen = |address| Ok(builder().idle_timeout(IDLE_TIMEOUT).bind(address)?);
        let endpoint = first_free(addresses, listen)?;
        Ok(Server { endpoint, key: Some(key), root: Arc::new(Root::Within(dir)), access })
    }

    /// Serves until a copy is complete, or without end if [`Access::keep`] is set. `observer` hears of all copies.
    pub async fn run(&self, observer: &Observer) {
        let (strangers, mut known) = Strangers::new(self.key);
        let mut copies = JoinSet::new();
        let mut current: Option<(Connection, Stop)> = None;
        loop {
            tokio::select! {
                incoming = self.endpoint.accept() => {
                    let Some(incoming) = incoming else { return };
                    strangers.admit(incoming);
                }
                Some(client) = known.recv() => {
                    if !self.access.keep && let Some((old, stop)) = current.take() {
                        stop.set();
                        old.close(VarInt::from_u32(code::REPLACED), b"");
                        while copies.join_next().await.is_some() {}
                    }
                    let stop = Stop::default();
                    current = Some((client.connection.clone(), stop.clone()));
                    copies.spawn(serve(client, self.root.clone(), self.access.writable, observer.clone(), stop));
                }
                Some(complete) = copies.join_next(), if !copies.is_empty() => {
                    if matches!(complete, Ok(true)) && !self.access.keep {
                        return;
                    }
                }
            }
        }
    }

    /// Closes all connections, and waits for a moment until the clients have learnt of it.
    pub async fn close(&self) {
        close_all(&self.endpoint, code::STOPPED).await;
    }
}
