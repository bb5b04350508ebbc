//! Flows over the kernel's TCP: senders in a network namespace behind the path, receivers on the host.

use crate::guest::{Guest, Pipes};
use crate::log::{Arrivals, Framing, Log, Seen, data};
use crate::stage::{Over, Stage};
use crate::{Error, Helper, Watch};
use control::Phase;
use emulate::Record;
use experiment::Experiment;
use nix::sys::socket::{self, AddressFamily, SockFlag, SockType, SockaddrIn, setsockopt, sockopt};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Headers of IPv4 and TCP, with timestamps.
const HEADERS: u64 = 20 + 32;
/// What may be under way: the kernel's own limits are for slower paths.
const WINDOW: usize = 64 << 20;
/// How often somebody asks whether the run is over.
const CHECK: Duration = Duration::from_millis(50);

/// The senders of a run, in their namespace, which has to be made before this process has threads.
pub struct Kernel(Guest);

/// What a sender is to do: the line that it reads.
#[derive(Serialize, Deserialize)]
struct Orders {
    host: Ipv4Addr,
    congestion: String,
    flows: Vec<Order>,
}

/// One flow. Times are microseconds since 1970.
#[derive(Serialize, Deserialize)]
struct Order {
    port: u16,
    opens: u64,
    start: u64,
    stop: u64,
    size: u64,
}

/// What a sender has to say at the end.
#[derive(Serialize, Deserialize)]
struct Said {
    resent: u64,
}

impl Kernel {
    /// A namespace for the senders of `experiment`.
    pub fn prepare(experiment: &Experiment, helper: &Helper) -> Result<Kernel, Error> {
        let mtu = experiment.flows.first().map_or(control::Bytes(0), |flow| flow.packet);
        Guest::start(&helper.send(), helper, Pipes::Ours, mtu).map(Kernel)
    }

    /// Carries the flows of `stage`, with the congestion control that the kernel calls so.
    pub fn play(self, stage: &Arc<Stage>, congestion: &str, watch: &dyn Watch) -> Result<(Record, Vec<Log>), Error> {
        let failed = |e: io::Error| Error::end(format!("kernel-{congestion}"), e);
        let mut guest = self.0;
        let flows = &stage.experiment.flows;
        let listeners = flows.iter().map(|_| listen(guest.host)).collect::<io::Result<Vec<_>>>().map_err(failed)?;
        let ports = listeners.iter().map(|listener| Ok(listener.local_addr()?.port()));
        let ports = ports.collect::<io::Result<Vec<u16>>>().map_err(failed)?;
        let order = |(flow, &port): (&experiment::Flow, &u16)| Order {
            port,
            opens: since_1970(stage.opens(flow)),
            start: since_1970(stage.at(flow.start)),
            stop: flow.stop.map_or(u64::MAX, |stop| since_1970(stage.at(stop))),
            size: data(flow).unwrap_or(u64::MAX),
        };
        let orders = Orders {
            host: guest.host,
            congestion: congestion.into(),
            flows: flows.iter().zip(&ports).map(order).collect(),
        };
        let mut orders = serde_json::to_vec(&orders).map_err(|e| failed(e.into()))?;
        orders.push(b'\n');
        guest.tunnel.route_by(ports);
        let (record, arrivals) = thread::scope(|scope| {
            let receivers: Vec<_> =
                listeners.iter().map(|listener| scope.spawn(|| receive(listener, &stage.over))).collect();
            let emulator = scope.spawn(|| stage.emulate(&mut guest.tunnel, watch));
            let written = guest.child.stdin.as_mut().ok_or(ErrorKind::BrokenPipe.into());
            if let Err(e) = written.and_then(|stdin| stdin.write_all(&orders)) {
                stage.over.set();
                return Err(failed(e));
            }
            let record = emulator.join().map_err(|_| Error::Panicked)??;
            let received =
                receivers.into_iter().map(|receiver| receiver.join().map_err(|_| Error::Panicked)?.map_err(failed));
            Ok((record, received.collect::<Result<Vec<Arrivals>, Error>>()?))
        })?;
        // It ends when its orders do.
        drop(guest.child.stdin.take());
        let mut said = String::new();
        if let Some(out) = &mut guest.child.stdout {
            BufReader::new(out).read_line(&mut said).map_err(failed)?;
        }
        let Said { resent } =
            serde_json::from_str(&said).map_err(|_| failed(io::Error::other("the sender broke off")))?;
        let log = |(number, arrivals): (usize, Arrivals)| {
            // The kernel counts what all its connections have sent again.
            let resent = if number == 0 { resent } else { 0 };
            let phase = Phase::CongestionAvoidance;
            let seen = Seen { at: stage.now(), window: None, rate: None, rtt: None, phase, resent, loss_events: 0 };
            let packet = flows[number].packet.0;
            Log { arrivals, seen: vec![seen], framing: Framing { packet, payload: packet - HEADERS } }
        };
        Ok((record, arrivals.into_iter().enumerate().map(log).collect()))
    }
}

