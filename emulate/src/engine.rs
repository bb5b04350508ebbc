//! The emulator's loop: receives packets, sends those that are due, and waits.

use crate::crossing::Crossing;
use crate::emulated_path::EmulatedPath;
use crate::handle::{Direction, Handle};
use crate::histogram::Histogram;
use crate::pool::Pool;
use crate::record::{Record, Totals};
use control::{Duration, Stamp, Time};
use path::Counters;
use realtime::{Clock, Rest, Waking, hurry, to_std};
use std::io;

/// The emulator's real-time priority. The ends of a path on the same host may have the priority below.
const FIRST: u8 = 2;
/// One packet in this many may leave late because the emulator slept for too long.
const LATE: u64 = 10;
/// The longest time between two calls of `go_on`.
const CHECK: Duration = Duration::from_millis(20);
/// The time between two calls of `tell`.
const TELL: Duration = Duration::from_millis(1000);
/// The most packets sent before the sockets are read again.
const BATCH: usize = 64;

/// The ends of the path: where packets come from and go to.
pub trait Ends {
    /// Hands some of the packets that have arrived to `take`. Does not wait for any.
    ///
    /// # Errors
    /// If the emulation cannot go on.
    fn receive(&mut self, clock: &Clock, take: &mut dyn FnMut(Received)) -> io::Result<()>;

    /// Writes `stamp`, as the routers on the path have changed it, into `payload`. See [`Received::stamp`].
    fn answer(&self, payload: &mut [u8], stamp: &Stamp);

    /// A packet that [arrived](Ends::receive) with this `flow` leaves the path. Returns whether the kernel accepted it.
    fn send(&mut self, direction: Direction, flow: u64, payload: &[u8]) -> bool;

    /// Waits until a packet arrives, `at_most` for this long.
    ///
    /// # Errors
    /// If the emulation cannot go on.
    fn wait(&mut self, at_most: std::time::Duration) -> io::Result<()>;

    /// Packets so far that the kernel dropped because they were not received in time, and packets refused because there
    /// were too many clients.
    fn missed(&self) -> (u64, u64);
}

/// A packet at an end of the path.
pub struct Received<'a> {
    /// When the packet arrived.
    pub at: Time,
    /// Which of the [`EmulatedPath`]'s routes it takes.
    pub route: u16,
    /// Its direction.
    pub direction: Direction,
    /// The number of its flow.
    pub flow: u64,
    /// The stamp that it carries, for routers to read and rewrite.
    pub stamp: Stamp,
    /// Its bytes.
    pub payload: &'a [u8],
}

/// What happened in the last second, to show while the emulation runs.
#[derive(Debug)]
pub struct Progress<'a> {
    /// The time since the beginning.
    pub now: Time,
    /// The length of the interval.
    pub interval: Duration,
    /// What left the path in the interval, by direction.
    pub delivered: [Totals; 2],
    /// The counters of all link directions at the beginning and the end of the interval, by
    /// [`path::LinkDirection::index`].
    pub hops: (&'a [Counters], &'a [Counters]),
    /// How late packets left in the interval.
    pub lateness: &'a Histogram,
    /// Packets missed, unsent and refused since the beginning. See [`Record`].
    pub failed: [u64; 3],
}

