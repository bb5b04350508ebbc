use super::*;
use control::{Stamp, Time};
use emulate::{Direction, Ends, Received};
use path::Ecn;
use realtime::Clock;
use std::io::IoSlice;
use std::sync::mpsc::{Sender, channel};

/// Ends at which a packet without an IP header arrives with each call, forward, and which take all but the last.
struct Made;

static PAYLOAD: [u8; 40_000] = [0x41; 40_000];

impl Ends for Made {
    fn receive(&mut self, clock: &Clock, take: &mut dyn FnMut(Received)) -> io::Result<()> {
        let sides = ["127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3", "127.0.0.1:4"].map(|text| text.parse().unwrap());
        let sides = [[sides[0], sides[1]], [sides[2], sides[3]]];
        take(Received {
            at: clock.now(),
            route: 0,
            direction: Direction::Forward,
            flow: 7,
            ecn: Ecn::NotEct,
            stamp: Stamp::None,
            sides: Some(&sides),
            payload: &PAYLOAD,
        });
        Ok(())
    }
    fn update(&self, _: &mut [u8], _: &Stamp, _: Ecn) {}
    fn send(&mut self, _: Direction, _: u64, _: Ecn, payloads: &[IoSlice]) -> usize {
        payloads.len() - 1
    }
    fn dated(&self) -> bool {
        true
    }
    fn wait(&mut self, _: std::time::Duration) -> io::Result<()> {
        Ok(())
    }
    fn missed(&self) -> (u64, u64) {
        (0, 0)
    }
}

/// Passes on what is written, when it may: each write waits for the gate.
struct Gated(Sender<Vec<u8>>, Arc<Mutex<()>>);

impl Write for Gated {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _open = self.1.lock().unwrap();
        self.0.send(bytes.to_vec()).map_err(io::Error::other)?;
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The blocks of a file: the type of each and its body.
fn blocks(file: &[u8]) -> Vec<(u32, &[u8])> {
    let number = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
    let (mut blocks, mut at) = (Vec::new(), 0);
    while at < file.len() {
        let length = number(at + 4) as usize;
        assert_eq!(number(at + length - 4) as usize, length);
        blocks.push((number(at), &file[at + 8..at + length - 4]));
        at += length;
    }
    blocks
}

const SECRETS: u32 = 10;
const PACKET: u32 = 6;
const STATISTICS: u32 = 5;

fn of(kind: u32, blocks: &[(u32, &[u8])]) -> usize {
    blocks.iter().filter(|block| block.0 == kind).count()
}

/// While nothing can be written, the memory that was there is filled, and the rest is dropped and counted.
#[test]
fn what_is_not_written_in_time_is_dropped_and_counted() {
    let gate = Arc::new(Mutex::new(()));
    let closed = gate.lock().unwrap();
    let (senders, sent) = channel();
    let (receivers, received) = channel();
    let capture = Capture::start([Box::new(Gated(senders, gate.clone())), Box::new(Gated(receivers, gate.clone()))]);
    capture.secrets().log("SERVER_TRAFFIC_SECRET_0", &[0x0a, 0xff], &[1]);
    let (mut made, clock) = (Made, Clock::start());
    let mut tapped = Tapped::new(&mut made, capture.tap().unwrap(), clock);
    assert!(capture.tap().is_none());
    for _ in 0..2000 {
        tapped.receive(&clock, &mut |packet| assert_eq!(packet.payload.len(), PAYLOAD.len())).unwrap();
    }
    assert_eq!(tapped.send(Direction::Forward, 7, Ecn::Ce, &[IoSlice::new(b"one"), IoSlice::new(b"two")]), 1);
    tapped.finish();
    drop(closed);
    let missing = capture.finish().unwrap();
    let [sent, received] = [sent, received].map(|file| file.try_iter().flatten().collect::<Vec<u8>>());
    let [sent, received] = [blocks(&sent), blocks(&received)];
    // A chunk is handed over when it is half full.
    let most = (CHUNKS << 20) / PAYLOAD.len();
    let written = of(PACKET, &sent) + of(PACKET, &received);
    assert!((most / 2..=most).contains(&written), "{written}");
    assert_eq!(written as u64 + missing, 2001);
    for blocks in [&sent, &received] {
        assert_eq!(blocks.iter().map(|block| block.0).take(3).collect::<Vec<_>>(), [0x0a0d_0d0a, 1, SECRETS]);
        assert!(blocks[2].1.ends_with(b"SERVER_TRAFFIC_SECRET_0 0aff 01\n"), "{:?}", blocks[2]);
    }
    let (kind, statistics) = sent.last().unwrap();
    let number = |at: usize| u64::from_le_bytes(statistics[at..at + 8].try_into().unwrap());
    assert_eq!((*kind, number(16)), (STATISTICS, 2000), "all that were received on the senders' side");
    assert!((missing - 1..=missing).contains(&number(28)));
}

/// A packet is in the captures of both sides, each with its addresses and its ECN field.
#[test]
fn each_side_has_its_addresses() {
    let (senders, sent) = channel();
    let (receivers, received) = channel();
    let gate = Arc::new(Mutex::new(()));
    let capture = Capture::start([Box::new(Gated(senders, gate.clone())), Box::new(Gated(receivers, gate))]);
    let (mut made, clock) = (Made, Clock::start());
    let mut tapped = Tapped::new(&mut made, capture.tap().unwrap(), clock);
    tapped.receive(&clock, &mut |packet| assert_eq!(packet.at.max(Time::ZERO), packet.at)).unwrap();
    tapped.send(Direction::Forward, 7, Ecn::Ce, &[IoSlice::new(b"one"), IoSlice::new(b"two")]);
    tapped.send(Direction::Reverse, 7, Ecn::NotEct, &[IoSlice::new(b"yes"), IoSlice::new(b"no")]);
    tapped.finish();
    assert_eq!(capture.finish().unwrap(), 0);
    let heads = |file: std::sync::mpsc::Receiver<Vec<u8>>| {
        let file = file.try_iter().flatten().collect::<Vec<u8>>();
        let packets = blocks(&file).into_iter().filter(|block| block.0 == PACKET);
        // The type of service and the ports of UDP, behind 20 bytes of the block.
        packets.map(|(_, body)| (body[21], body[41], body[43], body[48])).collect::<Vec<_>>()
    };
    assert_eq!(heads(sent), [(0, 1, 2, 0x41), (0, 2, 1, b'y')]);
    assert_eq!(heads(received), [(3, 3, 4, b'o')]);
}

#[test]
fn what_cannot_be_written_is_an_error() {
    let (senders, sent) = channel();
    let (receivers, _received) = channel();
    drop(sent);
    let gate = Arc::new(Mutex::new(()));
    let capture = Capture::start([Box::new(Gated(senders, gate.clone())), Box::new(Gated(receivers, gate))]);
    let (mut made, clock) = (Made, Clock::start());
    let mut tapped = Tapped::new(&mut made, capture.tap().unwrap(), clock);
    for _ in 0..100 {
        tapped.receive(&clock, &mut |_| {}).unwrap();
    }
    tapped.finish();
    assert!(capture.finish().is_err());
}
