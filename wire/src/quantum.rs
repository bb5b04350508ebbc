//! How short a gap this host keeps: bursts of packets over loopback, each sent by as few calls as the kernel allows, at
//! planned times.

use crate::arrivals::Arrivals;
use crate::bench::GapErrors;
use crate::builder::SOCKET_BUFFER;
use crate::receive::MessageReader;
use crate::segments;
use control::{Bytes, Duration, Rate, Time};
use quinn::udp::{Transmit, UdpSockRef, UdpSocketState};
use realtime::{Clock, Waking, wake_in_time};
use std::io::{self, IoSliceMut};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

/// Bytes of a packet.
const PACKET: usize = 1200;
/// The most bytes of one UDP message over IPv4.
const MESSAGE: usize = 65_507;
/// In one case of this many, the thread may sleep too long and its burst leave late.
const OVERSLEEPS: u64 = 100;
/// How many times a socket whose buffer is full is tried before the packets are given up.
const TRIES: u32 = 1000;
/// A run is over when nothing has arrived for this time.
const LAST_WAIT: std::time::Duration = std::time::Duration::from_millis(200);
/// The number of the message that ends a run.
const END: u64 = u64::MAX;

/// What to send: bursts of packets of 1200 bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// Packets per burst: as many as it takes for gaps of at least the quantum.
    pub packets: usize,
    /// The time from one burst to the next.
    pub gap: Duration,
}

impl Plan {
    /// Bursts of this rate (of the packets' bytes, without headers) that are at least `quantum` apart.
    pub fn new(rate: Rate, quantum: Duration) -> Plan {
        let packets = (quantum.as_secs() * rate.as_bps() / Bytes(PACKET as u64).as_bits()).ceil().max(1.0) as usize;
        Plan { packets, gap: rate.time_for(Bytes((packets * PACKET) as u64)) }
    }
}

/// The result of one run.
#[derive(Clone, Debug)]
pub struct Kept {
    /// What was to be sent.
    pub plan: Plan,
    /// By how much the times between departures missed the gap, by the clock, read before a burst is given to the
    /// kernel.
    pub left: GapErrors,
    /// The same of arrivals, by the timestamp of a burst's first message.
    pub seen: GapErrors,
    /// The mean rate of the packets' bytes over the whole run.
    pub rate: Rate,
    /// Bursts that were sent.
    pub sent: u64,
    /// Bursts of which at least one packet arrived.
    pub arrived: u64,
    /// The part of the run that the sending thread spent on a processor, where the system tells.
    pub busy: Option<f64>,
}

/// The part of gaps that must be kept, and the part of a gap by which they may be missed.
const SHARE: f64 = 0.99;
const TOLERANCE: f64 = 0.1;
/// The part of the planned rate that must be reached.
const REACHED: f64 = 0.95;

impl Kept {
    /// Whether 99 % of the gaps are kept within a tenth by the receiver's timestamps, and 95 % of the `rate` is
    /// reached.
    pub fn is_kept(&self, rate: Rate) -> bool {
        let fine =
            |errors: &GapErrors| errors.quantile(SHARE).is_some_and(|error| error <= self.plan.gap.scale(TOLERANCE));
        fine(&self.seen) && self.rate / rate >= REACHED
    }
}

/// The shortest quantum with which the host keeps the highest rate, and that rate. Each item is a quantum and, for each
/// rate in rising order, whether the gaps were kept. A rate counts if the lower ones are kept, too. None if no quantum
/// keeps any rate.
pub fn best<'a>(kept: impl IntoIterator<Item = (Duration, &'a [(Rate, bool)])>) -> Option<(Duration, Rate)> {
    let mut best: Option<(Duration, Rate)> = None;
    for (quantum, rates) in kept {
        let highest = rates.iter().take_while(|(_, kept)| *kept).last();
        if let Some(&(rate, _)) = highest
            && best.is_none_or(|(of, most)| rate > most || rate == most && quantum < of)
        {
            best = Some((quantum, rate));
        }
    }
    best
}

