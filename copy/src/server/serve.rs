//! One copy of a server, from the client's request on.

use super::strangers::KnownClient;
use crate::close::{Ended, code};
use crate::event::{Event, Observer};
use crate::files::destination::Destination;
use crate::files::root::Root;
use crate::handshake::{grant, refuse};
use crate::message::Request;
use crate::name::source_name;
use crate::sender::Sources;
use crate::session::{Role, run};
use crate::thread::Stop;
use quinn::VarInt;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// How long the server waits for the client to close the connection of a complete copy.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// Grants or refuses a client's request, and copies. Returns whether the copy was completed.
pub(super) async fn serve(
    client: KnownClient,
    root: Arc<Root>,
    writable: bool,
    observer: Observer,
    stop: Stop,
) -> bool {
    let KnownClient { connection, request, streams: (mut to, from) } = client;
    let peer = connection.remote_address();
    let (role, renames) = match role(request, root, writable) {
        Ok(role) => role,
        Err(why) => {
            observer(Event::Problem { path: peer.to_string(), reason: why.clone() });
            refuse(&connection, &mut to, &why).await;
            return false;
        }
    };
    if grant(&mut to, renames).await.is_none() {
        return false;
    }
    let why = match run(&connection, (to, from), role, observer.clone(), &stop).await {
        Ok(_) => {
            let _ = timeout(CLOSE_TIMEOUT, connection.closed()).await;
            connection.close(VarInt::from_u32(code::DONE), b"");
            return true;
        }
        Err(Ended::Lost(why)) => why,
        Err(Ended::Failed(error)) => error.to_string(),
    };
    observer(Event::Note(format!("{peer}: the copy was interrupted: {why}")));
    false
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
            Ok((Role::Receive(destination, options), renames))
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
