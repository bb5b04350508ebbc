//! The end that the user has called: it finds the server, asks, and tries again when the connection is lost.

use crate::destination::{Destination, resolve};
use crate::event::{Event, Watch};
use crate::key::Key;
use crate::message::{Farewell, Manner, Request};
use crate::name::of_source;
use crate::receiver::Receiving;
use crate::root::Root;
use crate::sender::Sending;
use crate::session::{Broken, PROTOCOL, Role, ask, code, lost, run};
use crate::ssh::{Host, Started};
use crate::stop::Stop;
use quinn::VarInt;
use std::ffi::OsStr;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::time::{sleep, timeout};
use wire::{Choice, ConnectError, Connection, Endpoint, Fingerprint, Identity, client_tls};

/// What to copy.
pub enum Job {
    /// From the server.
    Fetch {
        /// There.
        paths: Vec<Vec<u8>>,
        /// Here.
        destination: PathBuf,
    },
    /// To the server.
    Push {
        /// Here.
        sources: Vec<PathBuf>,
        /// There.
        destination: Vec<u8>,
    },
}

/// The server.
pub enum Peer {
    /// One that `thalweg serve` has started.
    Known {
        /// Name or address, and port.
        host: String,
        /// As it was printed.
        key: Key,
    },
    /// One that is started over ssh.
    Ssh(Host),
}

/// A copy.
pub struct Copy {
    /// What.
    pub job: Job,
    /// From or to whom.
    pub peer: Peer,
    /// How files are written.
    pub manner: Manner,
    /// What drives it.
    pub choice: Choice,
    /// A connection on which nothing was heard for so long is lost.
    pub silence: Duration,
    /// How long to try again after one was lost.
    pub patience: Duration,
    current: Mutex<Option<(Endpoint, Stop)>>,
    /// An attempt found that the destination is what the source is to be called. The next one finds the folder that it made.
    named: AtomicBool,
}

/// How long an attempt to connect to one address may take.
const ATTEMPT: Duration = Duration::from_secs(10);
/// Between attempts.
const PAUSE: Duration = Duration::from_millis(500);

impl Copy {
    /// A copy with the usual patience.
    pub fn new(job: Job, peer: Peer, manner: Manner, choice: Choice) -> Copy {
        let (silence, patience) = (Duration::from_secs(30), Duration::from_secs(120));
        Copy { job, peer, manner, choice, silence, patience, current: Mutex::default(), named: AtomicBool::default() }
    }

    /// Copies. Fails, with a line, if that could not be completed; files that failed are `watch`'s to count.
    pub async fn run(&self, watch: &Watch) -> Result<Farewell, String> {
        let identity = Identity::new().map_err(|e| e.to_string())?;
        let mut started = None;
        // Since when there is no progress, and why; none before the first connection.
        let mut since: Option<(Instant, String)> = None;
        let moved = Arc::new(AtomicBool::new(false));
        let watch: Watch = {
            let (watch, moved) = (watch.clone(), moved.clone());
            Arc::new(move |event| {
                if matches!(event, Event::Moved(1..)) {
                    moved.store(true, Ordering::Relaxed);
                }
                watch(event);
            })
        };
        loop {
            let failed = match self.attempt(&identity, &mut started, &watch, since.is_some()).await {
                Ok(farewell) => return Ok(farewell),
                Err(failed) => failed,
            };
            let progress = moved.swap(false, Ordering::Relaxed);
            let why = match (failed, &since) {
                (Attempt::Wrong(why), _) | (Attempt::Unreached(why), None) => return Err(why),
                (Attempt::Unreached(why), Some(_)) => why,
                (Attempt::Lost(why), _) => {
                    if progress || since.is_none() {
                        since = Some((Instant::now(), why.clone()));
                    }
                    watch(Event::Retry(why.clone()));
                    why
                }
            };
            if let Some((begin, first)) = &since
                && begin.elapsed() >= self.patience
            {
                let then = if why == *first { String::new() } else { format!(", and then: {why}") };
                return Err(format!("{first}{then}; copy again to continue"));
            }
            sleep(PAUSE).await;
        }
    }

    /// Ends a copy that has not ended by itself.
    pub async fn close(&self) {
        let current = self.current.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((endpoint, stop)) = current {
            stop.set();
            part(&endpoint, code::STOPPED).await;
        }
    }

