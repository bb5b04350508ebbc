//! The estimate of a stream by a line through its delays, for streams whose packets were held back on the way and
//! arrived in bunches ([`Bunches`](super::bunches::Bunches)), and for those that suffer from jitter.
//!
//! Packets that arrive in bunches look like congestion that comes and goes. An analysis packet by packet finds no
//! congestion that persists, and reports several times what is available.
//!
//! PACKET-SCALE-2017 detects the boundaries of buffering events and averages the gaps within each event (section VI-A),
//! in several passes over events of growing size (section VI-B). We average the send gaps together with the receive
//! gaps of an event. An event's mean receive gap is the time from the last packet of the previous event to its own last
//! packet, divided by its number of packets. So means depend only on the last packets of events, which were held back
//! least.
//!
//! **Decided**: one pass finds the events, and a regression over all of them takes the place of further passes. The
//! last packet of an event was held back for up to one receive gap. A p-stream's queue grows by as much within 7
//! packets after the onset, in which the rate rises by a factor of 1.3. Larger events blur the onset as much again, as
//! a stream has only a few of them. (We tried means alone, events of at least 8 packets, and averages of 8 packets in
//! addition, for 250 to 1000 of 1000 Mbps and events of 100 us. The medians were 0.66 to 1.04 of the truth and the 5th
//! percentiles 0.54 to 0.76. A sender that adopts decreases at once and increases slowly settles near the 5th
//! percentile.)
//!
//! The regression: behind a queue, a packet that is sent a gap S after the one before arrives R = P/C + (1 - AB/C) S
//! after it, as other traffic sends (C - AB) S in between. That line meets R = S at P/AB (the line of TOPP: Melander,
//! Björkman and Gunningberg, GLOBECOM 2000). Summed over packets, the delay of packet i that was sent at time s is
//! `c i - a s + constant`, with c = P/C and a = AB/C; so AB = P a/c.

use super::onset::onset;
use super::sample::Sample;
use crate::units::{Bytes, Duration};
use alloc::vec::Vec;

/// The least number of points for a line. The line has two parameters and a constant; the fourth point averages errors.
const MIN_POINTS: usize = 4;
/// The largest number of times that the line's first packet is corrected.
const CORRECTIONS: usize = 8;

/// The estimate of a stream of packets (or bursts) of this size, bits per second. Packets that arrived at most `within`
/// apart belong to the same buffering event, and delays that differ by up to `resolution` picoseconds count as equal.
/// `points` is room for indices. None if there are fewer than two samples. The samples' delays may be changed.
pub(super) fn estimate(
    samples: &mut [Sample],
    packet: Bytes,
    within: Duration,
    resolution: i64,
    points: &mut Vec<u16>,
) -> Option<f64> {
    // A network card whose timer starts with the first packet of an event holds back the first packets of all events
    // for the same time. A card that interrupts at regular times holds back the last packets least. The line that fits
    // better tells which kind of card it is.
    find_points(samples, within, Of::First, points);
    let by_first = fit(samples, points, packet, resolution);
    find_points(samples, within, Of::Last, points);
    let by_last = fit(samples, points, packet, resolution);
    let line = match (by_first, by_last) {
        (Some(first), Some(last)) if first.error < last.error => Some(first),
        (first, last) => last.or(first),
    };

    // A single packet has no gap to compare.
    let &[Sample { rate: low, .. }, _, ..] = &samples[..] else { return None };
    // If a stream arrived in one or two events, only its lowest rate is known to have been carried.
    let &[from, .., last] = &points[..] else { return Some(low) };
    let (from, last) = (from as usize, last as usize);
    // The last event may continue into the next stream, so its packets do not show that the path carried their rates.
    let highest = samples[last].rate;
    if let Some(line) = line {
        return Some(line.rate.min(highest).max(low / 2.0));
    }
    // There is no congestion, or there are too few events for a line: the means are used instead.
    spread(samples, points);
    if last - from < 2 { Some(highest) } else { onset(&samples[from..=last], resolution) }
}

/// Which packet represents its event.
#[derive(Clone, Copy, PartialEq)]
enum Of {
    First,
    Last,
}

/// Finds the indices of the first or last packets of the events. The stream's first and last packets are excluded:
/// their events may have begun in the previous stream, or may end in the next one.
fn find_points(samples: &[Sample], within: Duration, which: Of, points: &mut Vec<u16>) {
    points.clear();
    for (i, pair) in samples.windows(2).enumerate() {
        if pair[1].arrival.saturating_sub(pair[0].arrival) > within.0 as i64 {
            points.push((i + (which == Of::First) as usize) as u16);
        }
    }
}

