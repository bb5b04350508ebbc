//! The time to acquire the spare capacity: from a flow's start to the first time from which its mean throughput over
//! the next 10 round-trip times is at least 95 % of the spare capacity.

use crate::experiment::{Cross, Experiment, Flow};
use control::{Bytes, Duration, Rate, Time};
use path::LinkDirection;
use std::sync::Arc;

/// The mean throughput that must reach [`ACQUIRED_SHARE`] of the spare capacity is taken over this many round-trip
/// times.
pub const ACQUIRED_RTTS: usize = 10;
/// The window of the mean moves in this many steps per round-trip time.
const STEPS_PER_RTT: usize = 4;
/// Steps in the window.
const BINS: usize = ACQUIRED_RTTS * STEPS_PER_RTT;
/// The share of the spare capacity that counts as all of it.
pub const ACQUIRED_SHARE: f64 = 0.95;

/// Counts one flow's deliveries in bins of a quarter of a round-trip time, until the flow has acquired the spare
/// capacity.
pub struct Acquire {
    bin: Duration,
    /// When the current bin ends; [`Time::MAX`] once the spare capacity was acquired, or if there is no hope that it
    /// will be.
    pub ends: Time,
    /// Bytes delivered in all at the beginning of the current bin.
    delivered: u64,
    /// Bytes delivered in the last [`BINS`] bins.
    got: u64,
    spare: Arc<[(Time, Rate)]>,
    /// The number of the current bin, from 0 at the flow's start.
    number: u32,
    /// Size of a full packet.
    packet: u32,
    bins: Bins,
}

/// What was delivered in each of the last bins; bin n is at n modulo [`BINS`].
enum Bins {
    /// In packets, as long as that is a whole and small number for each, as with very many flows.
    Packets([u8; BINS]),
    Bytes(Box<[u64; BINS]>),
}

impl Bins {
    /// Puts `bytes` into `slot`, where packets have `packet` bytes. Returns how many bytes were there.
    fn replace(&mut self, slot: usize, bytes: u64, packet: u32) -> u64 {
        let packet = u64::from(packet);
        match self {
            Bins::Packets(bins) => {
                let before = u64::from(bins[slot]) * packet;
                match u8::try_from(bytes / packet) {
                    Ok(packets) if bytes.is_multiple_of(packet) => bins[slot] = packets,
                    _ => {
                        let mut bins = Box::new(bins.map(|packets| u64::from(packets) * packet));
                        bins[slot] = bytes;
                        *self = Bins::Bytes(bins);
                    }
                }
                before
            }
            Bins::Bytes(bins) => std::mem::replace(&mut bins[slot], bytes),
        }
    }
}

impl Acquire {
    /// Begins at the flow's start. `spare` is the spare capacity over time: each entry holds from its time on.
    pub fn new(flow: &Flow, spare: Arc<[(Time, Rate)]>) -> Acquire {
        let bin = Duration((flow.rtt.0 / STEPS_PER_RTT as u64).max(1_000_000));
        let window = Duration(bin.0.saturating_mul(BINS as u64));
        // At most the receiver's window is delivered per round trip. Where that is too little, the flow cannot acquire
        // the spare capacity.
        let most = flow.receive_window.map_or(f64::INFINITY, |packets| packets as f64 * flow.packet.0 as f64);
        let is_too_little = |room: f64| most * (ACQUIRED_RTTS as f64) < ACQUIRED_SHARE * room;
        let hopeless = spare.len() == 1 && is_too_little(room(&spare, flow.start, flow.start + window));
        Acquire {
            bin,
            ends: if hopeless { Time::MAX } else { flow.start + bin },
            delivered: 0,
            got: 0,
            spare,
            number: 0,
            packet: flow.packet.0 as u32,
            bins: Bins::Packets([0; BINS]),
        }
    }

    /// How long after its start the flow had acquired the spare capacity, once that is known.
    pub fn acquired(&self) -> Option<Duration> {
        // If there is no hope, the number is zero.
        let before = self.number.checked_sub(BINS as u32)?;
        (self.ends == Time::MAX).then(|| Duration(self.bin.0 * u64::from(before)))
    }