fn since_1970(at: Instant) -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (now + at.saturating_duration_since(Instant::now())).as_micros() as u64
}

/// A socket at `host` whose connections have room for what is under way.
fn listen(host: Ipv4Addr) -> io::Result<TcpListener> {
    let listener = TcpListener::bind((host, 0))?;
    setsockopt(&listener, sockopt::RcvBufForce, &WINDOW)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// Receives a flow until the run is over.
fn receive(listener: &TcpListener, over: &Over) -> io::Result<Arrivals> {
    realtime::hurry(1);
    let mut arrivals = Arrivals::default();
    let mut stream = loop {
        match listener.accept() {
            Ok((stream, _)) => break stream,
            Err(e) if e.kind() == ErrorKind::WouldBlock && !over.is() => thread::sleep(CHECK / 10),
            Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(arrivals),
            Err(e) => return Err(e),
        }
    };
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(CHECK))?;
    let mut buffer = vec![0; 1 << 18];
    while !over.is() {
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(size) => arrivals.add(Instant::now(), size as u64),
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted) => {}
            // A flow that stops takes back what it has not sent.
            Err(e) if e.kind() == ErrorKind::ConnectionReset => break,
            Err(e) => return Err(e),
        }
    }
    Ok(arrivals)
}

/// The sender, in its namespace: reads its orders, carries them out, and says what it had to send again, when nobody has more to
/// order.
pub fn send() -> io::Result<()> {
    let mut line = String::new();
    if io::stdin().read_line(&mut line)? == 0 {
        return Ok(()); // nobody wants anything
    }
    let Orders { host, congestion, flows } = serde_json::from_str(&line)?;
    realtime::hurry(1);
    fs::write("/proc/sys/net/ipv4/tcp_wmem", format!("4096 65536 {WINDOW}"))?;
    for flow in flows {
        let congestion = congestion.clone();
        thread::spawn(move || carry(SocketAddrV4::new(host, flow.port), &congestion, &flow));
    }
    io::stdin().read_line(&mut line)?;
    println!("{}", serde_json::to_string(&Said { resent: resent()? })?);
    std::process::exit(0);
}

/// Carries one flow.
fn carry(host: SocketAddrV4, congestion: &str, order: &Order) -> io::Result<()> {
    let wait_until = |at: u64| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        thread::sleep(Duration::from_micros(at).saturating_sub(now));
    };
    wait_until(order.opens);
    let descriptor = socket::socket(AddressFamily::Inet, SockType::Stream, SockFlag::SOCK_CLOEXEC, None)?;
    setsockopt(&descriptor, sockopt::TcpCongestion, &congestion.into())?;
    socket::connect(descriptor.as_raw_fd(), &SockaddrIn::from(host))?;
    let mut stream = TcpStream::from(descriptor);
    stream.set_write_timeout(Some(CHECK))?;
    wait_until(order.start);
    let mut left = order.size;
    let chunk = [0x55; 1 << 16];
    while left > 0 {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        if now.as_micros() as u64 >= order.stop {
            // What it has handed over and not sent, it takes back.
            setsockopt(&stream, sockopt::Linger, &nix::libc::linger { l_onoff: 1, l_linger: 0 })?;
            return Ok(());
        }
        match stream.write(&chunk[..left.min(chunk.len() as u64) as usize]) {
            Ok(size) => left -= size as u64,
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted) => {}
            Err(e) => return Err(e),
        }
    }
    stream.shutdown(std::net::Shutdown::Write)
}

/// Segments that TCP has sent again in this namespace (RetransSegs of RFC 4022).
fn resent() -> io::Result<u64> {
    let text = fs::read_to_string("/proc/net/snmp")?;
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("Tcp: "));
    let (names, values) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let pair = names.split(' ').zip(values.split(' ')).find(|(name, _)| *name == "RetransSegs");
    pair.and_then(|(_, value)| value.parse().ok()).ok_or(ErrorKind::InvalidData.into())
}
