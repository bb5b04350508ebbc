//! One attempt of a client: it starts the server if it is reached over ssh, connects, asks, and copies.

use super::connect::Connector;
use super::failure::Failure;
use super::{Client, Job, Peer};
use crate::close::{close_all, code};
use crate::error::Error;
use crate::event::{Event, Observer};
use crate::files::destination::Destination;
use crate::files::root::Root;
use crate::handshake;
use crate::message::{Request, Summary};
use crate::name::{CopyName, copy_name, folder_name, printable};
use crate::receiver::Reception;
use crate::sender::Sources;
use crate::session::{Role, run};
use crate::ssh::host::{Host, RemoteServer};
use crate::thread::Stop;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use wire::Identity;

impl Client {
    /// Makes one attempt. `remote` is the server that an earlier attempt has started over ssh; `again` says that a
    /// connection was lost before.
    pub(super) async fn attempt(
        &self,
        identity: &Identity,
        remote: &mut Option<RemoteServer>,
        observer: &Observer,
        again: bool,
    ) -> Result<Summary, Failure> {
        // Errors on this host are found before a server is asked.
        let (request, mut role) = self.role(again).map_err(Failure::Final)?;
        let (hosts, server, key) = match &self.peer {
            Peer::Served { host, key } => (vec![host.clone()], key.server, Some(key)),
            Peer::Ssh(host) => {
                let remote = self.remote_server(host, identity, remote, observer, again).await?;
                (remote.addresses.clone(), remote.certificate, None)
            }
        };
        let connector = Connector { server, identity, choice: &self.choice, idle_timeout: self.idle_timeout };
        let (endpoint, connection) = connector.connect(&hosts).await?;
        let stop = Stop::default();
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = Some((endpoint.clone(), stop.clone()));
        let (streams, granted) = handshake::request(&connection, key, request).await?;
        match &mut role {
            Role::Send(_) => self.renames.store(granted.renames, Ordering::Relaxed),
            Role::Receive(reception) => {
                let named = self.name_folder(&mut reception.destination, &granted.folder);
                if let Err(error) = named {
                    close_all(&endpoint, code::STOPPED).await;
                    return Err(Failure::Final(error));
                }
            }
        }
        let summary = run(&connection, streams, role, observer.clone(), &stop).await;
        close_all(&endpoint, code::DONE).await;
        Ok(summary?)
    }

    /// The server on the other host: the one that is running, or a new one.
    async fn remote_server<'a>(
        &self,
        host: &Host,
        identity: &Identity,
        remote: &'a mut Option<RemoteServer>,
        observer: &Observer,
        again: bool,
    ) -> Result<&'a RemoteServer, Failure> {
        // A server that has ended is dropped here.
        let running = match remote.take().and_then(RemoteServer::if_alive) {
            Some(running) => running,
            None => {
                if again {
                    observer(Event::Note(format!("starting thalweg on {} again", host.name)));
                }
                let started = host.start(identity.fingerprint(), &self.choice, self.idle_timeout).await;
                started.map_err(if again { Failure::NotConnected } else { Failure::Final })?
            }
        };
        Ok(remote.insert(running))
    }

    /// Names the copies of sources with an empty path as the server says that the folder is called.
    fn name_folder(&self, destination: &mut Destination, folder: &[u8]) -> Result<(), Error> {
        let Job::Fetch { paths, .. } = &self.job else { return Ok(()) };
        let unnamed = paths.iter().enumerate().filter(|(_, path)| copy_name(path) == CopyName::Folder);
        for (source, _) in unnamed.filter(|_| !destination.renames).collect::<Vec<_>>() {
            let name = folder_name(folder).ok_or_else(|| {
                Error::Unnamed(format!(
                    "the server calls its folder `{}`, which cannot be the name of the copy; name the copy, or write \
                     /. at the end of the source to copy the folder's contents",
                    printable(&String::from_utf8_lossy(folder))
                ))
            })?;
            destination.name(source, name);
        }
        Ok(())
    }

    /// What to ask of the server, and what to do at this end.
    fn role(&self, again: bool) -> Result<(Request, Role), Error> {
        let renames = self.renames.load(Ordering::Relaxed);
        let (options, recursive) = (self.options, self.options.recursive);
        let root = Root::Anywhere;
        match &self.job {
            Job::Fetch { paths, destination } => {
                let name = |path: &Vec<u8>| match copy_name(path) {
                    CopyName::Last(name) => Ok(OsStr::from_bytes(name).into()),
                    CopyName::Contents | CopyName::Folder => Ok(PathBuf::new()),
                    CopyName::Unknown => Err(Error::Unnamed(format!(
                        "{}: this source has no name for its copy; write /. at its end to copy the folder's contents",
                        printable(&String::from_utf8_lossy(path))
                    ))),
                };
                let names = paths.iter().map(name).collect::<Result<_, _>>()?;
                let destination = Destination::resolve(&root, destination, names, renames)?;
                self.renames.store(destination.renames, Ordering::Relaxed);
                let reception = Reception { destination, options, counts: !again };
                Ok((Request::Fetch { paths: paths.clone(), recursive }, Role::Receive(reception)))
            }
            Job::Push { sources, destination } => {
                let name = |path: &PathBuf| match copy_name(path.as_os_str().as_bytes()) {
                    CopyName::Last(name) => name.to_vec(),
                    CopyName::Contents | CopyName::Folder | CopyName::Unknown => Vec::new(),
                };
                let names = sources.iter().map(name).collect();
                let role = Role::Send(Sources { root: Arc::new(root), paths: sources.clone(), recursive });
                Ok((Request::Push { destination: destination.clone(), names, renames, options }, role))
            }
        }
    }
}
