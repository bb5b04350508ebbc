//! One copy over one connection: who the client is and what it wants, then the threads of either side.

use crate::event::{Event, Watch};
use crate::key::Key;
use crate::message::{Farewell, Hello, LONGEST, LONGEST_HELLO, Request, Welcome, checked, decode, encode, short};
use crate::pipe::{In, Out};
use crate::receiver::{self, Receiving};
use crate::sender::{self, Sending};
use crate::stop::Stop;
use quinn::{ConnectionError, RecvStream, SendStream, VarInt};
use serde::de::DeserializeOwned;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::timeout;
use wire::{Connection, Stamps};

/// What the connections' application protocol is called (ALPN).
pub(crate) const PROTOCOL: &[u8] = b"thalweg-cp/2";
/// What is drawn from the TLS session to prove that a client knows the secret.
const EXPORTER: &[u8] = b"EXPORTER-thalweg-cp-1";

/// Why a connection is closed, for the peer.
pub(crate) mod code {
    /// The copy is done.
    pub(crate) const DONE: u32 = 0;
    /// The client may not do that.
    pub(crate) const REFUSED: u32 = 1;
    /// The peer broke the protocol.
    pub(crate) const PROTOCOL: u32 = 2;
    /// The user ended it.
    pub(crate) const STOPPED: u32 = 3;
    /// The client has connected anew.
    pub(crate) const REPLACED: u32 = 4;
}

/// How long the peer may take to say who it is, or to agree.
pub(crate) const WORD: Duration = Duration::from_secs(10);
/// How long the peer may take to say why it has ended its streams.
const REASON: Duration = Duration::from_secs(2);

/// What threads do.
pub(crate) type Work = Vec<Box<dyn FnOnce() -> io::Result<()> + Send>>;

/// Why a copy ended early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Broken {
    /// The connection was lost. Another may do better.
    Lost(String),
    /// It would not.
    Wrong(String),
}

/// What one end does of a copy.
pub(crate) enum Role {
    Send(Sending),
    Receive(Receiving),
}

/// The streams that a connection begins with.
pub(crate) type Streams = (SendStream, RecvStream);

/// Says what the client wants, and hears whether it may, and whether the destination is a name.
pub(crate) async fn ask(
    connection: &Connection,
    key: Option<&Key>,
    request: Request,
) -> Result<(Streams, bool), Broken> {
    let proof = proof(connection, key).ok_or_else(|| Broken::Wrong("TLS gives no keying material".into()))?;
    let (mut to, mut from) = connection.open_bi().await.map_err(|e| lost(&e))?;
    let hello = encode(&Hello { proof: *proof.as_bytes(), request }).map_err(|e| Broken::Wrong(e.to_string()))?;
    if hello.len() > LONGEST_HELLO {
        return Err(Broken::Wrong("too many files are named at once; copy the folder that they are in with -r".into()));
    }
    if to.write_all(&hello).await.is_err() {
        return Err(reason(connection).await);
    }
    match timeout(WORD, word(&mut from, LONGEST)).await {
        Ok(Ok(Welcome::Granted { named })) => Ok(((to, from), named)),
        Ok(Ok(Welcome::Refused(why))) => Err(Broken::Wrong(crate::shown(&why))),
        Ok(Err(_)) => Err(reason(connection).await),
        Err(_) => Err(Broken::Lost("the server does not answer".into())),
    }
}

/// Hears what a client wants; none if it does not know the key or makes no sense.
pub(crate) async fn hear(connection: &Connection, key: Option<&Key>) -> Option<(Request, Streams)> {
    let (mut to, mut from) = timeout(WORD, connection.accept_bi()).await.ok()?.ok()?;
    let hello: Hello = timeout(WORD, word(&mut from, LONGEST_HELLO)).await.ok()?.ok()?;
    // Compared in constant time by the library.
    if key.is_some() && proof(connection, key)? != hello.proof {
        refuse(connection, &mut to, "the key is not this server's; use the string that it printed last").await;
        return None;
    }
    Some((hello.request, (to, from)))
}

/// Tells a client that it may.
pub(crate) async fn grant(to: &mut SendStream, named: bool) -> Option<()> {
    to.write_all(&encode(&Welcome::Granted { named }).ok()?).await.ok()
}

/// Tells a client that it may not, and closes.
pub(crate) async fn refuse(connection: &Connection, to: &mut SendStream, why: &str) {
    if let Ok(word) = encode(&Welcome::Refused(short(why.into())))
        && to.write_all(&word).await.is_ok()
        && to.finish().is_ok()
    {
        let _ = timeout(REASON, to.stopped()).await;
    }
    connection.close(VarInt::from_u32(code::REFUSED), b"refused");
}

