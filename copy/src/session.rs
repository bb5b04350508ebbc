//! One copy over one connection, after the handshake: starts the threads of the sender or the receiver and waits for
//! their end.

use crate::close::{Ended, LINGER, code, why_ended};
use crate::error::Error;
use crate::event::Observer;
use crate::files::sync::AT_ONCE;
use crate::handshake::Streams;
use crate::message::Summary;
use crate::receiver::{self, Reception};
use crate::sender::{self, Sources};
use crate::streams;
use crate::thread::Stop;
use quinn::VarInt;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::task::JoinSet;
use tokio::time::timeout;
use wire::{Connection, Stamps};

/// Threads that one copy takes at one end, at most, of those that the Tokio runtime has for tasks that block: a
/// receiver's, of which two read, and the others flush.
pub const THREADS: usize = AT_ONCE + 2;

/// What this end does in a copy.
pub(crate) enum Role {
    Send(Sources),
    Receive(Reception),
}

/// Runs a copy until it is complete or the connection ends. Files that could not be copied are reported to `observer`
/// and are no error. Returns what the sender says about its packets.
pub(crate) async fn run(
    connection: &Connection,
    (to, from): Streams,
    role: Role,
    observer: Observer,
    stop: &Stop,
) -> Result<Summary, Ended> {
    let summary = Arc::new(Mutex::new(Summary::default()));
    let from = streams::reader(from);
    let (to, sent) = streams::writer(to);
    let bodies = match role {
        Role::Send(sources) => {
            let (own, result) = (connection.clone(), summary.clone());
            let summarize = Box::new(move || {
                let summary = summarize(&own);
                result.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&summary);
                summary
            });
            let contents = streams::contents_writer((**connection).clone());
            sender::threads(sources, to, from, contents, summarize, observer, stop.clone())
        }
        Role::Receive(reception) => {
            let contents = streams::contents_reader((**connection).clone());
            receiver::threads(reception, from, to, contents, summary.clone(), observer, stop.clone())
        }
    };
    let mut threads = JoinSet::new();
    for body in bodies {
        threads.spawn_blocking(body);
    }
    let mut ended = None;
    while let Some(result) = threads.join_next().await {
        let result = result.unwrap_or_else(|e| Err(io::Error::other(e)));
        if let Err(e) = result
            && ended.is_none()
        {
            stop.set();
            ended = Some(match e.kind() {
                io::ErrorKind::InvalidData => {
                    let how = e.to_string();
                    connection.close(VarInt::from_u32(code::PROTOCOL), how.as_bytes());
                    Ended::Failed(Error::Protocol(format!("the other end breaks the protocol: {how}")))
                }
                _ => why_ended(connection).await,
            });
            // The other threads may be waiting for the peer: the end of the connection ends them.
            connection.close(VarInt::from_u32(code::STOPPED), b"");
        }
    }
    if let Some(ended) = ended {
        return Err(ended);
    }
    // The last message is still on its way.
    let _ = timeout(LINGER, sent).await;
    Ok(summary.lock().unwrap_or_else(PoisonError::into_inner).clone())
}

/// What the sender says about its packets: counts, and which controller was in charge.
fn summarize(connection: &Connection) -> Summary {
    let path = connection.stats().path;
    let chosen = connection.controller();
    let controller = match connection.stamps() {
        Stamps::Unneeded | Stamps::On => chosen.to_string(),
        Stamps::Unanswered => format!("{chosen} (Reno in its place: no router on the path answered)"),
        Stamps::Blocked => format!("{chosen} (CUBIC in its place: the path does not carry its stamped packets)"),
        Stamps::Asked | Stamps::Refused => format!("{chosen} (CUBIC in its place: the other end does not stamp)"),
    };
    Summary { packets: path.sent_packets, lost: path.lost_packets, controller }
}