/// Moves packets over the `path` between `ends` until `go_on` returns false. Takes samples every `sample`, and calls
/// `tell` every second.
///
/// # Errors
/// If the ends cannot go on.
pub fn run(
    ends: &mut dyn Ends,
    clock: Clock,
    path: EmulatedPath,
    sample: Duration,
    go_on: &mut dyn FnMut() -> bool,
    tell: &mut dyn FnMut(&Progress),
) -> io::Result<Record> {
    let mut record = Record::new(path.observed(), sample);
    record.realtime = hurry(FIRST);
    let mut emulator =
        Emulator { crossing: Crossing::new(path), pool: Pool::default(), record, recent: Histogram::default() };
    let mut told = Told { at: Time::ZERO, delivered: [Totals::default(); 2], hops: emulator.counters(Time::ZERO) };
    let (mut rest, mut waking) = (Rest::new(emulator.record.realtime), Waking::new(LATE));
    let mut check = Time::ZERO;
    loop {
        let now = clock.now();
        if now >= check {
            check = now + CHECK;
            if !go_on() {
                break;
            }
        }
        if now >= emulator.record.next_sample() {
            let hops = emulator.counters(now);
            emulator.record.sample(now, hops);
            (emulator.record.missed, emulator.record.refused) = ends.missed();
        }
        if now >= told.at + TELL {
            emulator.tell(now, &mut told, tell);
        }
        ends.receive(&clock, &mut |packet| emulator.take(packet))?;
        let full = emulator.let_out(ends, &clock);
        let next = emulator.crossing.next_exit();
        let now = clock.now();
        let must_rest = rest.due(now);
        if !full && next > now + waking.takes() {
            let until = (next - waking.takes()).min(check).min(emulator.record.next_sample());
            ends.wait(to_std(until.since(now)))?;
            let woken = clock.now();
            waking.learn(until, woken);
            rest.rested(woken);
        } else if let Some(piece) = must_rest {
            std::thread::sleep(to_std(piece));
            rest.rested(clock.now());
        }
    }
    let now = clock.now();
    let hops = emulator.counters(now);
    emulator.record.sample(now, hops);
    (emulator.record.missed, emulator.record.refused) = ends.missed();
    Ok(emulator.record)
}

struct Emulator {
    crossing: Crossing,
    pool: Pool,
    record: Record,
    /// How late packets left since the last call of `tell`.
    recent: Histogram,
}

/// The state at the last call of `tell`.
struct Told {
    at: Time,
    delivered: [Totals; 2],
    hops: Vec<Counters>,
}

impl Emulator {
    fn take(&mut self, packet: Received) {
        let Received { at, route, direction, flow, stamp, payload } = packet;
        let size = payload.len() as u32;
        self.record.arrived[direction as usize].add(size.into());
        if let Some(slot) = self.pool.put(payload) {
            self.crossing.arrive(
                at,
                route,
                Handle { slot, size, flow, direction, hop: 0, flipped: None, stamp },
                &mut self.pool,
            );
        }
    }

    /// Sends the packets that are due, up to a batch. Returns whether more may be due.
    fn let_out(&mut self, ends: &mut dyn Ends, clock: &Clock) -> bool {
        let Emulator { crossing, pool, record, recent } = self;
        let now = clock.now();
        for _ in 0..BATCH {
            let Some((due, packet)) = crossing.pass(now, pool) else { return false };
            ends.answer(pool.get(packet.slot), &packet.stamp);
            // The bit is flipped back afterwards, since an intact copy of the packet may still be on the path.
            packet.flipped.inspect(|&bit| pool.flip(packet.slot, bit));
            if ends.send(packet.direction, packet.flow, pool.get(packet.slot)) {
                record.delivered[packet.direction as usize].add(packet.size.into());
            } else {
                record.unsent += 1;
            }
            packet.flipped.inspect(|&bit| pool.flip(packet.slot, bit));
            pool.release(packet.slot);
            let late = clock.now().since(due);
            record.lateness.add(late);
            recent.add(late);
        }
        true
    }

    fn counters(&mut self, now: Time) -> Vec<Counters> {
        self.crossing.observe(now, &mut self.pool)
    }

    fn tell(&mut self, now: Time, told: &mut Told, tell: &mut dyn FnMut(&Progress)) {
        // The last sample's counters are exact enough; to observe the links here would reset the longest queue of the
        // next sample.
        let hops = self.record.samples.last().map_or_else(|| told.hops.clone(), |sample| sample.hops.clone());
        let mut delivered = self.record.delivered;
        for (all, before) in delivered.iter_mut().zip(told.delivered) {
            *all = Totals { packets: all.packets - before.packets, bytes: all.bytes - before.bytes };
        }
        let failed = [self.record.missed, self.record.unsent, self.record.refused];
        let interval = now.since(told.at);
        tell(&Progress { now, interval, delivered, hops: (&told.hops, &hops), lateness: &self.recent, failed });
        *told = Told { at: now, delivered: self.record.delivered, hops };
        self.recent.clear();
    }
}
