//! By how much a stream finds the path overloaded.
//!
//! If the rates of all flows add up to (1 + x) C, the queue grows by x seconds in a second, whoever sends how much. The
//! estimate of the available bandwidth says the same in another way, C less the rates of the others, but not to a slow
//! flow: x C may be more than all that it sends. So decreases go by x, of which each flow has to give up the same share
//! of its rate.
//!
//! Within a stream the queue also grows because of the stream's own highest rates. But the lowest delays of a stream
//! are those of packets that its lowest rates let the queue drain for. So x is by how much the *low delay* grew from
//! one stream to the next. One-way delays show nothing of queues on the way back.
//!
//! **The low delay** of a stream is that below which a fifth of its delays are. The least one may be that of a single
//! packet that waited for less than all others: where interrupt coalescing holds packets back for about as long as two
//! bursts are apart, two are handed on together now and then. Then the queue would seem to have grown in the next
//! stream. If packets of the stream were lost, the least delays of the two streams are compared, as the queue may hold
//! a few packets only.
//!
//! Beside many other streams the analysis of a stream errs: the delay falls for some packets even while the queue
//! grows, and this looks as if all of the stream's rates fitted. A flow whose estimates remain too high for some tens
//! of seconds takes several times its share. If the low delay grew by most of what the stream's longest delay is above
//! it, the queue grew, whatever the analysis says.
//!
//! **Where the delay wanders by itself**, as over radio, every second stream finds that it has grown. So growth counts
//! only while the delay is farther above its least of the last seconds than it wanders ([`Wander`]). A queue that grows
//! gets there soon, and counts from then on.
//!
//! **Where the path hands packets on in batches**, a packet waits for its batch, for up to the time between two. So the
//! low delay of a stream of single packets may be longer by that time than that of one that arrived in batches.
//! Growth counts only while the delay is farther above its least of the last seconds than this time. Where packets are
//! lost, all growth counts, as the queue may be too short to delay a packet by so much.

use super::lowest::Lowest;
use super::wander::{LEAST_WANDER, Wander};
use crate::pstream::{Received, Sample};
use crate::units::Bytes;
use alloc::vec::Vec;

/// Compares each stream with the one before it.
#[derive(Clone, Debug, Default)]
pub struct Overload {
    before: Option<Lows>,
    /// The delays of a stream, ps, and the places of their packets in it; empty between two streams.
    delays: Vec<(i64, usize)>,
    lowest: Lowest,
    wander: Wander,
}

/// The packets of a stream with the least and with the low delay.
#[derive(Clone, Copy, Debug)]
struct Lows {
    least: Sample,
    low: Sample,
}

/// What a stream shows of the growth of the queue.
#[derive(Clone, Copy, Debug)]
pub struct Growth {
    /// The mean rate of the stream, bits per second.
    pub average: f64,
    /// By how much the rates of all flows exceed the capacity, as a share of it (x); not negative.
    pub overload: f64,
    /// Whether the queue has grown for certain, whatever the analysis of the stream says.
    pub is_plain: bool,
}

/// A stream that was sent more than so many of its durations after the one before it is not compared with that.
const MOST_APART: i64 = 3;

/// The low delay of a stream is above that of one packet in so many.
const LOW: usize = 5;

/// The growth of a queue is plain if the low delay grew by more than this share of what the longest delay of the stream
/// is above it.
const PLAIN: f64 = 0.65;

/// Delays that wander stay within this multiple of their scale above the lowest. It is many times their deviation,
/// because one overload takes more from a flow than it gains in seconds.
const WANDERS: i64 = 150;

/// A host was interrupted if a stream had less than this share of the rate that was planned for it. Its packets then
/// left in a burst, which is a queue of their own.
const INTERRUPTED: f64 = 0.9;

