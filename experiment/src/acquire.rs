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
    start: Time,
    bin: Duration,
    /// When the current bin ends.
    pub ends: Time,
    /// The number of the current bin, from 0 at the flow's start.
    number: usize,
    /// Bytes delivered in all at the beginning of each of the last bins; bin n is at n modulo [`BINS`].
    delivered: Delivered,
    spare: Arc<[(Time, Rate)]>,
    /// Bytes that the spare capacity delivers in a window, if the spare capacity is constant.
    constant_room: Option<f64>,
}

/// Numbers of bytes, which take half of the memory as long as all are less than 2^32, as with very many flows.
enum Delivered {
    Narrow([u32; BINS]),
    Wide(Box<[u64; BINS]>),
}

impl Delivered {
    /// Puts `bytes`, which are no fewer than any number before, into `slot`. Returns what was there.
    fn replace(&mut self, slot: usize, bytes: u64) -> u64 {
        match (&mut *self, u32::try_from(bytes)) {
            (Delivered::Narrow(bins), Ok(bytes)) => std::mem::replace(&mut bins[slot], bytes).into(),
            (Delivered::Wide(bins), _) => std::mem::replace(&mut bins[slot], bytes),
            (Delivered::Narrow(bins), Err(_)) => {
                let mut bins = Box::new(bins.map(u64::from));
                let before = std::mem::replace(&mut bins[slot], bytes);
                *self = Delivered::Wide(bins);
                before
            }
        }
    }
}

impl Acquire {
    /// Begins at the flow's start. `spare` is the spare capacity over time: each entry holds from its time on.
    pub fn new(flow: &Flow, spare: Arc<[(Time, Rate)]>) -> Acquire {
        let bin = Duration((flow.rtt.0 / STEPS_PER_RTT as u64).max(1_000_000));
        let window = Duration(bin.0 * BINS as u64);
        let constant_room = (spare.len() == 1).then(|| room(&spare, flow.start, flow.start + window));
        // At most the receiver's window is delivered per round trip. Where that is too little, the flow cannot acquire
        // the spare capacity.
        let most = flow.receive_window.map_or(f64::INFINITY, |packets| packets as f64 * flow.packet.0 as f64);
        let hopeless = constant_room.is_some_and(|room| most * (ACQUIRED_RTTS as f64) < ACQUIRED_SHARE * room);
        let ends = if hopeless { Time::MAX } else { flow.start + bin };
        Acquire {
            start: flow.start,
            bin,
            ends,
            number: 0,
            delivered: Delivered::Narrow([0; BINS]),
            spare,
            constant_room,
        }
    }

    /// To be called at the first delivery at or after `ends`, with the bytes delivered before. Returns how long after
    /// its start the flow had acquired the spare capacity, once that is known.
    #[cold]
    pub fn on_bins_end(&mut self, now: Time, delivered: Bytes) -> Option<Duration> {
        while self.ends <= now {
            self.number += 1;
            let slot = self.number % BINS;
            let got = delivered.0 - self.delivered.replace(slot, delivered.0);
            if self.number >= BINS {
                let began = Time(self.ends.0 - self.bin.0 * BINS as u64);
                let had = self.constant_room.unwrap_or_else(|| room(&self.spare, began, self.ends));
                if had > 0.0 && got as f64 >= ACQUIRED_SHARE * had {
                    return Some(began.since(self.start));
                }
            }
            self.ends += self.bin;
        }
        None
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
    fn numbers_of_bytes_are_kept_whatever_their_size() {
        let mut delivered = Delivered::Narrow([0; BINS]);
        for step in 0..10 * BINS as u64 {
            let before = delivered.replace(step as usize % BINS, step << 25);
            assert_eq!(before, step.saturating_sub(BINS as u64) << 25);
        }
        assert!(matches!(delivered, Delivered::Wide(_)));
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
