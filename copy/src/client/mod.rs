//! The end of a copy that the user has started: it finds the server, asks for the copy, and tries again when the
//! connection is lost.

mod attempt;
mod connect;
mod failure;
mod retry;

use crate::close::{close_all, code};
use crate::error::Error;
use crate::event::{Event, Observer};
use crate::key::Key;
use crate::message::{Options, Summary};
use crate::ssh::host::{Host, RemoteServer};
use crate::thread::Stop;
use failure::Failure;
use retry::Retry;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::time::sleep;
use wire::{Choice, Endpoint, Identity};

/// The time between two attempts to connect.
const PAUSE: Duration = Duration::from_millis(500);

/// What to copy.
pub enum Job {
    /// Copy files from the server.
    Fetch {
        /// Paths on the server.
        paths: Vec<Vec<u8>>,
        /// A path on this host.
        destination: PathBuf,
    },
    /// Copy files to the server.
    Push {
        /// Paths on this host.
        sources: Vec<PathBuf>,
        /// A path on the server.
        destination: Vec<u8>,
    },
}

/// The server of a copy.
pub enum Peer {
    /// A server that `thalweg serve` runs.
    Served {
        /// The server's name or IP address, and its UDP port.
        host: String,
        /// The key that it printed.
        key: Key,
    },
    /// A server that is started over ssh.
    Ssh(Host),
}

/// A copy between this host and a server.
pub struct Client {
    /// What to copy.
    pub job: Job,
    /// From or to which server.
    pub peer: Peer,
    /// How files are copied.
    pub options: Options,
    /// The congestion controller of what this end sends and, over ssh, of what the server sends.
    pub choice: Choice,
    /// A connection on which nothing is received for this time is lost.
    pub idle_timeout: Duration,
    /// For how long the client tries again after a connection was lost. Each connection over which file contents arrive
    /// starts this time anew.
    pub retry_for: Duration,
    /// The connection's endpoint and the flag of its threads, for [`Client::close`].
    current: Mutex<Option<(Endpoint, Stop)>>,
    /// Whether an earlier attempt found that the destination renames the source ([`Response::Granted`]).
    ///
    /// [`Response::Granted`]: crate::message::Response::Granted
    renames: AtomicBool,
}

impl Client {
    /// A copy with an idle timeout of 30 s that is tried again for 120 s.
    pub fn new(job: Job, peer: Peer, options: Options, choice: Choice) -> Client {
        let (idle_timeout, retry_for) = (Duration::from_secs(30), Duration::from_secs(120));
        let (current, renames) = (Mutex::default(), AtomicBool::default());
        Client { job, peer, options, choice, idle_timeout, retry_for, current, renames }
    }

    /// Copies. Files that could not be copied are reported to `observer` and are no error. Fails if the copy was not
    /// completed: the server cannot be reached or refuses, the destination cannot be used, one end breaks the protocol,
    /// or the connection was lost and no attempt within [`Client::retry_for`] succeeded.
    pub async fn run(&self, observer: &Observer) -> Result<Summary, Error> {
        let identity = Identity::new().map_err(Error::tls)?;
        let mut remote: Option<RemoteServer> = None;
        let mut retry = Retry::new(self.retry_for);
        let progress = Arc::new(AtomicBool::new(false));
        let observer: Observer = {
            let (observer, progress) = (observer.clone(), progress.clone());
            Arc::new(move |event| {
                if matches!(event, Event::Received { bytes: 1.. }) {
                    progress.store(true, Ordering::Relaxed);
                }
                observer(event);
            })
        };
        loop {
            let failure = match self.attempt(&identity, &mut remote, &observer, retry.is_retrying()).await {
                Ok(summary) => return Ok(summary),
                Err(failure) => failure,
            };
            if let Failure::Lost(reason) = &failure {
                observer(Event::Retry { reason: reason.clone() });
            }
            retry.on_failure(failure, progress.swap(false, Ordering::Relaxed), Instant::now())?;
            sleep(PAUSE).await;
        }
    }

    /// Stops a copy that has not ended by itself. Its [`Client::run`] must not be polled any more.
    pub async fn close(&self) {
        let current = self.current.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((endpoint, stop)) = current {
            stop.set();
            close_all(&endpoint, code::STOPPED).await;
        }
    }
}
