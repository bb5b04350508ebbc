//! How exactly packets leave: by how much a flow of constant rate misses its schedule on loopback, through the same queue, pacer and
//! socket as a connection's packets.

use crate::datagram::PACKET;
use crate::launch;
use crate::pacer;
use crate::pacing::Pacing;
use crate::receive::DatagramReader;
use crate::sending::{AckEnd, SendingFlow};
use crate::timer_queue::TimerQueue;
use control::pace::Pacer;
use control::{Ack, Bytes, Duration, Loss, Next, Phase, Pipe, Rate, Sender, Stamp, State, Time};
use quinn::udp::{Transmit, UdpSockRef, UdpSocketState};
use realtime::Clock;
use std::io::{self, IoSliceMut};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Where the arrival times of packets come from.
pub const TIMESTAMPS: &str =
    if cfg!(target_os = "linux") { "the kernel (SO_TIMESTAMPNS)" } else { "the clock, when a datagram is read" };

/// By how much gaps missed their plan, either way.
#[derive(Clone, Debug)]
pub struct Errors(Vec<Duration>);

impl Errors {
    fn new(times: &[(u64, Time)], planned: Duration) -> Errors {
        let neighbours = times.windows(2).filter(|pair| pair[1].0 == pair[0].0 + 1);
        let mut errors: Vec<_> =
            neighbours.map(|pair| Duration(pair[1].1.since(pair[0].1).0.abs_diff(planned.0))).collect();
        errors.sort_unstable();
        Errors(errors)
    }

    /// The error that this share of the gaps does not exceed, 0 to 1; none if there are no gaps.
    pub fn quantile(&self, share: f64) -> Option<Duration> {
        let last = self.0.len().checked_sub(1)?;
        self.0.get((last as f64 * share) as usize).copied()
    }
}

/// What one run of the benchmark found.
#[derive(Clone, Debug)]
pub struct Run {
    /// How packets were sent at their time.
    pub pacing: Pacing,
    /// Every gap should be this long.
    pub planned: Duration,
    /// Packets sent.
    pub sent: u64,
    /// Packets that arrived.
    pub arrived: u64,
    /// By the sender's clock, read before the packet is given to the kernel; or by their launch times.
    pub left: Errors,
    /// By [`TIMESTAMPS`] at the receiver.
    pub seen: Errors,
    /// The rate over the whole run.
    pub rate: Rate,
}

/// Sends 1200-byte packets at `rate` (of their bytes, without headers) for `length`, and measures. Fails if loopback sockets do.
pub fn pacing(rate: Rate, length: Duration) -> io::Result<Run> {
    let (left, arrivals, pacing) = run(rate, length, launch::choose)?;
    let planned = rate.time_for(Bytes(PACKET));
    let whole = left.last().map_or(Duration::ZERO, |last| last.1.since(left[0].1));
    Ok(Run {
        pacing,
        planned,
        sent: left.len() as u64,
        arrived: arrivals.len() as u64,
        left: Errors::new(&left, planned),
        seen: Errors::new(&arrivals, planned),
        rate: Bytes(PACKET * (left.len() as u64).saturating_sub(1)).over(whole),
    })
}

/// Packets by number, and when.
type Times = Vec<(u64, Time)>;