    /// To be called at the first delivery at or after `ends`, with the bytes delivered before. See
    /// [`Acquire::acquired`] for what it finds.
    #[cold]
    pub fn on_bins_end(&mut self, now: Time, delivered: Bytes) {
        while self.ends <= now {
            self.number += 1;
            let bytes = delivered.0 - std::mem::replace(&mut self.delivered, delivered.0);
            self.got += bytes;
            self.got -= self.bins.replace(self.number as usize % BINS, bytes, self.packet);
            if self.number >= BINS as u32 {
                let had = room(&self.spare, Time(self.ends.0 - self.bin.0 * BINS as u64), self.ends);
                if had > 0.0 && self.got as f64 >= ACQUIRED_SHARE * had {
                    self.ends = Time::MAX;
                    return;
                }
            }
            self.ends += self.bin;
        }
    }
}

/// Bytes that the spare capacity delivers between `from` and `to`.
fn room(spare: &[(Time, Rate)], from: Time, to: Time) -> f64 {
    let first = spare.partition_point(|&(time, _)| time <= from).saturating_sub(1);
    let mut bytes = 0.0;
    for (i, &(begins, rate)) in spare.iter().enumerate().skip(first) {
        if begins >= to {
            break;
        }
        let ends = spare.get(i + 1).map_or(to, |&(time, _)| time.min(to));
        bytes += rate.as_bps() / 8.0 * ends.since(begins.max(from)).as_secs();
    }
    bytes
}

/// The spare capacity of a flow over time: that of the link of its route, or of its access link, that has the least. A
/// link's spare capacity is its capacity in the flow's direction less the mean rate of the traffic that does not react
/// and crosses it in the same direction.
pub fn spare_capacity(experiment: &Experiment, flow: &Flow) -> Arc<[(Time, Rate)]> {
    let shares =
        |cross: &&Cross, link: usize| cross.route.reverse == flow.route.reverse && cross.route.links.contains(&link);
    let mut changes: Vec<Time> = vec![Time::ZERO];
    changes.extend(experiment.cross.iter().flat_map(|cross| [cross.start, cross.stop]));
    let direction = |link: usize| LinkDirection { link, reverse: flow.route.reverse }.setup(&experiment.links);
    changes.extend((0..experiment.links.len()).flat_map(|link| direction(link).changes.iter().map(|change| change.at)));
    changes.sort();
    changes.dedup();
    let spare_at = |time: Time| {
        let left = |&link: &usize| {
            let present = |cross: &&Cross| cross.start <= time && time < cross.stop && shares(cross, link);
            direction(link).capacity_at(time) - experiment.cross.iter().filter(present).map(Cross::mean_rate).sum()
        };
        let narrowest = flow.route.links.iter().map(left).fold(f64::INFINITY, |least, rate| least.min(rate.as_bps()));
        (time, Rate::from_bps(narrowest.min(flow.access.map_or(f64::INFINITY, Rate::as_bps))))
    };
    changes.into_iter().map(spare_at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_bin_holds_is_kept_whatever_it_is() {
        for scale in [1, 42, 43, 1 << 40] {
            for unit in [1000, 1] {
                let mut bins = Bins::Packets([0; BINS]);
                let value = |step: usize| step as u64 % 7 * scale * unit;
                for step in 0..10 * BINS {
                    let before = bins.replace(step % BINS, value(step), 1000);
                    assert_eq!(before, step.checked_sub(BINS).map_or(0, value));
                }
                assert_eq!(matches!(bins, Bins::Packets(_)), unit == 1000 && 6 * scale <= 255);
            }
        }
    }

    #[test]
    fn the_spare_capacity_is_integrated_over_its_changes() {
        let s = |s: f64| Time(Duration::from_secs(s).0);
        let spare = [(s(0.0), Rate::from_mbps(8.0)), (s(1.0), Rate::from_mbps(16.0)), (s(2.0), Rate::ZERO)];
        for (from, to, megabytes) in [(0.0, 1.0, 1.0), (0.5, 1.5, 1.5), (1.0, 3.0, 2.0), (2.5, 9.0, 0.0)] {
            assert!((room(&spare, s(from), s(to)) - megabytes * 1e6).abs() < 1.0, "{from} to {to}");
        }
    }
}
