//! How connections end: the codes with which either end closes them, and what the end of a connection means for the
//! copy.

use crate::error::Error;
use crate::name::printable;
use quinn::{ConnectionError, TransportErrorCode, VarInt};
use std::time::Duration;
use tokio::time::timeout;
use wire::{Connection, Endpoint};

/// How long an end waits to learn why the peer has ended its streams, and for the peer to receive the last message.
pub(crate) const LINGER: Duration = Duration::from_secs(2);
/// How long an endpoint waits for its peers to learn that it has closed their connections.
const DRAIN: Duration = Duration::from_millis(300);

/// The application error codes of QUIC's CONNECTION_CLOSE frames.
pub(crate) mod code {
    /// The copy is complete.
    pub(crate) const DONE: u32 = 0;
    /// The server refuses the client's request.
    pub(crate) const REFUSED: u32 = 1;
    /// The peer broke the copy protocol.
    pub(crate) const PROTOCOL: u32 = 2;
    /// The user has stopped this end.
    pub(crate) const STOPPED: u32 = 3;
    /// The client has opened another connection, which replaces this one.
    pub(crate) const REPLACED: u32 = 4;
    /// The client has proved that it knows another key than the server's.
    pub(crate) const WRONG_KEY: u32 = 5;
    /// The client has not proved in time that it knows the key, or its place was given to another one.
    pub(crate) const UNPROVED: u32 = 6;
    /// The server has as many clients as it takes.
    pub(crate) const BUSY: u32 = 7;
}

/// TLS's error for ends that have no application protocol in common (RFC 7301, section 3.2), and so different versions
/// of the copy protocol.
pub(crate) fn no_common_version() -> TransportErrorCode {
    TransportErrorCode::crypto(120)
}

/// Why a copy over one connection ended early.
#[derive(Debug)]
pub(crate) enum Ended {
    /// The connection was lost, in this way. Another connection may succeed.
    Lost(String),
    /// The server has no place for the connection at present.
    NoPlace(Error),
    /// Another connection would fail in the same way.
    Failed(Error),
}

/// Closes all connections of `endpoint` with this code, and waits for a moment until the peers have learnt of it.
pub(crate) async fn close_all(endpoint: &Endpoint, code: u32) {
    endpoint.quinn().close(VarInt::from_u32(code), b"");
    let _ = timeout(DRAIN, endpoint.quinn().wait_idle()).await;
}

/// Why the streams of a connection have ended: waits for a moment for the connection to end, too.
pub(crate) async fn why_ended(connection: &Connection) -> Ended {
    match timeout(LINGER, connection.closed()).await {
        Ok(error) => explain(&error),
        Err(_) => Ended::Lost("the other end has ended the copy".into()),
    }
}

/// What the end of a connection means for the copy.
pub(crate) fn explain(error: &ConnectionError) -> Ended {
    match error {
        ConnectionError::ApplicationClosed(close) => {
            let reason = printable(&String::from_utf8_lossy(&close.reason));
            match u32::try_from(close.error_code.into_inner()) {
                Ok(code::PROTOCOL) => Ended::Failed(Error::Protocol(format!(
                    "the other end says that this end breaks the protocol: {reason}; use the same version of thalweg \
                     at both"
                ))),
                Ok(code::REPLACED) => {
                    Ended::Failed(Error::Refused("another client has connected with the same key".into()))
                }
                Ok(code::REFUSED) => Ended::Failed(Error::Refused("the server refuses the copy".into())),
                Ok(code::WRONG_KEY) => Ended::Failed(Error::Refused(
                    "the key is not this server's; use the string that it printed last".into(),
                )),
                Ok(code::BUSY) => Ended::NoPlace(Error::Refused(
                    "the server has as many clients as it takes at a time; try again later, or start it with a larger \
                     --max-clients"
                        .into(),
                )),
                Ok(code::UNPROVED) => Ended::Lost("the server has waited for too long, or has no place".into()),
                _ => Ended::Lost("the other end was stopped".into()),
            }
        }
        ConnectionError::ConnectionClosed(close) if close.error_code == no_common_version() => {
            Ended::Failed(Error::OtherVersion)
        }
        ConnectionError::TransportError(e)
            if e.code.to_string().contains("certificate") || e.reason.contains("fingerprint") =>
        {
            Ended::Failed(Error::WrongCertificate)
        }
        ConnectionError::TimedOut => Ended::Lost("the other end does not respond any more".into()),
        ConnectionError::LocallyClosed => Ended::Lost("this end was stopped".into()),
        other => Ended::Lost(printable(&other.to_string())),
    }
}
