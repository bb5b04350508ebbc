//! The end of a copy that waits for clients: for whoever knows its key, or for the one client that has started it over
//! ssh.

pub(crate) mod listen;
mod places;
mod serve;
mod strangers;

use crate::close::{close_all, code};
use crate::error::Error;
use crate::event::Observer;
use crate::files::root::Root;
use crate::handshake::{PROTOCOL, admit, guarded};
use crate::key::{Credentials, Key};
use crate::thread::Stop;
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use listen::first_free;
use quinn::VarInt;
use serve::Copy;
use std::net::SocketAddr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use strangers::Strangers;
use tokio::task::JoinSet;
use wire::{Choice, Connection, Endpoint, server_tls};

/// A connection on which nothing is received for this time is lost. Clients may ask for a shorter time.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);
/// The default of [`Access::max_clients`].
const MAX_CLIENTS: usize = 16;

/// A server.
pub struct Server {
    /// Where it listens.
    pub endpoint: Endpoint,
    /// What clients must know; `None` if TLS admits only the one client.
    pub key: Option<Key>,
    /// What it may read.
    pub root: Arc<Root>,
    /// The name that clients are told of the folder that the empty path means; empty if it has none.
    pub folder: Vec<u8>,
    /// What it permits.
    pub access: Access,
}

/// What a server permits its clients.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// Whether clients may also write, over existing files, too.
    pub writable: bool,
    /// Whether the server goes on after the first complete copy, with several clients at a time. Otherwise it has one
    /// client at a time: a new client replaces the previous one, whose connection may have been lost without notice.
    pub keep: bool,
    /// With `keep`, how many clients the server has at a time, at most; further ones are told to try again later. Each
    /// may have 64 MiB under way, and needs up to [`THREADS`](crate::THREADS) of the threads that the Tokio runtime has
    /// for tasks that block: without them, a client would wait for the end of another's copy.
    pub max_clients: usize,
}

impl Default for Access {
    /// Clients may only read, and one copy is served. If `keep` is set, there are at most 16 clients at a time.
    fn default() -> Access {
        Access { writable: false, keep: false, max_clients: MAX_CLIENTS }
    }
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
        // The folder may be given as `.`, or by a link that clients need not know of.
        let path = folder.canonicalize().map_err(|source| Error::File { path: folder.into(), source })?;
        let name = path.file_name().map(|name| name.as_bytes().to_vec()).unwrap_or_default();
        let (key, reset_key) = (credentials.key(), credentials.reset_key());
        let tls = server_tls(credentials.identity, None, PROTOCOL).map_err(Error::tls)?;
        let builder = || Endpoint::builder(choice.clone()).accept(tls.clone()).reset_secret(reset_key);
        let listen = |address| Ok(guarded(builder()).idle_timeout(IDLE_TIMEOUT).bind(address)?);
        let endpoint = first_free(addresses, listen)?;
        Ok(Server { endpoint, key: Some(key), root: Arc::new(Root::Within(dir)), folder: name, access })
    }

    /// Serves until a copy is complete, or without end if [`Access::keep`] is set. `observer` hears of all copies.
    pub async fn run(&self, observer: &Observer) {
        let mut strangers = Strangers::new(self.key, observer.clone());
        let mut copies = JoinSet::new();
        let mut current: Option<(Connection, Stop)> = None;
        loop {
            tokio::select! {
                incoming = self.endpoint.accept() => {
                    let Some(incoming) = incoming else { return };
                    strangers.admit(incoming);
                }
                client = strangers.next() => {
                    if self.access.keep && copies.len() >= self.access.max_clients {
                        client.connection.close(VarInt::from_u32(code::BUSY), b"busy");
                        continue;
                    }
                    admit(&client.connection);
                    let mut replaced = JoinSet::new();
                    if !self.access.keep && let Some((old, stop)) = current.take() {
                        stop.set();
                        old.close(VarInt::from_u32(code::REPLACED), b"");
                        replaced = std::mem::take(&mut copies);
                    }
                    let stop = Stop::default();
                    current = Some((client.connection.clone(), stop.clone()));
                    let copy = Copy {
                        root: self.root.clone(),
                        folder: self.folder.clone(),
                        writable: self.access.writable,
                        observer: observer.clone(),
                        stop,
                    };
                    copies.spawn(async move {
                        // The files of the replaced copy must be free. Meanwhile others can come to the door. If that
                        // copy was complete and waited for its client to close the connection, it counts.
                        let mut complete = false;
                        while let Some(result) = replaced.join_next().await {
                            complete |= matches!(result, Ok(true));
                        }
                        copy.serve(client).await || complete
                    });
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
