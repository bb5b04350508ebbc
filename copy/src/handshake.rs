//! The first messages of a connection: the client proves that it knows the server's secret and says what it asks for,
//! and the server grants or refuses it.
//!
//! Until the proof has come, the server gives the client one stream and a small window, reads 32 bytes, and lets it
//! choose nothing. Everything else comes after the proof.

use crate::close::{Ended, LINGER, code, explain, why_ended};
use crate::error::Error;
use crate::frame::{checked_length, decode, encode};
use crate::key::Key;
use crate::message::{MAX_MESSAGE, MAX_REQUEST, MAX_SOURCES, Request, Response, truncated};
use crate::name::printable;
use quinn::{ConnectionError, RecvStream, SendStream, VarInt};
use serde::de::DeserializeOwned;
use std::time::Duration;
use tokio::time::timeout;
use wire::{Builder, Connection, default_transport};

/// The name of the protocol in the TLS handshake (ALPN). The number is that of the protocol's version.
pub(crate) const PROTOCOL: &[u8] = b"thalweg-cp/10";
/// The label of the keying material over which a client proves that it knows the secret (RFC 8446, section 7.5).
const EXPORTER: &[u8] = b"EXPORTER-thalweg-cp-1";
/// The size of a proof in bytes.
const PROOF: usize = 32;

/// How long the client waits for the server's answer to its request, and the server for the request.
const ANSWER: Duration = Duration::from_secs(30);

/// Bytes that a client may send before the server has read them, until it has proved that it knows the secret. A proof
/// and an ordinary request fit, so that they take no round trip more.
const UNPROVED_WINDOW: u32 = 16 << 10;
/// Bytes of QUIC datagrams that wait at the server, each counted with 32 bytes more. They carry questions for stamps,
/// and reports, of which the newest counts. Flow control does not bound them, and those of a stranger that takes no
/// part in the negotiation of stamps wait until its connection ends.
const DATAGRAMS: usize = 4 << 10;
/// Bytes that a client may send before the server has read them, once it has proved that it knows the secret: enough
/// for 1 Gbps over half a second.
const WINDOW: u32 = 64 << 20;
/// Streams with contents that a client may have open once it has proved that it knows the secret: enough to fill the
/// window.
const CONTENTS_STREAMS: u32 = 128;

/// The bidirectional stream of the messages.
pub(crate) type Streams = (SendStream, RecvStream);

/// An endpoint whose clients get little before they have proved that they know the secret. The window of each stream,
/// which quinn cannot raise later, is that of [`default_transport`]; until the proof, the window of the connection
/// bounds all streams together.
pub(crate) fn guarded(builder: Builder) -> Builder {
    builder.hold_grants().transport(|| {
        let mut transport = default_transport();
        transport
            .receive_window(UNPROVED_WINDOW.into())
            .max_concurrent_bidi_streams(1u32.into())
            .max_concurrent_uni_streams(0u32.into())
            .datagram_receive_buffer_size(Some(DATAGRAMS));
        transport
    })
}

/// Sends the client's proof and its request. Returns the stream of the messages, and the server's answer
/// ([`Response::Granted`]).
pub(crate) async fn request(
    connection: &Connection,
    key: Option<&Key>,
    request: Request,
) -> Result<(Streams, Granted), Ended> {
    let proof = proof(connection, key).ok_or_else(|| Ended::Failed(Error::tls("it exports no keying material")))?;
    let (mut to, mut from) = connection.open_bi().await.map_err(|e| explain(&e))?;
    let encoded = encode(&request).ok().filter(|encoded| encoded.len() <= MAX_REQUEST);
    let encoded = encoded.filter(|_| request.sources() <= MAX_SOURCES);
    let encoded = encoded.ok_or(Ended::Failed(Error::TooManySources))?;
    let answer = async {
        to.write_all(proof.as_bytes()).await.ok()?;
        to.write_all(&encoded).await.ok()?;
        read(&mut from, MAX_MESSAGE).await
    };
    match timeout(ANSWER, answer).await {
        Ok(Some(Response::Granted { renames, folder })) => Ok(((to, from), Granted { renames, folder })),
        Ok(Some(Response::Refused(why))) => Err(Ended::Failed(Error::Refused(printable(&why)))),
        Ok(None) => Err(why_ended(connection).await),
        Err(_) => Err(Ended::Lost("the server does not answer".into())),
    }
}

/// What the server says about a request that it grants ([`Response::Granted`]).
pub(crate) struct Granted {
    pub(crate) renames: bool,
    pub(crate) folder: Vec<u8>,
}

/// Waits for a client's proof that it knows the key. Fails if the connection ends before. A client with a wrong key is
/// told so.
pub(crate) async fn receive_proof(connection: &Connection, key: Option<&Key>) -> Result<Streams, ConnectionError> {
    let (to, mut from) = connection.accept_bi().await?;
    let mut received = [0; PROOF];
    if from.read_exact(&mut received).await.is_err() {
        return Err(connection.close_reason().unwrap_or(ConnectionError::LocallyClosed));
    }
    // blake3 compares hashes in constant time. Without a key, TLS has authenticated the client.
    if key.is_some() && proof(connection, key).is_none_or(|expected| expected != received) {
        connection.close(VarInt::from_u32(code::WRONG_KEY), b"wrong key");
        return Err(ConnectionError::LocallyClosed);
    }
    Ok((to, from))
}

/// Gives a client that has proved that it knows the key what a copy needs. A client that is turned away gets nothing:
/// quinn would hold the close back behind these frames while the congestion window is full.
pub(crate) fn admit(connection: &Connection) {
    connection.set_receive_window(WINDOW.into());
    connection.set_max_concurrent_uni_streams(CONTENTS_STREAMS.into());
    connection.grant_stamps();
}

/// Receives a client's request; `None` if the client sends something else or nothing.
pub(crate) async fn receive_request(from: &mut RecvStream) -> Option<Request> {
    timeout(ANSWER, read(from, MAX_REQUEST)).await.ok().flatten()
}

/// Grants a client's request; `None` if the connection is lost.
pub(crate) async fn grant(to: &mut SendStream, Granted { renames, folder }: Granted) -> Option<()> {
    to.write_all(&encode(&Response::Granted { renames, folder }).ok()?).await.ok()
}

/// Refuses a client's request for this reason, and closes the connection.
pub(crate) async fn refuse(connection: &Connection, to: &mut SendStream, why: &str) {
    if let Ok(response) = encode(&Response::Refused(truncated(why.into())))
        && to.write_all(&response).await.is_ok()
        && to.finish().is_ok()
    {
        let _ = timeout(LINGER, to.stopped()).await;
    }
    connection.close(VarInt::from_u32(code::REFUSED), b"refused");
}

fn proof(connection: &Connection, key: Option<&Key>) -> Option<blake3::Hash> {
    let mut exported = [0; 32];
    connection.export_keying_material(&mut exported, EXPORTER, b"").ok()?;
    Some(key.map_or(blake3::hash(b""), |key| key.proof(&exported)))
}

/// Reads one message of at most `max` bytes; `None` if the stream ends or holds something else.
async fn read<T: DeserializeOwned>(from: &mut RecvStream, max: usize) -> Option<T> {
    let mut length = [0; 4];
    from.read_exact(&mut length).await.ok()?;
    let mut frame = vec![0; checked_length(length, max).ok()?];
    from.read_exact(&mut frame).await.ok()?;
    decode(&frame).ok()
}
