//! How exactly packets leave: by how much a flow of constant rate misses its schedule on loopback, through the same
//! queue, pacer and socket as a connection's packets.

use crate::arrivals::Arrivals;
use crate::datagram::PACKET;
use crate::pacer;
use crate::receive::MessageReader;
use crate::segments;
use crate::sending::{QuinnAckEnd, QuinnAcked, SendingFlow};
use crate::timer_queue::TimerQueue;
use control::pace::Pacer;
use control::{Ack, Bytes, Duration, Loss, Next, Phase, Pipe, Rate, Sender, Stamp, State, Time};
use quinn::udp::{RecvMeta, Transmit, UdpSockRef, UdpSocketState};
use realtime::Clock;
use std::io::{self, IoSliceMut};
use std::net::{Ipv4Addr, UdpSocket};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Where the arrival times of packets come from.
pub const TIMESTAMPS: &str =
    if cfg!(target_os = "linux") { "the kernel (SO_TIMESTAMPNS)" } else { "the clock, when a datagram is read" };

/// By how much the gaps between packets missed their planned length, in either direction.
#[derive(Clone, Debug)]
pub struct GapErrors(Vec<Duration>);

impl GapErrors {
    pub(crate) fn new(times: &[(u64, Time)], planned: Duration) -> GapErrors {
        let neighbours = times.windows(2).filter(|pair| pair[1].0 == pair[0].0 + 1);
        let mut errors: Vec<_> =
            neighbours.map(|pair| Duration(pair[1].1.since(pair[0].1).0.abs_diff(planned.0))).collect();
        errors.sort_unstable();
        GapErrors(errors)
    }

    /// The error that this share of the gaps, 0 to 1, does not exceed; none if there are no gaps.
    pub fn quantile(&self, share: f64) -> Option<Duration> {
        let last = self.0.len().checked_sub(1)?;
        self.0.get((last as f64 * share) as usize).copied()
    }
}

/// The result of one run.
#[derive(Clone, Debug)]
pub struct Run {
    /// The planned gap.
    pub planned: Duration,
    /// Packets sent.
    pub sent: u64,
    /// Packets that arrived.
    pub arrived: u64,
    /// Errors of the departures: by the clock, read before a packet is given to the kernel.
    pub left: GapErrors,
    /// Errors of the arrivals, by [`TIMESTAMPS`].
    pub seen: GapErrors,
    /// The mean rate of the packets' bytes over the whole run.
    pub rate: Rate,
}

/// Sends 1200-byte packets at `rate` (of their bytes, without headers) for `length`, and measures. Fails if loopback
/// sockets do.
pub fn pacing(rate: Rate, length: Duration) -> io::Result<Run> {
    let (left, arrivals) = run(rate, length)?;
    let planned = rate.time_for(Bytes(PACKET));
    let whole = left.last().map_or(Duration::ZERO, |last| last.1.since(left[0].1));
    Ok(Run {
        planned,
        sent: left.len() as u64,
        arrived: arrivals.len() as u64,
        left: GapErrors::new(&left, planned),
        seen: GapErrors::new(&arrivals, planned),
        rate: Bytes(PACKET * (left.len() as u64).saturating_sub(1)).over(whole),
    })
}

/// Times of packets, with their numbers.
type Times = Vec<(u64, Time)>;

/// Sends, and returns when packets left and when they arrived.
fn run(rate: Rate, length: Duration) -> io::Result<(Times, Times)> {
    let count = ((length.as_secs() * rate.as_bps() / Bytes(PACKET).as_bits()) as u64).max(2);
    let (near, far) = (UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?, UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?);
    near.set_nonblocking(true)?;
    let (destination, far) = (far.local_addr()?, Far::new(far)?);

    let departures = Arc::new(Mutex::new(Vec::with_capacity(count as usize)));
    let timers = Arc::new(TimerQueue::new());
    let sender = Steady { rate, pacer: Pacer::default(), departures: departures.clone() };
    let flow = SendingFlow::new(Clock::start(), timers.clone(), PACKET, Duration::ZERO, Box::new(sender), None);
    let state = UdpSocketState::new(UdpSockRef::from(&near))?;
    // All packets wait from the beginning, so that the pacer alone decides when they leave.
    let built = Instant::now();
    let mut contents = vec![0x40; PACKET as usize];
    for number in 0..count {
        contents[..8].copy_from_slice(&number.to_be_bytes());
        flow.on_built(built, PACKET);
        flow.push(&Transmit { destination, ecn: None, contents: &contents, segment_size: None, src_ip: None });
    }
    let thread = pacer::start(timers.clone(), Duration::ZERO, Arc::new((near, state)))?;
    let arrivals = receive(&far, &flow, built, count);
    timers.end();
    let _ = thread.join();
    let departures = departures.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(((0..).zip(departures.iter().copied()).collect(), arrivals))
}

/// A run is over when nothing has arrived for this time.
const LAST_WAIT: std::time::Duration = std::time::Duration::from_millis(1000);

