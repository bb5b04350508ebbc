//! `thalweg serve`.

use super::{SHUTDOWN, observer, runtime, show::Show, until};
use crate::args::Serve;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::print;
use copy::{Access, Credentials, Server};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::Arc;

/// Serves until a copy is complete, or until Ctrl-C.
pub fn serve(args: &Serve) -> Result<(), Failure> {
    copy::umask(); // Reads the umask before there are threads.
    let addresses = addresses(&args.listen).map_err(|why| Failure::Wrong(vec![why]))?;
    let choice = args.drive.choice()?;
    let credentials = match &args.key_file {
        Some(file) => Credentials::load_or_generate(file),
        None => Credentials::generate(),
    };
    let credentials = credentials.map_err(|error| Failure::Failed(error.to_string()))?;
    let key = credentials.key();
    let access = Access { writable: args.writable, keep: args.keep, max_clients: args.max_clients.into() };
    let show = Arc::new(Show::new(args.quiet, args.verbose));
    let interrupt = Interrupt::catch();
    let runtime = runtime(if access.keep { access.max_clients } else { 1 })?;
    let observer = observer(&show);
    let served = runtime.block_on(async {
        let server = Server::new(&args.folder, addresses.into_iter(), &choice, credentials, access);
        let server = server.map_err(|error| Failure::Failed(error.to_string()))?;
        let bound = server.endpoint.quinn().local_addr().map_err(|e| Failure::Failed(copy::reason(&e)))?;
        print::text(&format!("thalweg://{key}@{}/", host(args.host.as_deref(), bound)))?;
        let done = tokio::select! {
            () = server.run(&observer) => Ok(()),
            () = until(&interrupt, || show.tick()) => if args.keep { Ok(()) } else { Err(Failure::Interrupted) },
        };
        server.close().await;
        done
    });
    runtime.shutdown_timeout(SHUTDOWN);
    show.end();
    served
}

/// The addresses to try to listen at, from an address with a port, or from a port of all of this host's addresses.
fn addresses(listen: &str) -> Result<Vec<SocketAddr>, String> {
    if let Ok(address) = listen.parse() {
        return Ok(vec![address]);
    }
    let port = listen.strip_prefix(':').unwrap_or(listen).parse();
    let port = port.map_err(|_| {
        format!("--listen: `{listen}` is neither a port nor an address; write one like 4433 or 192.0.2.1:4433")
    })?;
    Ok([IpAddr::from(Ipv6Addr::UNSPECIFIED), Ipv4Addr::UNSPECIFIED.into()].map(|any| SocketAddr::new(any, port)).into())
}

/// The host and port in the connection string.
fn host(given: Option<&str>, bound: SocketAddr) -> String {
    match given {
        Some(name) if name.contains(':') && !name.starts_with('[') => format!("[{name}]:{}", bound.port()),
        Some(name) => format!("{name}:{}", bound.port()),
        None if bound.ip().is_unspecified() => {
            SocketAddr::new(own_address().unwrap_or(bound.ip()), bound.port()).to_string()
        }
        None => bound.to_string(),
    }
}

/// The address from which this host reaches others. The operating system chooses it for a socket that is connected to
/// an address for documentation (RFC 5737, RFC 3849); no packet is sent.
fn own_address() -> Option<IpAddr> {
    let towards = |any: IpAddr, to: &str| {
        let socket = UdpSocket::bind((any, 0)).ok()?;
        socket.connect((to, 9)).ok()?;
        Some(socket.local_addr().ok()?.ip())
    };
    towards(Ipv4Addr::UNSPECIFIED.into(), "192.0.2.1").or_else(|| towards(Ipv6Addr::UNSPECIFIED.into(), "2001:db8::1"))
}
