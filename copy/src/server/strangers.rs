//! Clients that have not yet proved that they know the server's key. They have little time and, by the transport's
//! limits until then ([`crate::handshake::guarded`]), little of the server's memory.

use super::places::{Arrival, Places};
use crate::close::code;
use crate::event::{Event, Observer};
use crate::handshake::{Streams, receive_proof};
use crate::key::Key;
use quinn::{ConnectionError, VarInt};
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::task::{AbortHandle, Id, JoinSet};
use tokio::time::timeout;
use wire::{Connection, Incoming};

/// The time for the whole of a stranger's handshake and proof.
const DEADLINE: Duration = Duration::from_secs(10);
/// The shortest time between two lines about clients of another version, as anybody can cause them.
const NOTE_INTERVAL: Duration = Duration::from_secs(60);

/// A client that knows the key.
pub(super) struct KnownClient {
    pub(super) connection: Connection,
    pub(super) streams: Streams,
}

/// The clients at the door.
pub(super) struct Strangers {
    places: Places<AbortHandle>,
    proofs: JoinSet<(SocketAddr, Result<KnownClient, ConnectionError>)>,
    key: Option<Key>,
    observer: Observer,
    noted: Option<Instant>,
}

impl Strangers {
    /// Nobody is at the door yet.
    pub(super) fn new(key: Option<Key>, observer: Observer) -> Strangers {
        Strangers { places: Places::new(), proofs: JoinSet::new(), key, observer, noted: None }
    }

    /// Gives a stranger a place, in which it can prove in a task that it knows the key.
    pub(super) fn admit(&mut self, incoming: Incoming) {
        let address = incoming.quinn().remote_address();
        match self.places.arrive(address.ip(), incoming.quinn().remote_address_validated()) {
            Arrival::Validate => {
                let _ = incoming.into_quinn().retry(); // This fails only for validated addresses.
                return;
            }
            Arrival::Admit(goes) => goes.iter().for_each(AbortHandle::abort),
        }
        let key = self.key;
        let task = self.proofs.spawn(async move {
            let proof = timeout(DEADLINE, prove(incoming, key)).await;
            (address, proof.unwrap_or(Err(ConnectionError::TimedOut)))
        });
        self.places.take(address.ip(), task);
    }

    /// Waits for the next client that proves that it knows the key; never ends while nobody is at the door.
    pub(super) async fn next(&mut self) -> KnownClient {
        loop {
            let Some(ended) = self.proofs.join_next_with_id().await else { return std::future::pending().await };
            let (id, result) = match ended {
                Ok((id, result)) => (id, Some(result)),
                Err(gone) => (gone.id(), None),
            };
            self.leave(id);
            match result {
                Some((_, Ok(client))) => return client,
                Some((address, Err(ConnectionError::TransportError(e))))
                    if e.code == crate::close::no_common_version() =>
                {
                    self.note_version(address);
                }
                Some((_, Err(_))) | None => {}
            }
        }
    }

    fn leave(&mut self, id: Id) {
        self.places.free(|task| task.id() == id);
    }

    fn note_version(&mut self, address: SocketAddr) {
        if self.noted.is_none_or(|noted| noted.elapsed() >= NOTE_INTERVAL) {
            self.noted = Some(Instant::now());
            (self.observer)(Event::Note(format!(
                "{address}: a client with another version of thalweg was refused; install the same version at both ends"
            )));
        }
    }
}

async fn prove(incoming: Incoming, key: Option<Key>) -> Result<KnownClient, ConnectionError> {
    let mut stranger = Stranger(Some(incoming.finish().await?));
    let Some(connection) = &stranger.0 else { return Err(ConnectionError::LocallyClosed) };
    let streams = receive_proof(connection, key.as_ref()).await?;
    let connection = stranger.0.take().ok_or(ConnectionError::LocallyClosed)?;
    Ok(KnownClient { connection, streams })
}

/// The connection of a stranger. It is closed if the stranger does not become a known client, which frees the memory of
/// what the stranger has sent.
struct Stranger(Option<Connection>);

impl Drop for Stranger {
    fn drop(&mut self) {
        if let Some(connection) = &self.0 {
            connection.close(VarInt::from_u32(code::UNPROVED), b"no proof in time");
        }
    }
}
