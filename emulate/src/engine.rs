//! The emulator's loop: receives packets, sends those that are due, and waits.

use crate::crossing::Crossing;
use crate::departures::{Departure, Departures, MOST};
use crate::emulated_path::EmulatedPath;
use crate::ends::{Ends, Received};
use crate::handle::Handle;
use crate::histogram::Histogram;
use crate::load::Load;
use crate::pool::Pool;
use crate::record::{Record, Totals};
use control::{Duration, Time};
use path::Counters;
use realtime::{Clock, Rest, hurry, to_std};
use std::io;

/// The emulator's rounds, in each of which it receives what has arrived and sends what is due, begin about this long
/// after one another while there is more to do than that. A packet that becomes due just after a round waits for this
/// long and for what waking takes; [`EmulatedPath`] makes up for the mean of that.
pub const QUANTUM: Duration = Duration::from_micros(40);
/// The emulator's real-time priority. The ends of a path on the same host may have the priority below.
const FIRST: u8 = 2;
/// The longest time between two calls of `go_on`.
const CHECK: Duration = Duration::from_millis(20);
/// The time between two calls of `tell`.
const TELL: Duration = Duration::from_millis(1000);

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
    /// How far from their times packets left in the interval.
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
    let load = Load::now();
    let mut emulator = Emulator {
        ahead: path.ahead(),
        crossing: Crossing::new(path),
        pool: Pool::default(),
        departures: Departures::default(),
        record,
        recent: Histogram::default(),
    };
    let mut told = Told { at: Time::ZERO, delivered: [Totals::default(); 2], hops: emulator.counters(Time::ZERO) };
    let mut rest = Rest::new(emulator.record.realtime);
    let (mut check, mut busy) = (Time::ZERO, Time::ZERO);
    loop {
        let round = clock.now();
        if round >= check {
            check = round + CHECK;
            if !go_on() {
                break;
            }
        }
        if round >= emulator.record.next_sample() {
            let hops = emulator.counters(round);
            emulator.record.sample(round, hops);
            (emulator.record.missed, emulator.record.refused) = ends.missed();
        }
        if round >= told.at + TELL {
            emulator.tell(round, &mut told, tell);
        }
        ends.receive(&clock, &mut |packet| {
            busy = round;
            emulator.take(packet);
        })?;
        // What arrives from here on is received in the next round: nothing moves beyond the time at which this one
        // began.
        let left = emulator.let_out(ends, &clock, round);
        if left > 0 {
            busy = round;
        }
        let soonest = busy + QUANTUM;
        let until = emulator.crossing.next_exit().max(soonest).min(check).min(emulator.record.next_sample());
        let now = clock.now();
        let must_rest = rest.due(now);
        if left < MOST && until > now {
            pause(ends, &clock, soonest, until)?;
            rest.rested(clock.now());
        } else if let Some(piece) = must_rest {
            std::thread::sleep(to_std(piece));
            rest.rested(clock.now());
        }
    }
    let now = clock.now();
    let hops = emulator.counters(now);
    emulator.record.sample(now, hops);
    (emulator.record.missed, emulator.record.refused) = ends.missed();
    (emulator.record.processor, emulator.record.host_share) = Load::now().since(&load);
    Ok(emulator.record)
}

/// Sleeps until the time `until`, or until a packet arrives; but where the kernel notes when packets arrive, not before
/// `soonest`.
fn pause(ends: &mut dyn Ends, clock: &Clock, soonest: Time, until: Time) -> io::Result<()> {
    let left = |until: Time| to_std(until.since(clock.now()));
    let soonest = if ends.dated() { until.min(soonest) } else { Time::ZERO };
    if until > soonest {
        ends.wait(left(until))?;
    }
    if clock.now() < soonest {
        std::thread::sleep(left(soonest));
    }
    Ok(())
}

struct Emulator {
    /// See [`EmulatedPath::ahead`].
    ahead: Duration,
    crossing: Crossing,
    pool: Pool,
    departures: Departures,
    record: Record,
    /// How far from their times packets left since the last call of `tell`.
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
        let Received { at, route, direction, flow, ecn, stamp, payload, sides: _ } = packet;
        let size = payload.len() as u32;
        self.record.arrived[direction as usize].add(size.into());
        if let Some(slot) = self.pool.put(payload) {
            self.crossing.arrive(
                at,
                route,
                Handle { slot, size, flow, direction, hop: 0, flipped: None, ecn, stamp },
                &mut self.pool,
            );
        }
    }

    /// Sends the packets that were due at `until`, [`MOST`] at most. Returns how many.
    fn let_out(&mut self, ends: &mut dyn Ends, clock: &Clock, until: Time) -> usize {
        let Emulator { ahead, crossing, pool, departures, record, recent } = self;
        let due = std::iter::from_fn(|| crossing.pass(until, pool)).take(MOST);
        due.for_each(|(due, packet)| departures.push(due, packet));
        let left = departures.len();
        departures.leave(pool, ends, |together, accepted, pool| {
            let now = clock.now();
            for (i, Departure { due, packet, .. }) in together.iter().enumerate() {
                if i < accepted {
                    record.delivered[packet.direction as usize].add(packet.size.into());
                }
                let due = *due + *ahead;
                let off = now.since(due).max(due.since(now));
                record.lateness.add(off);
                recent.add(off);
                pool.release(packet.slot);
            }
            record.unsent += (together.len() - accepted) as u64;
        });
        left
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