/// Sends bursts of `plan` for `length`, and measures. Fails if loopback sockets do.
pub fn measure(plan: Plan, length: Duration) -> io::Result<Kept> {
    let (near, far) = (UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?, UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?);
    // Where the receiver does not get to run, bursts wait in the buffer. A system that grants less still works.
    let _ = socket2::SockRef::from(&far).set_recv_buffer_size(SOCKET_BUFFER);
    let destination = far.local_addr()?;
    let (sender, receiver) =
        (UdpSocketState::new(UdpSockRef::from(&near))?, UdpSocketState::new(UdpSockRef::from(&far))?);
    let (arrivals, sent) = thread::scope(|threads| {
        let sending = threads.spawn(|| send(&near, &sender, destination, plan, length));
        let arrivals = receive(&far, &receiver);
        (arrivals, sending.join())
    });
    let (departures, busy) = sent.map_err(|_| io::Error::other("the sending thread panicked"))?;
    let arrivals = arrivals?;
    let whole = departures.last().map_or(Duration::ZERO, |last| last.1.since(departures[0].1));
    let bytes = Bytes((plan.packets * PACKET) as u64 * (departures.len() as u64).saturating_sub(1));
    Ok(Kept {
        plan,
        left: GapErrors::new(&departures, plan.gap),
        seen: GapErrors::new(&arrivals, plan.gap),
        rate: bytes.over(whole),
        sent: departures.len() as u64,
        arrived: arrivals.len() as u64,
        busy,
    })
}

