//! One copy of a server, from the client's request on.

use super::strangers::KnownClient;
use crate::close::{Ended, code};
use crate::event::{Event, Observer};
use crate::files::destination::Destination;
use crate::files::root::Root;
use crate::handshake::{Granted, grant, receive_request, refuse};
use crate::message::Request;
use crate::name::{printable, source_name};
use crate::receiver::Reception;
use crate::sender::Sources;
use crate::session::{Role, run};
use crate::thread::Stop;
use quinn::VarInt;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::time::timeout;

/// How long the server waits for the client to close the connection of a complete copy.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// The number of problems of one copy that the server reports. A client causes them, and its user reads all of them.
const MAX_PROBLEMS: usize = 1000;

/// One copy of a server.
pub(super) struct Copy {
    pub(super) root: Arc<Root>,
    /// The name of the folder that the empty path means.
    pub(super) folder: Vec<u8>,
    pub(super) writable: bool,
    pub(super) observer: Observer,
    pub(super) stop: Stop,
}

impl Copy {
    /// Receives a client's request, grants or refuses it, and copies. Returns whether the copy was completed.
    pub(super) async fn serve(self, client: KnownClient) -> bool {
        let Copy { root, folder, writable, observer, stop } = self;
        let observer = with_bounded_problems(observer);
        let KnownClient { connection, streams: (mut to, mut from) } = client;
        let peer = connection.remote_address();
        let Some(request) = receive_request(&mut from).await else {
            connection.close(VarInt::from_u32(code::PROTOCOL), b"it sends no request");
            return false;
        };
        let (role, renames) = match role(request, root, writable) {
            Ok(role) => role,
            Err(why) => {
                observer(Event::Problem { path: peer.to_string(), reason: printable(&why) });
                refuse(&connection, &mut to, &why).await;
                return false;
            }
        };
        if grant(&mut to, Granted { renames, folder }).await.is_none() {
            return false;
        }
        let why = match run(&connection, (to, from), role, observer.clone(), &stop).await {
            Ok(_) => {
                let _ = timeout(CLOSE_TIMEOUT, connection.closed()).await;
                connection.close(VarInt::from_u32(code::DONE), b"");
                return true;
            }
            Err(Ended::Lost(why)) => why,
            Err(Ended::NoPlace(error) | Ended::Failed(error)) => error.to_string(),
        };
        observer(Event::Note(format!("{peer}: the copy was interrupted: {why}")));
        false
    }
}

/// An observer that is told of [`MAX_PROBLEMS`] problems, and then that there are more: a client must not fill a log.
fn with_bounded_problems(observer: Observer) -> Observer {
    let problems = AtomicUsize::new(0);
    Arc::new(move |event| {
        let more = matches!(event, Event::Problem { .. }).then(|| problems.fetch_add(1, Ordering::Relaxed));
        match more {
            Some(MAX_PROBLEMS) => observer(Event::Note("further problems of this copy are not listed".into())),
            Some(count) if count > MAX_PROBLEMS => {}
            _ => observer(event),
        }
    })
}

/// What the server does for a request, and whether the destination renames the source. Fails with the reason for a
/// refusal.
fn role(request: Request, root: Arc<Root>, writable: bool) -> Result<(Role, bool), String> {
    match request {
        Request::Fetch { paths, recursive } => {
            let paths = paths.iter().map(|path| local_path(&root, path)).collect();
            Ok((Role::Send(Sources { root, paths, recursive }), false))
        }
        Request::Push { .. } if !writable => {
            Err("the server is read-only; start it with thalweg serve --writable".into())
        }
        Request::Push { destination, names, renames, options } => {
            let names: Option<Vec<_>> = names.iter().map(|name| source_name(name)).collect();
            let names = names.ok_or("a source's name is not a file name")?;
            let destination = Destination::resolve(&root, &local_path(&root, &destination), names, renames);
            let destination = destination.map_err(|e| e.to_string())?;
            let renames = destination.renames;
            Ok((Role::Receive(Reception { destination, options, counts: false }), renames))
        }
    }
}

/// A client's path on this host. A server that ssh has started takes it as a shell does: relative to the home folder,
/// which is the process's working folder, and `~` means the home folder.
fn local_path(root: &Root, path: &[u8]) -> PathBuf {
    let path = match root {
        Root::Anywhere if path == b"~" => b"",
        Root::Anywhere => path.strip_prefix(b"~/").unwrap_or(path),
        Root::Within(_) => path,
    };
    PathBuf::from(OsStr::from_bytes(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn a_client_cannot_fill_the_log_of_a_server() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let events = heard.clone();
        let observer = with_bounded_problems(Arc::new(move |event| events.lock().unwrap().push(event)));
        for _ in 0..3 * MAX_PROBLEMS {
            observer(Event::Problem { path: "x".into(), reason: "no".into() });
        }
        observer(Event::Received { bytes: 1 });
        let heard = heard.lock().unwrap();
        assert_eq!(heard.len(), MAX_PROBLEMS + 2);
        assert!(matches!(heard[MAX_PROBLEMS], Event::Note(_)));
    }
}