impl Overload {
    /// How the queue grew from the last p-stream to this one, whose packets have this size; none if that is not known.
    pub fn of(&mut self, received: &Received, packet: Bytes) -> Option<Growth> {
        let samples = &received.samples;
        let (first, last) = (samples.first()?, samples.last()?);
        let lost = received.holes.all().iter().any(|hole| hole.missing > 0);
        let least = *samples.iter().min_by_key(|sample| sample.delay)?;
        let lows = Lows { least, low: self.above(samples, samples.len() / LOW)? };
        let before = self.before.replace(lows)?;
        let (before, low) = if lost { (before.least, lows.least) } else { (before.low, lows.low) };
        let span = last.sent().wrapping_sub(first.sent());
        let since = low.sent().wrapping_sub(before.sent());
        let is_next = since > 0 && since <= span.saturating_mul(MOST_APART);
        if span <= 0 || !is_next {
            return None;
        }
        let gaps = last.index.checked_sub(first.index)?;
        let average = received.size_of_burst(packet).as_bits() * f64::from(gaps) / (span as f64 * 1e-12);
        if average < mean_rate(first.rate, last.rate) * INTERRUPTED {
            return None;
        }
        let batches = if lost { 0 } else { received.batches.0.min(i64::MAX as u64) as i64 };
        let counts = !self.may_be_no_queue(&lows.low, lost, batches);
        let grown = if counts { low.delay.wrapping_sub(before.delay).max(0) as f64 } else { 0.0 };
        let range = samples.iter().map(|sample| sample.delay.wrapping_sub(low.delay)).max().unwrap_or(0) as f64;
        let is_plain = grown > PLAIN * range;
        Some(Growth { average, overload: grown / since as f64, is_plain })
    }

    /// The packet of a stream whose delay is above those of so many others; none if there are no more.
    fn above(&mut self, samples: &[Sample], others: usize) -> Option<Sample> {
        self.delays.extend(samples.iter().enumerate().map(|(place, sample)| (sample.delay, place)));
        let place = (others < samples.len()).then(|| self.delays.select_nth_unstable(others).1.1);
        self.delays.clear();
        place.map(|place| samples[place])
    }

    /// Whether `low`, the packet with the low delay of a stream, may have met no queue: because the delay of the path
    /// wanders by as much, or because the packet waited for its batch. `lost` says whether packets of the stream were
    /// lost, and `batches` is the time between two batches, ps; zero: there are none.
    fn may_be_no_queue(&mut self, low: &Sample, lost: bool, batches: i64) -> bool {
        if lost {
            self.wander.forget();
        }
        let wanders = self.wander.scale().saturating_mul(WANDERS);
        self.wander.on_least(low.sent(), low.delay);
        let above = self.lowest.on_delay(low.sent(), low.delay);
        let wanders = if wanders >= LEAST_WANDER { wanders } else { 0 };
        let wait = wanders.max(batches);
        wait > 0 && above <= wait
    }
}

/// The mean rate of packets of one size whose rates rise from `first` to `last` by the same factor each: the mean of
/// the gaps between them, 1/rate, is an integral over the logarithm of the rate.
pub(super) fn mean_rate(first: f64, last: f64) -> f64 {
    let steps = libm::log(last / first);
    if steps < 1e-6 { first } else { steps / (1.0 / first - 1.0 / last) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_packet_above_so_many_others_has_the_low_delay() {
        let stream: [Sample; 30] = core::array::from_fn(|place| Sample {
            index: place as u16,
            rate: 1e6,
            // Two packets waited for less, and one had the same delay as another.
            delay: [900, 2000, 1000, 2000].get(place).copied().unwrap_or(1500 + place as i64),
            arrival: 1000 * place as i64,
            packets: 1,
        });
        let mut overload = Overload::default();
        let mut above = |count, others| overload.above(&stream[..count], others).map(|sample| sample.delay);
        assert_eq!([above(30, 0), above(30, 1), above(30, 6)], [Some(900), Some(1000), Some(1508)]);
        assert_eq!([above(1, 0), above(1, 1), above(0, 0)], [Some(900), None, None]);
    }

    #[test]
    fn the_mean_rate_is_that_of_many_packets() {
        for (first, factor) in [(1.0, 1.025f64), (5.0, 1.0)] {
            let rates: [f64; 61] = core::array::from_fn(|i| first * factor.powi(i as i32));
            // The gap before a packet is that of its rate.
            let mean = 60.0 / rates[1..].iter().map(|rate| 1.0 / rate).sum::<f64>();
            let found = mean_rate(rates[0], rates[60]);
            assert!((found / mean - 1.0).abs() < 0.02, "{found} {mean}");
        }
    }
}
