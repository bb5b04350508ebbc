//! Notes the packets that cross the path, on the emulator's thread.

use super::chunk::{Chunk, Message, Noted};
use control::{Stamp, Time};
use emulate::{Direction, Ends, Received, Sides};
use path::Ecn;
use realtime::{Clock, to_std};
use std::collections::HashMap;
use std::io::{self, IoSlice};
use std::net::{SocketAddr, SocketAddrV4};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError};
use std::time::{Duration, SystemTime};

/// Takes notes of packets. It waits for nothing and takes no memory: what finds no empty chunk is dropped and counted.
pub struct Tap {
    /// The chunk that is being filled.
    chunk: Option<Chunk>,
    empty: Receiver<Chunk>,
    full: SyncSender<Message>,
    /// Packets that were not noted, by side.
    dropped: Arc<[AtomicU64; 2]>,
}

impl Tap {
    /// Takes `empty` chunks and hands over `full` ones.
    pub fn new(empty: Receiver<Chunk>, full: SyncSender<Message>, dropped: Arc<[AtomicU64; 2]>) -> Tap {
        Tap { chunk: None, empty, full, dropped }
    }

    fn note(&mut self, noted: Noted, payload: &[u8]) {
        if self.chunk.as_ref().is_none_or(|chunk| !chunk.has_room(payload.len())) {
            self.hand_over();
            self.chunk = self.empty.try_recv().ok();
        }
        match &mut self.chunk {
            Some(chunk) => chunk.push(noted, payload),
            None => self.drop_packet(noted.side),
        }
    }

    fn hand_over(&mut self) {
        let Some(chunk) = self.chunk.take() else { return };
        let refused = self.full.try_send(Message::Packets(chunk));
        // Who writes has failed, which the end of the run tells.
        if let Err(TrySendError::Full(Message::Packets(chunk)) | TrySendError::Disconnected(Message::Packets(chunk))) =
            refused
        {
            chunk.packets().for_each(|(noted, _)| self.drop_packet(noted.side));
        }
    }

    fn drop_packet(&self, side: u8) {
        self.dropped[usize::from(side)].fetch_add(1, Ordering::Relaxed);
    }
}

/// Ends of a path whose packets are noted: each on one side when it arrives at the path, and on the other when it has
/// left. A run that is not captured has its ends without this, and pays nothing.
pub struct Tapped<'a> {
    ends: &'a mut dyn Ends,
    tap: Tap,
    clock: Clock,
    /// The time since 1970 at which the clock began.
    origin: Duration,
    /// The addresses of the flows that have been seen.
    flows: HashMap<u64, Sides>,
}

impl Tapped<'_> {
    /// The ends `ends` with the time `clock`.
    pub fn new(ends: &mut dyn Ends, tap: Tap, clock: Clock) -> Tapped<'_> {
        let day = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let origin = day.saturating_sub(to_std(clock.now().since(Time::ZERO)));
        Tapped { ends, tap, clock, origin, flows: HashMap::new() }
    }

    /// Hands over what has been noted last.
    pub fn finish(mut self) {
        self.tap.hand_over();
    }
}

/// Nanoseconds since 1970 at the time `at` of a clock that began at `origin`.
fn since_1970(origin: Duration, at: Time) -> u64 {
    (origin + to_std(at.since(Time::ZERO))).as_nanos() as u64
}

/// Where packets in this `direction` go on one `side`. Real runs are over 127.0.0.1.
fn addresses(sides: &Sides, side: usize, direction: Direction) -> Option<[SocketAddrV4; 2]> {
    let [SocketAddr::V4(first), SocketAddr::V4(second)] = sides[side] else { return None };
    Some(if direction == Direction::Forward { [first, second] } else { [second, first] })
}

impl Ends for Tapped<'_> {
    fn receive(&mut self, clock: &Clock, take: &mut dyn FnMut(Received)) -> io::Result<()> {
        let Tapped { ends, tap, origin, flows, .. } = self;
        ends.receive(clock, &mut |packet| {
            let side = packet.direction as usize;
            if let Some(sides) = packet.sides {
                flows.entry(packet.flow).or_insert(*sides);
            }
            let addresses = packet.sides.and_then(|sides| addresses(sides, side, packet.direction));
            tap.note(Noted::new(since_1970(*origin, packet.at), side as u8, packet.ecn, addresses), packet.payload);
            take(packet);
        })?;
        // Packets leave later than those arrived that have just been noted. So few are noted out of order across the
        // border between two chunks, if it is here.
        if self.tap.chunk.as_ref().is_some_and(Chunk::is_half_full) {
            self.tap.hand_over();
        }
        Ok(())
    }

    fn update(&self, payload: &mut [u8], stamp: &Stamp, ecn: Ecn) {
        self.ends.update(payload, stamp, ecn);
    }

    fn send(&mut self, direction: Direction, flow: u64, ecn: Ecn, payloads: &[IoSlice]) -> usize {
        let accepted = self.ends.send(direction, flow, ecn, payloads);
        let at = since_1970(self.origin, self.clock.now());
        let side = 1 - direction as usize;
        let addresses = self.flows.get(&flow).and_then(|sides| addresses(sides, side, direction));
        for payload in &payloads[..accepted] {
            self.tap.note(Noted::new(at, side as u8, ecn, addresses), payload);
        }
        accepted
    }

    fn dated(&self) -> bool {
        self.ends.dated()
    }

    fn wait(&mut self, at_most: Duration) -> io::Result<()> {
        self.ends.wait(at_most)
    }

    fn missed(&self) -> (u64, u64) {
        self.ends.missed()
    }
}
