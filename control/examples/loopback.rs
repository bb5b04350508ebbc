//! The senders and receivers that the simulator runs, unmodified, in real time: two threads and UDP over the loopback
//! interface, without encryption. Prints the delivered rate and the sender's state every half second.
//!
//! `cargo run --release -p thalweg-control --example loopback -- [CONTROLLER [SECONDS]]`

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use thalweg_control::registry::Parties;
use thalweg_control::{
    Ack, Bytes, Conditions, Duration, Loss, Next, Pipe, Rate, Receiver, Report, Sender, Stamp, Time, contract, registry,
};

const PACKET: Bytes = Bytes(1200);
/// A packet counts as lost once a packet has arrived that was sent this many packets later.
const REORDERING: u64 = 3;
/// The retransmission timeout.
const TIMEOUT: Duration = Duration::from_millis(200);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or("thalweg".into());
    let seconds = arguments.next().map_or(Ok(5.0), |s| s.parse())?;
    let delivered = transfer(&name, Duration::from_secs(seconds))?;
    println!("{name}: {:.1} MB in {seconds} s", delivered.0 as f64 / 1e6);
    Ok(())
}

/// Sends for the time `run` with the controller `name`. Returns how many bytes were acknowledged.
pub fn transfer(name: &str, run: Duration) -> Result<Bytes, Box<dyn std::error::Error>> {
    let controller = registry::find(name).ok_or("no such controller; see `thalweg controllers`")?;
    // Unlike the simulator, this host is not exact: its scheduler and its clock are off by some microseconds.
    let host = Conditions { timing_error: Duration::from_micros(10), ..Conditions::exact(PACKET) };
    let Parties { sender, receiver } = controller.build(controller.defaults(), &host)?;

    let (near, far) = (UdpSocket::bind("127.0.0.1:0")?, UdpSocket::bind("127.0.0.1:0")?);
    near.connect(far.local_addr()?)?;
    far.connect(near.local_addr()?)?;
    near.set_nonblocking(true)?;
    far.set_read_timeout(Some(std::time::Duration::from_millis(50)))?;
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| receive(&far, receiver, &over));
        let delivered = send(&near, contract::checked(sender), run);
        over.store(true, Ordering::Relaxed);
        Ok(delivered?)
    })
}

/// Answers each packet with its number, its time of sending and the receiver's newest report.
fn receive(socket: &UdpSocket, mut receiver: Option<Box<dyn Receiver>>, over: &AtomicBool) {
    let (epoch, mut buffer, mut report) = (Instant::now(), [0; 2048], None);
    while !over.load(Ordering::Relaxed) {
        let Ok(size) = socket.recv(&mut buffer) else { continue };
        let (number, sent, stamp) = decode(&buffer);
        if let Some(receiver) = &mut receiver {
            report = receiver.on_arrival(since(epoch), &stamp, Bytes(size as u64)).or(report);
        }
        let (kind, stream, rate) = match report {
            None => (0, 0, 0.0),
            Some(Report::Available { stream, rate, .. }) => (1, stream, rate),
            Some(Report::Received { rate }) => (2, 0, rate),
            Some(Report::Allowed { rate }) => (3, 0, rate),
            Some(Report::Feedback { whole, part }) => (4, whole as u32, part),
        };
        let report = u64::from(stream) | u64::from(rate.to_bits()) << 32;
        let answer = [number, sent, kind, report].map(u64::to_le_bytes).concat();
        let _ = socket.send(&answer); // the sender treats a lost answer as a lost packet
    }
}