fn proof(connection: &Connection, key: Option<&Key>) -> Option<blake3::Hash> {
    let mut exported = [0; 32];
    connection.export_keying_material(&mut exported, EXPORTER, b"").ok()?;
    Some(key.map_or(blake3::hash(b""), |key| key.proof(&exported)))
}

async fn word<T: DeserializeOwned>(from: &mut RecvStream, longest: usize) -> Result<T, ()> {
    let mut length = [0; 4];
    from.read_exact(&mut length).await.map_err(drop)?;
    let mut frame = vec![0; checked(length, longest).map_err(drop)?];
    from.read_exact(&mut frame).await.map_err(drop)?;
    decode(&frame).map_err(drop)
}

/// Sends or receives until all is done, or the connection ends.
pub(crate) async fn run(
    connection: &Connection,
    (to, from): Streams,
    role: Role,
    watch: Watch,
    stop: &Stop,
) -> Result<Farewell, Broken> {
    let farewell = Arc::new(Mutex::new(Farewell::default()));
    let (out, gone) = Out::new(to);
    let work = match role {
        Role::Send(sending) => {
            watch(Event::Detail(format!("pacing: {}", connection.pacing())));
            let own = connection.clone();
            let kept = farewell.clone();
            let ask = Box::new(move || {
                let said = summary(&own);
                kept.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&said);
                said
            });
            sender::work(
                sending,
                out,
                In::new(async { Some(from) }),
                Out::over((**connection).clone()),
                ask,
                watch,
                stop.clone(),
            )
        }
        Role::Receive(receiving) => {
            let data = In::over((**connection).clone());
            receiver::work(receiving, In::new(async { Some(from) }), out, data, farewell.clone(), watch, stop.clone())
        }
    };
    let mut threads = JoinSet::new();
    for part in work {
        threads.spawn_blocking(part);
    }
    let mut broken = None;
    while let Some(ended) = threads.join_next().await {
        let ended = ended.unwrap_or_else(|e| Err(io::Error::other(e)));
        if let Err(e) = ended
            && broken.is_none()
        {
            stop.set();
            broken = Some(match e.kind() {
                io::ErrorKind::InvalidData => {
                    let what = e.to_string();
                    connection.close(VarInt::from_u32(code::PROTOCOL), what.as_bytes());
                    Broken::Wrong(format!("the other end breaks the protocol: {what}"))
                }
                _ => reason(connection).await,
            });
            // Whatever waits for the peer need not any more.
            connection.close(VarInt::from_u32(code::STOPPED), b"");
        }
    }
    if let Some(broken) = broken {
        return Err(broken);
    }
    // The last word is on its way.
    let _ = timeout(REASON, gone).await;
    Ok(farewell.lock().unwrap_or_else(PoisonError::into_inner).clone())
}

/// What the sender says of the transfer.
fn summary(connection: &Connection) -> Farewell {
    let path = connection.stats().path;
    let chosen = connection.controller();
    let controller = match connection.stamps() {
        Stamps::Unneeded | Stamps::On => chosen.to_string(),
        Stamps::Unanswered => format!("{chosen} (no router answered it: Reno drove)"),
        Stamps::Blocked => format!("{chosen} (the path takes no packets as large as it stamps: CUBIC drove)"),
        Stamps::Asked | Stamps::Refused => format!("{chosen} (the other end does not stamp: CUBIC drove)"),
    };
    Farewell { packets: path.sent_packets, lost: path.lost_packets, controller }
}

/// Why the streams of a connection have ended.
async fn reason(connection: &Connection) -> Broken {
    match timeout(REASON, connection.closed()).await {
        Ok(error) => lost(&error),
        Err(_) => Broken::Lost("the other end has ended the copy".into()),
    }
}

/// Why a connection was lost.
pub(crate) fn lost(error: &ConnectionError) -> Broken {
    match error {
        ConnectionError::ApplicationClosed(close) => {
            let said = crate::shown(&String::from_utf8_lossy(&close.reason));
            match u32::try_from(close.error_code.into_inner()) {
                Ok(code::PROTOCOL) => {
                    Broken::Wrong(format!("the other end says that this one breaks the protocol: {said}"))
                }
                Ok(code::REPLACED) => Broken::Wrong("another client has connected with the same key".into()),
                Ok(code::REFUSED) => Broken::Wrong("the server refuses".into()),
                _ => Broken::Lost("the other end was stopped".into()),
            }
        }
        ConnectionError::TransportError(e)
            if e.code.to_string().contains("certificate") || e.reason.contains("fingerprint") =>
        {
            Broken::Wrong(
                "the certificate is not the one that was announced: the server was started anew and has another \
                 key, or somebody else answers in its place"
                    .into(),
            )
        }
        ConnectionError::TimedOut => Broken::Lost("nothing was heard from the other end".into()),
        ConnectionError::LocallyClosed => Broken::Lost("it was stopped here".into()),
        other => Broken::Lost(crate::shown(&other.to_string())),
    }
}
