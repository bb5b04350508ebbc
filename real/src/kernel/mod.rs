//! Flows over the kernel's TCP: senders in a network namespace behind the path, receivers on the host.

mod instructions;
mod sender;

pub use sender::send;

use crate::error::Error;
use crate::flow_log::{Deliveries, FlowLog, Framing, SenderSample, data};
use crate::guest::{Guest, Pipes};
use crate::helper::Helper;
use crate::testbed::{EndOfRun, Testbed};
use crate::watch::Watch;
use control::{Bytes, Phase};
use emulate::Record;
use experiment::{Experiment, Flow};
use instructions::{FlowInstructions, Instructions, SenderReport};
use nix::sys::socket::{setsockopt, sockopt};
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Headers of IPv4 and of TCP with timestamps, bytes.
const HEADERS: u64 = 20 + 32;
/// Bound of a socket's buffer, in bytes: the kernel's own bounds are for slower paths.
const WINDOW: usize = 64 << 20;
/// Time between two looks whether the run is over, and whether the flow's stop has come.
const CHECK: Duration = Duration::from_millis(50);

/// The process that sends all flows of a run, in its namespace. It must be started while this process has a single
/// thread.
pub struct KernelSender(Guest);

impl KernelSender {
    /// Starts the process for the flows of `experiment`.
    pub fn start(experiment: &Experiment, helper: &Helper) -> Result<KernelSender, Error> {
        let mtu = experiment.flows.first().map_or(Bytes(0), |flow| flow.packet);
        Guest::start(&helper.send(), helper, Pipes::Captured, mtu).map(KernelSender)
    }

    /// Carries the flows of `testbed` from the beginning to the end of its run, with the kernel's `congestion` control.
    pub fn carry(
        self,
        testbed: &Arc<Testbed>,
        congestion: &str,
        watch: &dyn Watch,
    ) -> Result<(Record, Vec<FlowLog>), Error> {
        let failed = |e: io::Error| Error::end(format!("kernel-{congestion}"), e);
        let mut guest = self.0;
        let flows = &testbed.experiment.flows;
        let listeners = flows.iter().map(|_| listen(guest.host)).collect::<io::Result<Vec<_>>>().map_err(failed)?;
        let ports = listeners.iter().map(|listener| Ok(listener.local_addr()?.port()));
        let ports = ports.collect::<io::Result<Vec<u16>>>().map_err(failed)?;
        let instructions = instructions(testbed, guest.host, congestion, &ports).map_err(failed)?;
        guest.tunnel.route_by(ports);
        let (record, deliveries) = thread::scope(|scope| {
            let receivers: Vec<_> =
                listeners.iter().map(|listener| scope.spawn(|| receive(listener, &testbed.end))).collect();
            let emulator = scope.spawn(|| testbed.emulate(&mut guest.tunnel, watch));
            let stdin = guest.child.stdin.as_mut().ok_or(ErrorKind::BrokenPipe.into());
            if let Err(e) = stdin.and_then(|stdin| stdin.write_all(&instructions)) {
                testbed.end.set();
                return Err(failed(e));
            }
            let record = emulator.join().map_err(|_| Error::Panicked)??;
            let received =
                receivers.into_iter().map(|receiver| receiver.join().map_err(|_| Error::Panicked)?.map_err(failed));
            Ok((record, received.collect::<Result<Vec<Deliveries>, Error>>()?))
        })?;
        // The sender reports and ends when its standard input ends.
        drop(guest.child.stdin.take());
        let mut report = String::new();
        if let Some(out) = &mut guest.child.stdout {
            BufReader::new(out).read_line(&mut report).map_err(failed)?;
        }
        let SenderReport { resent } =
            serde_json::from_str(&report).map_err(|_| failed(io::Error::other("the sender ended early")))?;
        let log = |(number, deliveries): (usize, Deliveries)| {
            // The kernel counts the segments that all connections have sent again together; the first flow shows them.
            let resent = if number == 0 { resent } else { 0 };
            let phase = Phase::CongestionAvoidance;
            let sample =
                SenderSample { at: testbed.now(), window: None, rate: None, rtt: None, phase, resent, loss_events: 0 };
            let packet = flows[number].packet.0;
            FlowLog { deliveries, samples: vec![sample], framing: Framing { packet, payload: packet - HEADERS } }
        };
        Ok((record, deliveries.into_iter().enumerate().map(log).collect()))
    }
}

/// The line that tells the sender what to do. Each flow has a port of `host`.
fn instructions(testbed: &Testbed, host: Ipv4Addr, congestion: &str, ports: &[u16]) -> io::Result<Vec<u8>> {
    let flow = |(flow, &port): (&Flow, &u16)| FlowInstructions {
        port,
        opens: since_1970(testbed.opens(flow)),
        start: since_1970(testbed.instant(flow.start)),
        stop: flow.stop.map_or(u64::MAX, |stop| since_1970(testbed.instant(stop))),
        size: data(flow).unwrap_or(u64::MAX),
    };
    // All flows of a run are alike in this (`unsupported.rs`).
    let ecn = testbed.experiment.flows.iter().all(|flow| flow.ecn.is_capable());
    let flows = testbed.experiment.flows.iter().zip(ports).map(flow).collect();
    let mut line = serde_json::to_vec(&Instructions { host, congestion: congestion.into(), ecn, flows })?;
    line.push(b'\n');
    Ok(line)
}

/// Microseconds since 1970 at the moment `at`.
fn since_1970(at: Instant) -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (now + at.saturating_duration_since(Instant::now())).as_micros() as u64
}

/// A socket at `host` whose connections have buffers of [`WINDOW`] bytes.
fn listen(host: Ipv4Addr) -> io::Result<TcpListener> {
    let listener = TcpListener::bind((host, 0))?;
    setsockopt(&listener, sockopt::RcvBufForce, &WINDOW)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// Receives a flow until the end of the run.
fn receive(listener: &TcpListener, end: &EndOfRun) -> io::Result<Deliveries> {
    realtime::hurry(1);
    let mut deliveries = Deliveries::default();
    let mut stream = loop {
        match listener.accept() {
            Ok((stream, _)) => break stream,
            Err(e) if e.kind() == ErrorKind::WouldBlock && !end.is_set() => thread::sleep(CHECK / 10),
            Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(deliveries),
            Err(e) => return Err(e),
        }
    };
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(CHECK))?;
    let mut buffer = vec![0; 1 << 18];
    while !end.is_set() {
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(size) => deliveries.add(Instant::now(), size as u64),
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted) => {}
            // A flow resets its connection at its stop, which drops data that are not sent yet.
            Err(e) if e.kind() == ErrorKind::ConnectionReset => break,
            Err(e) => return Err(e),
        }
    }
    Ok(deliveries)
}
