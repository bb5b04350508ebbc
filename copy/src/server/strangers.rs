//! Clients that have not yet proved that they know the server's key. Their number is bounded, so that they cannot use
//! up the server's memory.

use crate::close::code;
use crate::handshake::{STEP, Streams, receive_request};
use crate::key::Key;
use crate::message::Request;
use quinn::VarInt;
use std::sync::Arc;
use tokio::sync::{Semaphore, mpsc};
use tokio::time::timeout;
use wire::{Connection, Incoming};

/// Strangers at a time, at most.
const PLACES: usize = 8;
/// The number of places that are reserved for strangers whose address is validated by a Retry packet (RFC 9000, section
/// 8.1.2). That costs them a round trip, and keeps packets with forged addresses from taking these places.
const VALIDATED_PLACES: usize = 6;

/// A client that knows the key.
pub(super) struct KnownClient {
    pub(super) connection: Connection,
    pub(super) request: Request,
    pub(super) streams: Streams,
}

/// The places for strangers.
pub(super) struct Strangers {
    places: Arc<Semaphore>,
    key: Option<Key>,
    known: mpsc::Sender<KnownClient>,
}

impl Strangers {
    /// The places, and the clients that turn out to know `key`.
    pub(super) fn new(key: Option<Key>) -> (Strangers, mpsc::Receiver<KnownClient>) {
        let (known, clients) = mpsc::channel(PLACES);
        (Strangers { places: Arc::new(Semaphore::new(PLACES)), key, known }, clients)
    }

    /// Gives a stranger a place if there is one, and reads its request in a task.
    pub(super) fn admit(&self, incoming: Incoming) {
        if self.places.available_permits() <= VALIDATED_PLACES && !incoming.quinn().remote_address_validated() {
            let _ = incoming.into_quinn().retry(); // This fails only for validated addresses.
            return;
        }
        let Ok(place) = self.places.clone().try_acquire_owned() else {
            incoming.into_quinn().refuse();
            return;
        };
        let (key, known) = (self.key, self.known.clone());
        tokio::spawn(async move {
            if let Ok(Ok(connection)) = timeout(STEP, incoming.finish()).await {
                match receive_request(&connection, key.as_ref()).await {
                    Some((request, streams)) => {
                        let _ = known.send(KnownClient { connection, request, streams }).await;
                    }
                    // Closing frees the memory of what the client has sent.
                    None => connection.close(VarInt::from_u32(code::REFUSED), b"refused"),
                }
            }
            drop(place);
        });
    }
}