/// The congested part of a stream.
struct Line {
    /// The rate at which congestion begins, bits per second.
    rate: f64,
    /// Mean squared distance of the points from the line, square picoseconds.
    error: f64,
}

/// The line through the points after the onset; none if there are too few points or no congestion.
fn fit(samples: &[Sample], points: &[u16], packet: Bytes, resolution: i64) -> Option<Line> {
    let at = |k: usize| &samples[points[k] as usize];
    // The line begins at the last point with the least delay, as there was no queue yet. The points before it do not
    // lie on the line, in particular if a packet that left late let a queue drain.
    let least = (0..points.len()).map(|k| at(k).delay).min()?;
    let empty = (0..points.len()).rfind(|&k| at(k).delay.saturating_sub(least) <= resolution)?;
    let (mut start, end) = (empty, points.len() - 1);
    // The buffering events alone may cause a rise of less than one receive gap.
    let gap = at(end).arrival.saturating_sub(at(start).arrival) / (points[end] - points[start]).max(1) as i64;
    if at(end).delay.saturating_sub(at(start).delay) <= gap {
        return None;
    }
    let mut line = None;
    for _ in 0..CORRECTIONS {
        let Some(better) = regress(samples, &points[start..], packet) else { break };
        let onset = samples.partition_point(|sample| sample.rate <= better.rate);
        line = Some(better);
        // Fit again without the packets before the onset, which met no queue.
        let next = points.partition_point(|&k| k as usize <= onset).saturating_sub(1).max(empty);
        if next == start {
            break;
        }
        start = next;
    }
    line
}

/// The least-squares fit of delay = constant + c index - a send time. Missing packets count in the index, as most links
/// lose packets after having transmitted them.
fn regress(samples: &[Sample], points: &[u16], packet: Bytes) -> Option<Line> {
    if points.len() < MIN_POINTS {
        return None;
    }
    let origin = samples[points[0] as usize];
    let all = || {
        points.iter().map(|&k| {
            let sample = &samples[k as usize];
            let since = |time: i64, origin: i64| time.wrapping_sub(origin) as f64;
            (sample.index as f64, since(sample.sent(), origin.sent()), since(sample.delay, origin.delay))
        })
    };
    let n = points.len() as f64;
    let sum = all().fold((0.0, 0.0, 0.0), |sum, p| (sum.0 + p.0, sum.1 + p.1, sum.2 + p.2));
    let (mut ii, mut is, mut ss, mut id, mut sd, mut dd) = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
    for (i, s, d) in all() {
        let (i, s, d) = (i - sum.0 / n, s - sum.1 / n, d - sum.2 / n);
        ii += i * i;
        is += i * s;
        ss += s * s;
        id += i * d;
        sd += s * d;
        dd += d * d;
    }
    let determinant = ii * ss - is * is;
    if determinant <= 1e-9 * ii * ss {
        return None; // equal gaps make no line
    }
    let c = (id * ss - sd * is) / determinant;
    let a = (id * is - sd * ii) / determinant;
    let error = (dd - c * id + a * sd).max(0.0) / (n - 3.0);
    (a > 0.0 && c > 0.0).then(|| Line { rate: packet.as_bits() * 1e12 * a / c, error })
}

