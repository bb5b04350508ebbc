//! The server's side: `thalweg cp --server`, which ssh runs on the other host.

use super::line::{Setup, Started, read_line, write_line};
use crate::error::Error;
use crate::event::Observer;
use crate::files::root::Root;
use crate::handshake::{PROTOCOL, guarded};
use crate::server::listen::first_free;
use crate::server::{Access, Server};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use wire::{Choice, Endpoint, Fingerprint, Identity, server_tls};

/// Serves the one client that is at standard input, until standard input ends or a copy is complete. Fails if there is
/// no client, if its controller is not known here, if no port is free, or if standard output cannot be written.
pub async fn serve(observer: &Observer) -> Result<(), Error> {
    let setup = tokio::task::spawn_blocking(|| read_line::<Setup>(&mut io::stdin().lock())).await.ok().flatten();
    let setup = setup.ok_or_else(|| {
        Error::Ssh("no client is at standard input: `thalweg cp` on another host runs this command over ssh".into())
    })?;
    let prepared = prepare(&setup);
    let started = match &prepared {
        Ok((_, fingerprint, port)) => {
            // ssh sets "client-address client-port server-address server-port".
            let connection = std::env::var("SSH_CONNECTION").unwrap_or_default();
            let address = connection.split(' ').nth(2).and_then(|address| address.parse().ok());
            Started::Ready { server: fingerprint.to_string(), port: *port, address }
        }
        Err(e) => Started::Failed(e.to_string()),
    };
    let written = write_line(&mut io::stdout(), &started);
    written.map_err(|e| Error::Ssh(format!("the client cannot be answered: {e}")))?;
    let (server, ..) = prepared?;
    let (closed, end) = tokio::sync::oneshot::channel();
    // A thread of its own, which nothing waits for: it may block in reading until the process ends.
    std::thread::spawn(move || {
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        let _ = closed.send(());
    });
    tokio::select! {
        () = server.run(observer) => {}
        _ = end => {}
    }
    server.close().await;
    Ok(())
}

/// The server for this client, the fingerprint of its certificate, and its UDP port.
fn prepare(setup: &Setup) -> Result<(Server, Fingerprint, u16), Error> {
    let choice = Choice::new(&setup.controller, &setup.parameters);
    let choice = choice.and_then(|choice| if setup.ecn { choice.with_ecn() } else { Ok(choice) });
    let choice = choice.map_err(|e| Error::Ssh(e.to_string()))?;
    let identity = Identity::new().map_err(Error::tls)?;
    let fingerprint = identity.fingerprint();
    let client = setup.client.parse();
    let client = client.map_err(|_| Error::Ssh("the fingerprint of the client's certificate is malformed".into()))?;
    let tls = server_tls(identity, Some(client), PROTOCOL).map_err(Error::tls)?;
    let any = [IpAddr::from(Ipv6Addr::UNSPECIFIED), Ipv4Addr::UNSPECIFIED.into()];
    let addresses = setup.ports.clone().flat_map(|port| any.map(|any| SocketAddr::new(any, port)));
    let builder = || guarded(Endpoint::builder(choice.clone())).accept(tls.clone()).idle_timeout(setup.idle_timeout);
    let endpoint = first_free(addresses, |address| Ok(builder().bind(address)?))?;
    let port = endpoint.quinn().local_addr().map_err(|source| Error::Socket { port: 0, source })?.port();
    let access = Access { writable: true, ..Access::default() };
    // Paths are relative to the working folder, which is the home folder.
    let home = std::env::current_dir().ok();
    let folder = home.and_then(|home| Some(home.file_name()?.as_bytes().to_vec())).unwrap_or_default();
    let server = Server { endpoint, key: None, root: Arc::new(Root::Anywhere), folder, access };
    Ok((server, fingerprint, port))
}
