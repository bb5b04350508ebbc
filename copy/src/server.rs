//! The end that waits: for whoever knows its key, or for the client that ssh has brought.

use crate::destination::{Destination, resolve};
use crate::event::{Event, Watch};
use crate::key::{Key, Pass};
use crate::list::reason;
use crate::message::Request;
use crate::name::single;
use crate::receiver::Receiving;
use crate::root::Root;
use crate::sender::Sending;
use crate::session::{Broken, PROTOCOL, Role, Streams, WORD, code, grant, hear, refuse, run};
use crate::stop::Stop;
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use quinn::VarInt;
use std::ffi::OsStr;
use std::io;
use std::net::SocketAddr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio::time::timeout;
use wire::{Choice, Connection, Endpoint, server_tls};

/// Clients that have not shown yet that they know the key, at most.
const STRANGERS: usize = 8;
/// So many of these places are for those who have shown that they are where they say (RFC 9000, section 8.1.2), which costs
/// them a round trip: nobody takes them with forged addresses.
const SHOWN: usize = 6;
/// A client of which nothing was heard for so long is gone. Clients may ask for less.
const SILENCE: Duration = Duration::from_secs(30);
/// How long a client may take to say that it has all.
const PARTING: Duration = Duration::from_secs(5);

/// A server.
pub struct Server {
    /// Where it can be reached.
    pub endpoint: Endpoint,
    /// What clients must know; none if TLS lets nobody else in.
    pub key: Option<Key>,
    /// What it may read.
    pub root: Arc<Root>,
    /// Whether it may write there, too.
    pub writable: bool,
    /// Whether it goes on after the first copy. If not, there is one client at a time: a newer one takes the place of an older one,
    /// whose connection may be lost without anybody having noticed.
    pub keep: bool,
}

impl Server {
    /// A server of one folder, and nothing else, at the first of `addresses` that is free; `pass` is how it is known. Fails,
    /// with a line, if it cannot be.
    pub fn of_folder(
        folder: &Path,
        addresses: impl Iterator<Item = SocketAddr>,
        choice: &Choice,
        pass: Pass,
        (writable, keep): (bool, bool),
    ) -> Result<Server, String> {
        let dir = Dir::open_ambient_dir(folder, ambient_authority());
        let dir = dir.map_err(|e| format!("{}: {}", crate::shown_path(folder), reason(&e)))?;
        let (key, resets) = (pass.key(), pass.resets());
        let tls = server_tls(pass.identity, None, PROTOCOL).map_err(|e| e.to_string())?;
        let builder =
            || Endpoint::builder(choice.clone()).accept(tls.clone()).reset_secret(resets).idle_timeout(SILENCE);
        let endpoint = first_free(addresses, |address| Ok(builder().bind(address)?))?;
        Ok(Server { endpoint, key: Some(key), root: Arc::new(Root::Within(dir)), writable, keep })
    }

    /// Serves until a copy is complete, or forever if it is to go on. `watch` hears of everything.
    pub async fn run(&self, watch: &Watch) {
        let (introduce, mut introduced) = mpsc::channel(STRANGERS);
        let strangers = Arc::new(Semaphore::new(STRANGERS));
        let mut copies = JoinSet::new();
        let mut current: Option<(Connection, Stop)> = None;
        loop {
            tokio::select! {
                incoming = self.endpoint.accept() => {
                    let Some(incoming) = incoming else { return };
                    if strangers.available_permits() <= SHOWN && !incoming.quinn().remote_address_validated() {
                        let _ = incoming.into_quinn().retry(); // it may: it was not validated
                        continue;
                    }
                    let Ok(place) = strangers.clone().try_acquire_owned() else {
                        incoming.into_quinn().refuse();
                        continue;
                    };
                    let (key, introduce) = (self.key, introduce.clone());
                    tokio::spawn(async move {
                        if let Ok(Ok(connection)) = timeout(WORD, incoming.finish()).await {
                            match hear(&connection, key.as_ref()).await {
                                Some((request, streams)) => {
                                    let _ = introduce.send((connection, request, streams)).await;
                                }
                                // What it has sent and nobody reads takes memory.
                                None => connection.close(VarInt::from_u32(code::REFUSED), b"refused"),
                            }
                        }
                        drop(place);
                    });
                }
                Some((connection, request, streams)) = introduced.recv() => {
                    if !self.keep && let Some((old, stop)) = current.take() {
                        stop.set();
                        old.close(VarInt::from_u32(code::REPLACED), b"");
                        while copies.join_next().await.is_some() {}
                    }
                    let stop = Stop::default();
                    current = Some((connection.clone(), stop.clone()));
                    let (root, writable, watch) = (self.root.clone(), self.writable, watch.clone());
                    copies.spawn(async move { serve(connection, request, streams, root, writable, watch, stop).await });
                }
                Some(complete) = copies.join_next(), if !copies.is_empty() => {
                    if matches!(complete, Ok(true)) && !self.keep {
                        return;
                    }
                }
            }
        }
    }