/// Replaces the send and receive gaps within each event by their means: the delay goes from point to point in equal
/// steps.
fn spread(samples: &mut [Sample], points: &[u16]) {
    for pair in points.windows(2) {
        let (from, to) = (pair[0] as usize, pair[1] as usize);
        let start = samples[from].delay;
        let rise = samples[to].delay.saturating_sub(start) as i128;
        for (k, sample) in samples[from..to].iter_mut().enumerate() {
            sample.delay = start + (rise * k as i128 / (to - from) as i128) as i64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::onset::onset;
    use super::*;
    use proptest::prelude::*;

    const PACKET: Bytes = Bytes(1000);
    const US: i64 = 1_000_000;

    /// A stream from 100 Mbps up, at 1.04 times the rate with each packet, through a link of 1 Gbps of which `spare` is
    /// left.
    fn stream(len: usize, spare: f64) -> Vec<Sample> {
        stream_with_late(len, spare, &[])
    }

    /// The packets at `late` leave 200 us late.
    fn stream_with_late(len: usize, spare: f64, late: &[usize]) -> Vec<Sample> {
        let (mut rate, mut sent, mut queue, mut samples) = (1e8, 0.0, 0.0, vec![]);
        for k in 0..len {
            let gap = 8e15 / rate + if late.contains(&k) { 200.0 * US as f64 } else { 0.0 };
            sent += gap;
            queue = f64::max(0.0, queue + (8e15 - spare * gap) / 1e9);
            let probed = samples.last().map_or(0.0, |last: &Sample| last.rate).max(8e15 / gap);
            let (index, delay, arrival) = (k as u16, queue as i64, (sent + queue) as i64);
            samples.push(Sample { index, rate: probed, delay, arrival, packets: 1 });
            rate *= 1.04;
        }
        samples
    }

    /// Held back until the end of each `period`.
    fn coalesce(samples: &mut [Sample], period: i64) {
        for sample in samples {
            let held = period - sample.arrival.rem_euclid(period);
            sample.arrival += held;
            sample.delay += held;
        }
    }

    fn smoothed(samples: &[Sample]) -> Option<f64> {
        let mut points = Vec::new();
        estimate(&mut samples.to_vec(), PACKET, Duration::from_micros(1), 50, &mut points)
    }

    #[test]
    fn without_noise_the_line_is_exact() {
        for spare in [3e8, 5e8, 1e9] {
            let found = smoothed(&stream(90, spare)).unwrap();
            assert!((found / spare - 1.0).abs() < 0.01, "{found} of {spare}");
        }
    }

    #[test]
    fn lost_packets_do_not_bend_the_line() {
        for spare in [3e8, 5e8, 8e8] {
            let mut samples = stream(90, spare);
            samples.retain(|sample| sample.index % 5 != 3);
            let found = smoothed(&samples).unwrap();
            assert!((found / spare - 1.0).abs() < 0.01, "{found} of {spare}");
        }
    }

    #[test]
    fn packets_that_left_late_hide_no_congestion() {
        let found = |late: &[usize]| {
            let mut samples = stream_with_late(90, 5e8, late);
            // A few microseconds of jitter besides.
            for (k, sample) in samples.iter_mut().enumerate() {
                let held = (k * 7 % 5) as i64 * US;
                (sample.delay, sample.arrival) = (sample.delay + held, sample.arrival + held);
            }
            let within = Duration::from_micros(1);
            estimate(&mut samples, PACKET, within, 10 * US, &mut Vec::new()).unwrap() / 5e8
        };
        for k in 1..90 {
            let one = found(&[k]);
            assert!((0.9..=1.2).contains(&one), "{one} of the truth, late: {k}");
        }
        for k in 1..88 {
            let two = found(&[k, 88]);
            assert!(two >= 0.9, "{two} of the truth, late: {k} and the last but one");
        }
    }

    #[test]
    fn packets_that_arrive_at_the_same_time_do_not_hide_the_onset() {
        for spare in [3e8, 5e8, 7e8] {
            for period in [20 * US, 50 * US, 100 * US] {
                let mut samples = stream(90, spare);
                coalesce(&mut samples, period);
                let raw = onset(&samples, 50).unwrap();
                let found = smoothed(&samples).unwrap();
                println!("{spare:e} of 1e9, {} us: raw {raw:e}, smoothed {found:e}", period / US);
                assert!((found / spare - 1.0).abs() < 0.1, "{found:e} of {spare:e}, {} us", period / US);
            }
        }
    }

    #[test]
    fn a_stream_that_arrived_at_one_time_yields_its_lowest_rate() {
        let mut samples = stream(90, 1e9);
        coalesce(&mut samples, 1_000_000 * US);
        assert_eq!(smoothed(&samples), Some(1e8), "the lowest");
    }

    #[test]
    fn an_estimate_is_not_above_the_rate_before_the_last_event() {
        let mut samples = stream(20, 1e12); // no congestion, rates up to 211 Mbps
        for sample in &mut samples[10..] {
            let held = 10_000 * US - sample.arrival;
            sample.arrival += held;
            sample.delay += held;
        }
        let found = smoothed(&samples).unwrap();
        assert_eq!(found, samples[9].rate);
    }

    proptest! {
        #[test]
        fn any_arrivals_can_be_analysed(
            packets in prop::collection::vec((any::<f32>(), any::<i64>(), 0..200i64), 0..60),
            within in 0..3u64,
        ) {
            let mut arrival = 0;
            let mut samples: Vec<Sample> = packets.iter().map(|&(rate, delay, gap)| {
                arrival += gap * US / 10;
                Sample { index: 0, rate: rate as f64, delay: delay >> 1, arrival, packets: 1 }
            }).collect();
            let mut points = Vec::new();
            estimate(&mut samples, PACKET, Duration::from_micros(within), 50, &mut points);
        }
    }
}