/// When packets left and when they arrived, and how they were sent in the end.
fn run(
    rate: Rate,
    length: Duration,
    choose: fn(&UdpSocket, SocketAddr) -> Pacing,
) -> io::Result<(Times, Times, Pacing)> {
    let count = ((length.as_secs() * rate.as_bps() / Bytes(PACKET).as_bits()) as u64).max(2);
    let (near, far) = (UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?, UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?);
    near.set_nonblocking(true)?;
    UdpSocketState::new(UdpSockRef::from(&far))?;
    let (destination, reader) = (far.local_addr()?, DatagramReader::new(&far)?);
    far.set_nonblocking(false)?;
    far.set_read_timeout(Some(SILENCE))?;

    let departures = Arc::new(Mutex::new(Vec::with_capacity(count as usize)));
    let (clock, timers) = (Clock::start(), Arc::new(TimerQueue::new()));
    let sender = Steady { rate, pacer: Pacer::default(), departures: departures.clone() };
    let flow = SendingFlow::new(clock, timers.clone(), PACKET, Box::new(sender));
    flow.pace(choose(&near, destination));
    let state = UdpSocketState::new(UdpSockRef::from(&near))?;
    // All of it waits from the beginning, so that nothing but the pacer decides.
    let built = Instant::now();
    let mut contents = vec![0x40; PACKET as usize];
    for number in 0..count {
        contents[..8].copy_from_slice(&number.to_be_bytes());
        flow.on_built(built, PACKET);
        flow.push(&Transmit { destination, ecn: None, contents: &contents, segment_size: None, src_ip: None });
    }
    let thread = pacer::start(timers.clone(), clock, Arc::new((near, state)))?;
    let arrivals = receive(&far, &reader, &flow, built, count);
    timers.end();
    let _ = thread.join();
    let departures = departures.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(((0..).zip(departures.iter().copied()).collect(), arrivals, flow.pacing()))
}

/// A run is over when nothing has arrived for so long.
const SILENCE: std::time::Duration = std::time::Duration::from_millis(1000);

/// Reads until all has come or nothing comes any more, and acknowledges every other packet as QUIC does.
fn receive(socket: &UdpSocket, reader: &DatagramReader, flow: &Arc<SendingFlow>, built: Instant, count: u64) -> Times {
    let mut arrivals = Vec::with_capacity(count as usize);
    let mut buffer = [0; 2048];
    while (arrivals.len() as u64) < count && socket.peek(&mut [0; 8]).is_ok() {
        let Ok((time, meta)) = reader.read(socket, &mut IoSliceMut::new(&mut buffer)) else { continue };
        let Some(number) = buffer[..meta.len].first_chunk() else { continue };
        arrivals.push((u64::from_be_bytes(*number), time));
        let now = Instant::now();
        flow.on_acked(now, built, PACKET);
        if arrivals.len() % 2 == 0 {
            let in_flight = (count - arrivals.len() as u64) * PACKET;
            flow.on_ack_end(&[], AckEnd { now, in_flight, app_limited: false });
        }
    }
    arrivals
}

