//! `thalweg serve`.

use super::{runtime, show::Show, until};
use crate::args::Serve;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::print;
use copy::{Pass, Server};
use scenario::reason;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

/// Serves until a copy is complete, or until Ctrl-C.
pub fn serve(args: &Serve) -> Result<(), Failure> {
    copy::umask(); // before there are threads
    let wrong = |why: String| Failure::Wrong(vec![why]);
    let addresses = addresses(&args.listen).map_err(wrong)?;
    let choice = args.drive.choice()?;
    let pass = match &args.key_file {
        Some(file) => Pass::keep(file),
        None => Pass::new(),
    };
    let pass = pass.map_err(Failure::Failed)?;
    let key = pass.key();
    let show = Arc::new(Show::new(args.quiet, args.verbose));
    let interrupt = Interrupt::catch();
    let runtime = runtime()?;
    let heard = show.clone();
    let watch: copy::Watch = Arc::new(move |event| heard.hear(event));
    let served = runtime.block_on(async {
        let server = Server::of_folder(&args.folder, addresses.into_iter(), &choice, pass, (args.writable, args.keep));
        let server = server.map_err(Failure::Failed)?;
        let bound = server.endpoint.quinn().local_addr().map_err(|e| Failure::Failed(reason(&e)))?;
        print::text(&format!("thalweg://{key}@{}/", host(args.host.as_deref(), bound)))?;
        let done = tokio::select! {
            () = server.run(&watch) => Ok(()),
            () = until(&interrupt, || show.tick()) => if args.keep { Ok(()) } else { Err(Failure::Interrupted) },
        };
        server.close().await;
        done
    });
    runtime.shutdown_timeout(Duration::from_secs(2));
    show.end();
    served
}

/// Where to listen: an address with a port, or a port of all addresses.
fn addresses(listen: &str) -> Result<Vec<SocketAddr>, String> {
    if let Ok(address) = listen.parse() {
        return Ok(vec![address]);
    }
    let port = listen.strip_prefix(':').unwrap_or(listen).parse();
    let port =
        port.map_err(|_| format!("--listen: `{listen}` is no address; write one like 4433 or 192.0.2.1:4433"))?;
    Ok([IpAddr::from(Ipv6Addr::UNSPECIFIED), Ipv4Addr::UNSPECIFIED.into()].map(|any| SocketAddr::new(any, port)).into())
}

/// What clients are told to connect to.
fn host(given: Option<&str>, bound: SocketAddr) -> String {
    match given {
        Some(name) if name.contains(':') && !name.starts_with('[') => format!("[{name}]:{}", bound.port()),
        Some(name) => format!("{name}:{}", bound.port()),
        None if bound.ip().is_unspecified() => SocketAddr::new(own().unwrap_or(bound.ip()), bound.port()).to_string(),
        None => bound.to_string(),
    }
}

/// This host's address on the way to others. Nothing is sent to find it; the two are documentation's own (RFC 5737, RFC 3849).
fn own() -> Option<IpAddr> {
    let towards = |any: IpAddr, to: &str| {
        let socket = UdpSocket::bind((any, 0)).ok()?;
        socket.connect((to, 9)).ok()?;
        Some(socket.local_addr().ok()?.ip())
    };
    towards(Ipv4Addr::UNSPECIFIED.into(), "192.0.2.1").or_else(|| towards(Ipv6Addr::UNSPECIFIED.into(), "2001:db8::1"))
}
