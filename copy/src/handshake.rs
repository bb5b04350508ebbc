//! The first messages of a connection: the client proves that it knows the server's secret and says what it asks for,
//! and the server grants or refuses it.

use crate::close::{Ended, LINGER, code, explain, why_ended};
use crate::error::Error;
use crate::frame::{checked_length, decode, encode};
use crate::key::Key;
use crate::message::{Hello, MAX_HELLO, MAX_MESSAGE, Request, Response, truncated};
use crate::name::printable;
use quinn::{RecvStream, SendStream, VarInt};
use serde::de::DeserializeOwned;
use std::time::Duration;
use tokio::time::timeout;
use wire::Connection;

/// The name of the protocol in the TLS handshake (ALPN). The number is that of the protocol's version.
pub(crate) const PROTOCOL: &[u8] = b"thalweg-cp/2";
/// The label of the keying material over which a client proves that it knows the secret (RFC 8446, section 7.5).
const EXPORTER: &[u8] = b"EXPORTER-thalweg-cp-1";

/// How long one end waits for each step of the handshake at the other end.
pub(crate) const STEP: Duration = Duration::from_secs(10);

/// The bidirectional stream of the messages.
pub(crate) type Streams = (SendStream, RecvStream);

/// Sends the client's request. Returns the stream of the messages, and whether the destination renames the source
/// ([`Response::Granted`]).
pub(crate) async fn request(
    connection: &Connection,
    key: Option<&Key>,
    request: Request,
) -> Result<(Streams, bool), Ended> {
    let proof = proof(connection, key).ok_or_else(|| Ended::Failed(Error::tls("it exports no keying material")))?;
    let (mut to, mut from) = connection.open_bi().await.map_err(|e| explain(&e))?;
    let hello = Hello { proof: *proof.as_bytes(), request };
    let hello = encode(&hello).ok().filter(|hello| hello.len() <= MAX_HELLO);
    let hello = hello.ok_or(Ended::Failed(Error::TooManySources))?;
    if to.write_all(&hello).await.is_err() {
        return Err(why_ended(connection).await);
    }
    match timeout(STEP, read(&mut from, MAX_MESSAGE)).await {
        Ok(Some(Response::Granted { renames })) => Ok(((to, from), renames)),
        Ok(Some(Response::Refused(why))) => Err(Ended::Failed(Error::Refused(printable(&why)))),
        Ok(None) => Err(why_ended(connection).await),
        Err(_) => Err(Ended::Lost("the server does not answer".into())),
    }
}

/// Receives a client's request; `None` if the client does not know the key or sends something else. A client with a
/// wrong key is told so.
pub(crate) async fn receive_request(connection: &Connection, key: Option<&Key>) -> Option<(Request, Streams)> {
    let (mut to, mut from) = timeout(STEP, connection.accept_bi()).await.ok()?.ok()?;
    let hello: Hello = timeout(STEP, read(&mut from, MAX_HELLO)).await.ok()??;
    // blake3 compares hashes in constant time.
    if key.is_some() && proof(connection, key)? != hello.proof {
        refuse(connection, &mut to, "the key is not this server's; use the string that it printed last").await;
        return None;
    }
    Some((hello.request, (to, from)))
}

/// Grants a client's request; `None` if the connection is lost.
pub(crate) async fn grant(to: &mut SendStream, renames: bool) -> Option<()> {
    to.write_all(&encode(&Response::Granted { renames }).ok()?).await.ok()
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