/// A sender of constant rate that remembers when its packets left.
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
    fn gaps_are_counted_between_neighbours_only() {
        let at = |us| Time::ZERO + Duration::from_micros(us);
        let errors = Errors::new(&[(0, at(0)), (1, at(11)), (3, at(30)), (4, at(37))], Duration::from_micros(10));
        assert_eq!(errors.0, [Duration::from_micros(1), Duration::from_micros(3)]);
        assert_eq!(errors.quantile(0.0), Some(Duration::from_micros(1)));
        assert_eq!(errors.quantile(1.0), Some(Duration::from_micros(3)));
        assert_eq!(Errors(vec![]).quantile(0.5), None);
    }

    #[test]
    fn a_sender_that_falls_behind_does_not_burst() {
        let rate = Rate::from_mbps(50.0);
        let (left, _, pacing) = run(rate, Duration::from_millis(200), launch::choose).expect("loopback");
        assert_eq!((left.len(), pacing), (1041, Pacing::Spin));
        // The schedule is kept by what is late by less than a gap, and begun anew by what is later. So however busy this machine
        // is, three packets take a gap at least.
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

    /// Loopback takes launch times, and holds nothing.
    #[cfg(target_os = "linux")]
    fn launch(socket: &UdpSocket, _: SocketAddr) -> Pacing {
        launch::allow(socket).unwrap();
        Pacing::Launch
    }

    /// Of fifty packets with launch times, how many gaps between these were as planned, and how many packets were handed over before theirs.
    #[cfg(target_os = "linux")]
    fn launched() -> (usize, usize) {
        let (near, far) = (UdpSocket::bind("127.0.0.1:0").unwrap(), UdpSocket::bind("127.0.0.1:0").unwrap());
        let (destination, reader) = (far.local_addr().unwrap(), DatagramReader::new(&far).unwrap());
        let (clock, timers) = (Clock::start(), Arc::new(TimerQueue::new()));
        let (departures, rate) = (Arc::new(Mutex::new(Vec::new())), Rate::from_mbps(20.0));
        let sender = Steady { rate, pacer: Pacer::default(), departures: departures.clone() };
        let flow = SendingFlow::new(clock, timers.clone(), PACKET, Box::new(sender));
        flow.pace(launch(&near, destination));
        let begin = clock.now();
        for _ in 0..50 {
            flow.on_built(Instant::now(), PACKET);
            let contents = &[0x40; PACKET as usize];
            flow.push(&Transmit { destination, ecn: None, contents, segment_size: None, src_ip: None });
        }
        let state = UdpSocketState::new(UdpSockRef::from(&near)).unwrap();
        let thread = pacer::start(timers.clone(), clock, Arc::new((near, state))).unwrap();
        let arrivals = (0..50).map(|_| {
            far.peek(&mut [0; 8]).unwrap();
            reader.read(&far, &mut IoSliceMut::new(&mut [0; 2048])).unwrap();
            clock.now()
        });
        let arrivals: Vec<_> = arrivals.collect();
        timers.end();
        thread.join().unwrap();
        assert_eq!(flow.pacing(), Pacing::Launch);
        let left = departures.lock().unwrap();
        let planned = rate.time_for(Bytes(PACKET));
        // One that is late by less than a gap does not move the rest: so much earlier than planned the next may be, and no more.
        let ahead = |n: usize| left.windows(n + 2).any(|some| some[n + 1].since(some[0]) < planned.scale(n as f64));
        assert!(left[0] >= begin && !(0..49).any(ahead), "faster than planned: {left:?}");
        let kept = left.windows(2).filter(|pair| pair[1].since(pair[0]) == planned).count();
        (kept, left.iter().zip(&arrivals).filter(|(left, arrival)| arrival < left).count())
    }

    /// Where the machine is busy for longer than a gap and the lead, a new schedule begins: not so each time.
    #[test]
    #[cfg(target_os = "linux")]
    fn with_launch_times_packets_are_early_and_their_times_as_planned() {
        let tries: Vec<_> = (0..5).map(|_| launched()).collect();
        let most = tries.iter().any(|&(kept, early)| kept >= 25 && early >= 25);
        assert!(most, "so many of 49 gaps were exact, and so many of 50 packets early: {tries:?}");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_kernel_that_holds_nothing_is_found_out() {
        let (left, arrivals, pacing) = run(Rate::from_mbps(50.0), Duration::from_millis(50), launch).expect("loopback");
        assert_eq!((left.len(), arrivals.len(), pacing), (260, 260, Pacing::Spin));
    }

    #[test]
    fn a_slow_flow_holds_up_no_other() {
        let near = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let destination = near.local_addr().unwrap();
        let state = UdpSocketState::new(UdpSockRef::from(&near)).unwrap();
        let (clock, timers) = (Clock::start(), Arc::new(TimerQueue::new()));
        let flow = |mbps| {
            let departures = Arc::new(Mutex::new(Vec::new()));
            let sender =
                Steady { rate: Rate::from_mbps(mbps), pacer: Pacer::default(), departures: departures.clone() };
            let flow = SendingFlow::new(clock, timers.clone(), PACKET, Box::new(sender));
            for _ in 0..50 {
                flow.on_built(Instant::now(), PACKET);
                let contents = &[0x40; PACKET as usize];
                flow.push(&Transmit { destination, ecn: None, contents, segment_size: None, src_ip: None });
            }
            departures
        };
        let (slow, fast) = (flow(0.01), flow(10.0)); // a packet each 960 ms, and each 0.96 ms
        let thread = pacer::start(timers.clone(), clock, Arc::new((near, state))).unwrap();
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