/// Reads until all packets have arrived or none arrives any more, and acknowledges every other one as QUIC does.
fn receive(far: &Far, flow: &Arc<SendingFlow>, built: Instant, count: u64) -> Times {
    let (mut arrivals, mut times) = (Vec::with_capacity(count as usize), Arrivals::default());
    let mut buffer = vec![0; 65536];
    while (arrivals.len() as u64) < count
        && let Ok((at, meta)) = far.read(&mut buffer)
    {
        let time = times.time(at);
        for number in segments::of(&buffer, &meta).filter_map(|datagram| datagram.first_chunk()) {
            arrivals.push((u64::from_be_bytes(*number), time));
            let now = Instant::now();
            if arrivals.len() % 2 == 0 {
                let in_flight = (count - arrivals.len() as u64) * PACKET;
                let end = QuinnAckEnd { now, in_flight, app_limited: false, ack: None };
                flow.on_ack(&[QuinnAcked { now, sent: built, bytes: PACKET }; 2], &[], Some(end));
            }
        }
    }
    arrivals
}

/// The socket that receives.
struct Far {
    socket: UdpSocket,
    state: UdpSocketState,
    reader: MessageReader,
}

impl Far {
    fn new(socket: UdpSocket) -> io::Result<Far> {
        let (state, reader) = (UdpSocketState::new(UdpSockRef::from(&socket))?, MessageReader::new());
        reader.take_times(&socket, true);
        socket.set_nonblocking(false)?;
        socket.set_read_timeout(Some(LAST_WAIT))?;
        Ok(Far { socket, state, reader })
    }

    /// Waits for the next message. Fails if none arrives within [`LAST_WAIT`].
    fn read(&self, buffer: &mut [u8]) -> io::Result<(std::time::Duration, RecvMeta)> {
        self.socket.peek(&mut [0; 1])?;
        self.reader.read(&self.socket, &self.state, &mut IoSliceMut::new(buffer))
    }
}

/// A sender of constant rate that writes down when its packets leave.
struct Steady {
    rate: Rate,
    pacer: Pacer,
    departures: Arc<Mutex<Vec<Time>>>,
}

impl Sender for Steady {
    fn next(&mut self, now: Time, _: &Pipe) -> Next {
        let due = self.pacer.due(self.rate);
        if due > now { Next::At(due) } else { Next::Now }
    }

    fn on_send(&mut self, now: Time, size: Bytes, _: &Pipe) -> Stamp {
        self.pacer.on_send(now, size, self.rate);
        self.departures.lock().unwrap_or_else(PoisonError::into_inner).push(now);
        Stamp::None
    }

    fn on_ack(&mut self, _: Time, _: &Ack) {}

    fn on_loss(&mut self, _: Time, _: &Loss) {}

    fn state(&self) -> State {
        State { window: None, rate: Some(self.rate), phase: Phase::Probing }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_measured_between_consecutive_packets_only() {
        let at = |us| Time::ZERO + Duration::from_micros(us);
        let errors = GapErrors::new(&[(0, at(0)), (1, at(11)), (3, at(30)), (4, at(37))], Duration::from_micros(10));
        assert_eq!(errors.0, [Duration::from_micros(1), Duration::from_micros(3)]);
        assert_eq!(errors.quantile(0.0), Some(Duration::from_micros(1)));
        assert_eq!(errors.quantile(1.0), Some(Duration::from_micros(3)));
        assert_eq!(GapErrors(vec![]).quantile(0.5), None);
    }

    #[test]
    fn a_sender_that_falls_behind_sends_no_burst() {
        let rate = Rate::from_mbps(50.0);
        let (left, _) = run(rate, Duration::from_millis(200)).expect("loopback");
        assert_eq!(left.len(), 1041);
        // A packet that is late by less than a gap keeps the schedule, and a later one begins it anew. However busy
        // this machine is, three packets therefore take a gap at least.
        let gap = rate.time_for(Bytes(PACKET));
        for three in left.windows(3) {
            let (first, last) = (three[0].1, three[2].1);
            assert!(
                last.since(first) + Duration(1000) >= gap,
                "packet {}: {} us",
                three[0].0,
                last.since(first).0 / 1_000_000
            );
        }
    }

    #[test]
    fn a_slow_flow_delays_no_other() {
        let near = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let destination = near.local_addr().unwrap();
        let state = UdpSocketState::new(UdpSockRef::from(&near)).unwrap();
        let timers = Arc::new(TimerQueue::new());
        let flow = |mbps| {
            let departures = Arc::new(Mutex::new(Vec::new()));
            let sender =
                Steady { rate: Rate::from_mbps(mbps), pacer: Pacer::default(), departures: departures.clone() };
            let flow = SendingFlow::new(Clock::start(), timers.clone(), PACKET, Duration::ZERO, Box::new(sender), None);
            for _ in 0..50 {
                flow.on_built(Instant::now(), PACKET);
                let contents = &[0x40; PACKET as usize];
                flow.push(&Transmit { destination, ecn: None, contents, segment_size: None, src_ip: None });
            }
            departures
        };
        let (slow, fast) = (flow(0.01), flow(10.0)); // a packet each 960 ms, and each 0.96 ms
        let thread = pacer::start(timers.clone(), Duration::ZERO, Arc::new((near, state))).unwrap();
        let begin = Instant::now();
        while fast.lock().unwrap().len() < 50 && begin.elapsed().as_secs() < 5 {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let slow = slow.lock().unwrap().len() as u128;
        assert_eq!(fast.lock().unwrap().len(), 50);
        assert!(slow >= 1 && slow <= 1 + begin.elapsed().as_millis() / 960, "{slow}");
        timers.end();
        thread.join().unwrap();
    }
}