/// Sends as much as the sender allows for the time `run`. Returns how many bytes were acknowledged.
fn send(socket: &UdpSocket, mut sender: Box<dyn Sender>, run: Duration) -> std::io::Result<Bytes> {
    let (epoch, mut buffer) = (Instant::now(), [0; 64]);
    let mut in_flight: BTreeMap<u64, Time> = BTreeMap::new();
    let (mut number, mut recover, mut acked, mut printed) = (0u64, 0u64, Bytes(0), (Time::ZERO, Bytes(0)));
    let mut heard = Time::ZERO;
    loop {
        let now = since(epoch);
        if now.since(Time::ZERO) > run {
            return Ok(acked);
        }
        if now.since(printed.0) > Duration::from_millis(500) {
            let (state, rate) = (sender.state(), (acked - printed.1).over(now.since(printed.0)));
            let shown = state.rate.map_or(format!("{:.1?} packets", state.window), |rate: Rate| rate.to_string());
            println!(
                "{:5.2} s  delivered {:8.1} Mbps  {:20} {shown}",
                now.as_secs(),
                rate.as_mbps(),
                state.phase.to_string()
            );
            printed = (now, acked);
        }
        match socket.recv(&mut buffer) {
            Ok(_) => {
                let word = |at: usize| u64::from_le_bytes(buffer[at..at + 8].try_into().expect("8 bytes"));
                let (which, sent) = (word(0), Time(word(8)));
                let (stream, rate) = (word(24) as u32, f32::from_bits((word(24) >> 32) as u32));
                let report = match word(16) {
                    0 => None,
                    1 => Some(Report::Available { stream, rate, interval: 0 }),
                    2 => Some(Report::Received { rate }),
                    3 => Some(Report::Allowed { rate }),
                    _ => Some(Report::Feedback { whole: stream as i32, part: rate }),
                };
                heard = now;
                let newly = if in_flight.remove(&which).is_some() { PACKET } else { Bytes(0) };
                acked += newly;
                let (mut given_up, lost_before) = (Bytes(0), which.saturating_sub(REORDERING));
                while let Some((&lost, _)) = in_flight.first_key_value().filter(|(first, _)| **first < lost_before) {
                    in_flight.remove(&lost);
                    given_up += PACKET;
                    if lost >= recover {
                        recover = number; // one reduction per window of data
                        sender.on_loss(now, &Loss::Event);
                    }
                }
                sender.on_ack(
                    now,
                    &Ack {
                        acked: newly,
                        lost: given_up,
                        spurious: Bytes(0),
                        marked: Bytes(0),
                        rtt: Some(now.since(sent)),
                        in_flight: Bytes(in_flight.len() as u64 * PACKET.0),
                        recovery: which < recover,
                        spurious_timeout: false,
                        app_limited: false,
                        report,
                    },
                );
            }
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::ConnectionRefused) => {}
            Err(e) => return Err(e),
        }
        if !in_flight.is_empty() && now.since(heard) > TIMEOUT {
            heard = now;
            in_flight.clear();
            recover = number;
            sender.on_loss(now, &Loss::Timeout);
        }
        let bytes = Bytes(in_flight.len() as u64 * PACKET.0);
        let pipe = Pipe { in_flight: bytes, backlog: Bytes(u64::MAX), packet: PACKET, repairing: false };
        if sender.next(now, &pipe) == Next::Now {
            let stamp = sender.on_send(now, PACKET, &pipe);
            match socket.send(&encode(number, now, &stamp)) {
                Ok(_) => {}
                Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::ConnectionRefused) => {} // lost
                Err(e) => return Err(e),
            }
            if in_flight.is_empty() {
                heard = now;
            }
            in_flight.insert(number, now);
            number += 1;
        }
    }
}

fn since(epoch: Instant) -> Time {
    Time::ZERO + Duration(epoch.elapsed().as_nanos() as u64 * 1000)
}

fn encode(number: u64, now: Time, stamp: &Stamp) -> [u8; PACKET.0 as usize] {
    let mut packet = [0; PACKET.0 as usize];
    packet[..8].copy_from_slice(&number.to_le_bytes());
    packet[8..16].copy_from_slice(&now.0.to_le_bytes());
    if let Stamp::Probe { stream, index, len, rate, sent } = *stamp {
        packet[16] = 1;
        packet[20..24].copy_from_slice(&stream.to_le_bytes());
        packet[24..26].copy_from_slice(&index.to_le_bytes());
        packet[26..28].copy_from_slice(&len.to_le_bytes());
        packet[28..32].copy_from_slice(&rate.to_le_bytes());
        packet[32..40].copy_from_slice(&sent.0.to_le_bytes());
    }
    packet
}

fn decode(packet: &[u8]) -> (u64, u64, Stamp) {
    let word = |at: usize| u64::from_le_bytes(packet[at..at + 8].try_into().expect("8 bytes"));
    let stamp = match packet[16] {
        0 => Stamp::None,
        _ => Stamp::Probe {
            stream: (word(16) >> 32) as u32,
            index: word(24) as u16,
            len: (word(24) >> 16) as u16,
            rate: f32::from_bits((word(24) >> 32) as u32),
            sent: Time(word(32)),
        },
    };
    (word(0), word(8), stamp)
}
