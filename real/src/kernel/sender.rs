//! The process that sends the flows of a run over the kernel's TCP, in its network namespace.

use super::instructions::{FlowInstructions, Instructions, SenderReport};
use super::{CHECK, WINDOW};
use nix::sys::socket::{self, AddressFamily, SockFlag, SockType, SockaddrIn, setsockopt, sockopt};
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::net::{Shutdown, SocketAddrV4, TcpStream};
use std::os::fd::AsRawFd;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Reads instructions from standard input, follows them, and reports and exits when standard input ends.
pub fn send() -> io::Result<()> {
    let mut line = String::new();
    if io::stdin().read_line(&mut line)? == 0 {
        return Ok(()); // The run was given up before it began.
    }
    let Instructions { host, congestion, ecn, flows } = serde_json::from_str(&line)?;
    realtime::hurry(1);
    fs::write("/proc/sys/net/ipv4/tcp_wmem", format!("4096 65536 {WINDOW}"))?;
    // Settings of the namespace.
    fs::write("/proc/sys/net/ipv4/tcp_ecn", if ecn { "1" } else { "0" })?;
    for flow in flows {
        let congestion = congestion.clone();
        thread::spawn(move || send_flow(SocketAddrV4::new(host, flow.port), &congestion, &flow));
    }
    io::stdin().read_line(&mut line)?;
    println!("{}", serde_json::to_string(&SenderReport { resent: resent()? })?);
    std::process::exit(0);
}

/// Sends one flow.
fn send_flow(host: SocketAddrV4, congestion: &str, flow: &FlowInstructions) -> io::Result<()> {
    sleep_until(flow.opens);
    let descriptor = socket::socket(AddressFamily::Inet, SockType::Stream, SockFlag::SOCK_CLOEXEC, None)?;
    setsockopt(&descriptor, sockopt::TcpCongestion, &congestion.into())?;
    socket::connect(descriptor.as_raw_fd(), &SockaddrIn::from(host))?;
    let mut stream = TcpStream::from(descriptor);
    stream.set_write_timeout(Some(CHECK))?;
    sleep_until(flow.start);
    let mut left = flow.size;
    let chunk = [0x55; 1 << 16];
    while left > 0 {
        if since_1970().as_micros() as u64 >= flow.stop {
            // Closing the socket now drops the data that are in its buffer and not yet sent.
            setsockopt(&stream, sockopt::Linger, &nix::libc::linger { l_onoff: 1, l_linger: 0 })?;
            return Ok(());
        }
        match stream.write(&chunk[..left.min(chunk.len() as u64) as usize]) {
            Ok(size) => left -= size as u64,
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted) => {}
            Err(e) => return Err(e),
        }
    }
    stream.shutdown(Shutdown::Write)
}

fn since_1970() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// Sleeps until `at`, microseconds since 1970.
fn sleep_until(at: u64) {
    thread::sleep(Duration::from_micros(at).saturating_sub(since_1970()));
}

/// Segments that TCP has sent again in this namespace (RetransSegs of RFC 4022).
fn resent() -> io::Result<u64> {
    let text = fs::read_to_string("/proc/net/snmp")?;
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("Tcp: "));
    let (names, values) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let pair = names.split(' ').zip(values.split(' ')).find(|(name, _)| *name == "RetransSegs");
    pair.and_then(|(_, value)| value.parse().ok()).ok_or(ErrorKind::InvalidData.into())
}