    async fn attempt(
        &self,
        identity: &Identity,
        started: &mut Option<Started>,
        watch: &Watch,
        again: bool,
    ) -> Result<Farewell, Attempt> {
        // What is wrong here is said before anybody is asked.
        let (request, role) = self.role().map_err(Attempt::Wrong)?;
        let (hosts, fingerprint, key) = match &self.peer {
            Peer::Known { host, key } => (vec![host.clone()], key.server, Some(key)),
            Peer::Ssh(host) => {
                if !started.as_mut().is_some_and(Started::is_alive) {
                    if again {
                        watch(Event::Note(format!("starting thalweg on {} again", host.name)));
                    }
                    let new = host.start(identity.fingerprint(), &self.choice, self.silence).await;
                    *started =
                        Some(new.map_err(|why| if again { Attempt::Unreached(why) } else { Attempt::Wrong(why) })?);
                }
                let started = started.as_ref().ok_or_else(|| Attempt::Wrong("ssh was not started".into()))?;
                (started.hosts.clone(), started.server, None)
            }
        };
        let (endpoint, connection) = self.connect(&hosts, fingerprint, identity).await?;
        let stop = Stop::default();
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = Some((endpoint.clone(), stop.clone()));
        let (streams, named) = ask(&connection, key, request).await?;
        if matches!(self.job, Job::Push { .. }) {
            self.named.store(named, Ordering::Relaxed);
        }
        let farewell = run(&connection, streams, role, watch.clone(), &stop).await;
        part(&endpoint, code::DONE).await;
        Ok(farewell?)
    }

    fn is_named(&self) -> bool {
        self.named.load(Ordering::Relaxed)
    }

    /// What to ask of the server, and what to do here.
    fn role(&self) -> Result<(Request, Role), String> {
        let Manner { recursive, .. } = self.manner;
        let root = Root::Anywhere;
        match &self.job {
            Job::Fetch { paths, destination } => {
                let names = paths.iter().map(|path| OsStr::from_bytes(of_source(path)).into()).collect();
                let Destination { dir, names, named } = resolve(&root, destination, names, self.is_named())?;
                self.named.store(named, Ordering::Relaxed);
                let role = Role::Receive(Receiving { dir, names, manner: self.manner });
                Ok((Request::Fetch { paths: paths.clone(), recursive }, role))
            }
            Job::Push { sources, destination } => {
                let names = sources.iter().map(|path| of_source(path.as_os_str().as_bytes()).to_vec()).collect();
                let role = Role::Send(Sending { root: Arc::new(root), sources: sources.clone(), recursive });
                Ok((
                    Request::Push {
                        destination: destination.clone(),
                        names,
                        named: self.is_named(),
                        manner: self.manner,
                    },
                    role,
                ))
            }
        }
    }

    /// Connects to the first of `hosts` that answers.
    async fn connect(
        &self,
        hosts: &[String],
        server: Fingerprint,
        identity: &Identity,
    ) -> Result<(Endpoint, Connection), Attempt> {
        let mut why = Attempt::Unreached("the server has no address".into());
        for host in hosts {
            let addresses = match tokio::net::lookup_host(host).await {
                Ok(addresses) => addresses,
                Err(e) => {
                    why = Attempt::Unreached(format!("{}: {e}", crate::shown(host)));
                    continue;
                }
            };
            for address in addresses {
                match self.connect_to(address, server, identity).await {
                    Err(Attempt::Unreached(e)) => why = Attempt::Unreached(e),
                    done => return done,
                }
            }
        }
        Err(why)
    }

    async fn connect_to(
        &self,
        address: SocketAddr,
        server: Fingerprint,
        identity: &Identity,
    ) -> Result<(Endpoint, Connection), Attempt> {
        let any = if address.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
        let endpoint = Endpoint::builder(self.choice.clone()).idle_timeout(self.silence).bind(SocketAddr::new(any, 0));
        let endpoint = endpoint.map_err(|e| Attempt::Wrong(format!("no UDP socket: {e}")))?;
        let tls = client_tls(server, Some(identity), PROTOCOL);
        match timeout(ATTEMPT, endpoint.connect(address, "thalweg", tls)).await {
            Ok(Ok(connection)) => Ok((endpoint, connection)),
            Err(_) | Ok(Err(ConnectError::Lost(quinn::ConnectionError::TimedOut))) => Err(Attempt::Unreached(format!(
                "no answer from {address}: the server does not run any more, or something on the way stops UDP to port {}; a \
                 firewall must let it through (--ports and serve --listen choose which port that is)",
                address.port()
            ))),
            Ok(Err(ConnectError::Lost(e))) => Err(match lost(&e) {
                Broken::Lost(why) => Attempt::Unreached(format!("{address}: {why}")),
                Broken::Wrong(why) => Attempt::Wrong(format!("{address}: {why}")),
            }),
            Ok(Err(e)) => Err(Attempt::Unreached(format!("{address}: {e}"))),
        }
    }
}

/// Why an attempt has failed.
enum Attempt {
    /// There was no connection.
    Unreached(String),
    /// There was one.
    Lost(String),
    /// There is no use in another.
    Wrong(String),
}

impl From<Broken> for Attempt {
    fn from(broken: Broken) -> Attempt {
        match broken {
            Broken::Lost(why) => Attempt::Lost(why),
            Broken::Wrong(why) => Attempt::Wrong(why),
        }
    }
}

/// Closes all connections, and waits until the peer has heard of it.
async fn part(endpoint: &Endpoint, code: u32) {
    endpoint.quinn().close(VarInt::from_u32(code), b"");
    let _ = timeout(Duration::from_millis(300), endpoint.quinn().wait_idle()).await;
}