    /// Ends all connections.
    pub async fn close(&self) {
        self.endpoint.quinn().close(VarInt::from_u32(code::STOPPED), b"");
        let _ = timeout(Duration::from_millis(300), self.endpoint.quinn().wait_idle()).await;
    }
}

/// One copy; whether it was completed.
async fn serve(
    connection: Connection,
    request: Request,
    (mut to, from): Streams,
    root: Arc<Root>,
    writable: bool,
    watch: Watch,
    stop: Stop,
) -> bool {
    let peer = connection.remote_address();
    let (role, named) = match role(request, root, writable) {
        Ok(role) => role,
        Err(why) => {
            watch(Event::Problem(peer.to_string(), why.clone()));
            refuse(&connection, &mut to, &why).await;
            return false;
        }
    };
    if grant(&mut to, named).await.is_none() {
        return false;
    }
    match run(&connection, (to, from), role, watch.clone(), &stop).await {
        Ok(_) => {
            let _ = timeout(PARTING, connection.closed()).await;
            connection.close(VarInt::from_u32(code::DONE), b"");
            true
        }
        Err(Broken::Lost(why) | Broken::Wrong(why)) => {
            watch(Event::Note(format!("{peer}: the copy broke off: {why}")));
            false
        }
    }
}

/// What the server does of what a client wants, and whether the destination is a name.
fn role(request: Request, root: Arc<Root>, writable: bool) -> Result<(Role, bool), String> {
    match request {
        Request::Fetch { paths, recursive } => {
            let sources = paths.iter().map(|path| local(&root, path)).collect();
            Ok((Role::Send(Sending { root, sources, recursive }), false))
        }
        Request::Push { .. } if !writable => {
            Err("the server only lets read; start it with thalweg serve --writable".into())
        }
        Request::Push { destination, names, named, manner } => {
            let names: Option<Vec<_>> = names.iter().map(|name| single(name)).collect();
            let names = names.ok_or("a name leads elsewhere")?;
            let Destination { dir, names, named } = resolve(&root, &local(&root, &destination), names, named)?;
            Ok((Role::Receive(Receiving { dir, names, manner }), named))
        }
    }
}

/// A client's path, where the user may go anywhere: relative to the home, as in a shell.
fn local(root: &Root, path: &[u8]) -> PathBuf {
    let path = match root {
        Root::Anywhere if path == b"~" => b"",
        Root::Anywhere => path.strip_prefix(b"~/").unwrap_or(path),
        Root::Within(_) => path,
    };
    PathBuf::from(OsStr::from_bytes(path))
}

/// An endpoint at the first address that is free. Fails, with a line, if none is.
pub(crate) fn first_free(
    addresses: impl Iterator<Item = SocketAddr>,
    listen: impl Fn(SocketAddr) -> io::Result<Endpoint>,
) -> Result<Endpoint, String> {
    let mut why = String::from("the range of ports is empty");
    for address in addresses {
        match listen(address) {
            Ok(endpoint) => return Ok(endpoint),
            Err(e) => why = format!("cannot listen at UDP port {}: {}", address.port(), reason(&e)),
        }
    }
    Err(why)
}