/// The same while as many other threads as there are processors, and no fewer than two, take all the time they get.
pub fn measure_beside_busy(plan: Plan, length: Duration) -> io::Result<Kept> {
    let others = thread::available_parallelism().map_or(2, |cores| cores.get().max(2));
    let ended = AtomicBool::new(false);
    thread::scope(|threads| {
        for _ in 0..others {
            threads.spawn(|| {
                while !ended.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let measured = measure(plan, length);
        ended.store(true, Ordering::Relaxed);
        measured
    })
}

/// Numbers of bursts, and times.
type Times = Vec<(u64, Time)>;

/// Sends the bursts. One that is late by less than a gap keeps the schedule, and a later one begins it anew, as the
/// pacer does. Returns when each left, and the part of the time that this took of a processor.
fn send(
    socket: &UdpSocket,
    state: &UdpSocketState,
    destination: SocketAddr,
    plan: Plan,
    length: Duration,
) -> (Times, Option<f64>) {
    let yields = wake_in_time();
    let (clock, mut waking, before) = (Clock::start(), Waking::new(OVERSLEEPS), processor_time());
    let begin = clock.now();
    let mut due = begin;
    let mut departures = Vec::new();
    let most = state.max_gso_segments().clamp(1, MESSAGE / PACKET);
    let mut contents = vec![0x40; plan.packets.min(most) * PACKET];
    while due.since(begin) < length {
        wait(clock, due, &mut waking, yields);
        let now = clock.now();
        let number = departures.len() as u64;
        departures.push((number, now));
        contents.chunks_mut(PACKET).for_each(|packet| packet[..8].copy_from_slice(&number.to_be_bytes()));
        let mut left = plan.packets;
        while left > 0 {
            let packets = left.min(most);
            left -= packets;
            transmit(socket, state, destination, &contents[..packets * PACKET]);
        }
        due = if now.since(due) < plan.gap { due + plan.gap } else { now + plan.gap };
    }
    let whole = clock.now().since(begin).as_secs();
    let busy = before.zip(processor_time()).map(|(before, after)| (after - before) / whole);
    transmit(socket, state, destination, &END.to_be_bytes());
    (departures, busy)
}

/// Sleeps until shortly before `due`, and spins for the rest.
fn wait(clock: Clock, due: Time, waking: &mut Waking, yields: bool) {
    let (sleep_until, now) = (clock.instant(due - waking.takes()), Instant::now());
    if sleep_until > now {
        thread::sleep(sleep_until - now);
        waking.learn(sleep_until, Instant::now());
    }
    while clock.now() < due {
        if yields {
            thread::yield_now();
        } else {
            std::hint::spin_loop();
        }
    }
}

/// Sends packets by one call.
fn transmit(socket: &UdpSocket, state: &UdpSocketState, destination: SocketAddr, contents: &[u8]) {
    let segment_size = (contents.len() > PACKET).then_some(PACKET);
    let transmit = Transmit { destination, ecn: None, contents, segment_size, src_ip: None };
    for _ in 0..TRIES {
        match state.send(UdpSockRef::from(socket), &transmit) {
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => thread::yield_now(),
            _ => return, // what cannot be sent is lost
        }
    }
}

/// Returns when the first packet of each burst arrived.
fn receive(socket: &UdpSocket, state: &UdpSocketState) -> io::Result<Times> {
    let reader = MessageReader::new();
    reader.take_times(socket, true);
    socket.set_nonblocking(false)?;
    socket.set_read_timeout(Some(LAST_WAIT))?;
    let (mut arrivals, mut times, mut buffer) = (Times::new(), Arrivals::default(), vec![0; 65_536]);
    while socket.peek(&mut [0; 1]).is_ok() {
        let (at, meta) = reader.read(socket, state, &mut IoSliceMut::new(&mut buffer))?;
        let time = times.time(at);
        for datagram in segments::of(&buffer, &meta) {
            match datagram.first_chunk().map(|number| u64::from_be_bytes(*number)) {
                None | Some(END) => return Ok(arrivals),
                Some(number) if arrivals.last().is_none_or(|(last, _)| *last < number) => arrivals.push((number, time)),
                Some(_) => {}
            }
        }
    }
    Ok(arrivals)
}

/// Seconds that this thread has spent on a processor, where the system tells.
fn processor_time() -> Option<f64> {
    let times = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(times.split(' ').next()?.parse::<f64>().ok()? * 1e-9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_has_as_many_packets_as_a_quantum_takes() {
        let plan = |gbps: f64, us| Plan::new(Rate::from_mbps(gbps * 1e3), Duration::from_micros(us));
        assert_eq!(plan(1.0, 0), Plan { packets: 1, gap: Duration::from_secs(9.6e-6) });
        assert_eq!(plan(1.0, 50), Plan { packets: 6, gap: Duration::from_secs(57.6e-6) });
        assert_eq!(plan(0.1, 50).packets, 1, "packets are 96 us apart anyway");
        assert_eq!(plan(10.0, 500).packets, 521);
    }

    #[test]
    fn the_best_quantum_is_the_shortest_of_the_highest_rate() {
        let us = Duration::from_micros;
        let of = |kept: &[bool]| {
            (1..).map(|gbps: i32| Rate::from_gbps(gbps.into())).zip(kept.iter().copied()).collect::<Vec<_>>()
        };
        let (none, one, two) = (of(&[false, false, true]), of(&[true, false, true]), of(&[true, true, false]));
        let table = [(us(0), &none[..]), (us(20), &one), (us(50), &two), (us(100), &two)];
        assert_eq!(best(table), Some((us(50), Rate::from_mbps(2000.0))));
        assert_eq!(best([(us(0), &none[..])]), None, "a rate counts only if the lower ones are kept");
    }

    /// What a busy machine cannot change: each burst is sent once and as a whole, and bursts are counted as they
    /// arrive. All of them fit into the socket's buffer, so that a receiver that does not get to run loses none.
    #[test]
    fn bursts_are_measured_one_by_one() {
        let plan = Plan { packets: 60, gap: Duration::from_millis(2) }; // two calls each
        let kept = measure(plan, Duration::from_millis(6)).expect("loopback");
        assert!((1..=3).contains(&kept.sent), "{kept:?}");
        assert_eq!(kept.arrived, kept.sent);
        // Bursts that are late by less than a gap keep the schedule: no two gaps in a row are shorter than one.
        assert!(kept.sent < 3 || kept.rate <= Rate::from_mbps(60.0 * 9600.0 / 2e-3 * 1e-6 * 2.0), "{kept:?}");
    }
}
