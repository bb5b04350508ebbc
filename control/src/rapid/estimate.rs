//! The receiver's analysis: which of a stream's rates was the last that did not make the bottleneck's queue grow
//! (self-induced congestion; algorithms after pathChirp's excursions)?

use super::missing::Missing;
use super::smooth::{self, Bunches};
use crate::roles::{Receiver, Report, Stamp};
use crate::units::{Bytes, Duration, Time};
use alloc::vec::Vec;

/// A terminating excursion shorter than this is noise, packets (pathChirp's L).
const NOISE: usize = 5;
/// An excursion ends when the queueing delay has fallen below its highest by this factor (pathChirp's F).
const DECREASE: f64 = 1.5;
/// The same of [`lulls`], which are steadier.
const STEADY_DECREASE: f64 = 1.25;
/// Packets in which a lull is looked for.
const LULL: usize = 8;
/// They left within so much time. On fast links, other traffic's packets come and go in less, be they spaced by a clock; queues that fast flows make among
/// slow ones do not, and a slow flow that took them for its own would starve. The price: on links of less than some 20 Mbps, lulls are of
/// too few packets to see through anything.
const LULL_TIME: Duration = Duration::from_micros(1500);

/// How an estimate is drawn from a stream's delays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "registry", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Estimator {
    /// The rate at which the last excursion starts that does not end within the stream.
    Onset,
    /// The same of the least delays of eight packets in a row that left within 1.5 ms: our own. Other traffic's packets delay some of a stream's and not the next,
    /// which hides a queue that grows until it is several of them long, so that onset finds more than there is.
    Lulls,
    /// pathChirp's weighted mean over the whole stream.
    PathChirp,
    /// Where a line through all that queued says that congestion begins: slightly out of the paper's way, but robust against
    /// jitter and the packets of other traffic.
    Regression,
}

/// One packet of a stream that arrived.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Its index in the stream.
    pub index: u16,
    /// The rate that the gap before it stands for, or that of the packet before if it is higher, bits per second.
    pub rate: f64,
    /// One-way delay less the same constant for all packets of the stream, picoseconds.
    pub delay: i64,
    /// When it arrived, picoseconds.
    pub arrival: i64,
}

impl Sample {
    /// When it was sent, by the sender's clock and with a constant for all packets of the stream, picoseconds.
    pub fn sent(&self) -> i64 {
        self.arrival.wrapping_sub(self.delay)
    }
}

/// Watches one flow's p-streams. Needs nothing but the stamps: no handshake, and lost or reordered packets only make the
/// analysis coarser.
pub struct Analyser {
    estimator: Estimator,
    /// Delays that differ by no more count as equal.
    resolution: i64,
    stream: Option<u32>,
    samples: Vec<Sample>,
    /// Index of the packet that is to arrive next.
    next: u16,
    /// What looks for packets that were held back by a host and not by a queue, and its room.
    bunches: Bunches,
    points: Vec<u16>,
    missing: Missing,
    closed: Option<u32>,
}

impl Analyser {
    /// An analyser of streams of up to `longest` packets, on a clock of this `resolution`. Packets that arrive no more than
    /// `smoothing` apart after a spike were held back by a host; zero: never.
    pub fn new(estimator: Estimator, resolution: Duration, smoothing: Duration, longest: usize) -> Analyser {
        let resolution = resolution.0.min(i64::MAX as u64) as i64;
        Analyser {
            estimator,
            resolution,
            stream: None,
            samples: Vec::with_capacity(longest),
            next: 0,
            bunches: Bunches::new(smoothing),
            points: Vec::with_capacity(longest),
            missing: Missing::new(0.0, longest),
            closed: None,
        }
    }

    /// One that puts the loss of this share of packets down to transmission errors.
    pub fn tolerant(self, errors: f64) -> Analyser {
        Analyser { missing: Missing::new(errors, self.samples.capacity()), ..self }
    }

    /// The stream that is open ends.
    fn close(&mut self, packet: Bytes) -> Option<Report> {
        let stream = self.stream.take()?;
        self.closed = Some(stream);
        // Streams that came in bunches can only be smoothed.
        let spoilt = self.bunches.spoil(self.samples.len());
        let rate = match self.estimator {
            Estimator::Onset if !spoilt => onset(&self.samples, self.resolution),
            Estimator::Lulls if !spoilt => lulls(&mut self.samples, self.resolution),
            Estimator::PathChirp if !spoilt => pathchirp(&self.samples, self.resolution),
            _ => smooth::estimate(&mut self.samples, packet, &self.bunches, self.resolution, &mut self.points),
        };
        let rate = rate.and_then(|rate| self.known_to_pass(rate, packet));
        self.samples.clear();
        Some(Report::Available { stream, rate: rate? as f32 })
    }

    /// What is left of an estimate after losses: the delay behind a full queue does not grow, so that a stream which lost packets at rates below
    /// the one at which congestion seems to begin may have met a full queue. The rate before the loss is the last one that is known to have been carried.
    fn known_to_pass(&self, rate: f64, packet: Bytes) -> Option<f64> {
        let Some(cut) = self.missing.cut(self.next) else { return Some(rate) };
        let carried = cut.checked_sub(1).map(|last| self.samples[last].rate);
        if self.missing.is_much(self.next) && carried.is_none_or(|carried| rate > carried) {
            // It did not fill the queue itself: all that is known is how much arrives.
            return Some(carried?.min(received(&self.samples, packet)));
        }
        let shows_none = self.samples.last().is_some_and(|last| rate >= last.rate);
        Some(if shows_none { carried.unwrap_or(self.samples[0].rate) } else { rate })
    }
}

/// The mean rate at which these packets arrived, bits per second.
fn received(samples: &[Sample], packet: Bytes) -> f64 {
    let (Some(first), Some(last)) = (samples.first(), samples.last()) else { return 0.0 };
    let span = Duration(last.arrival.wrapping_sub(first.arrival).max(1) as u64);
    Bytes(packet.0 * (samples.len() as u64 - 1)).over(span).as_bps()
}

/// Whether stream `a` was begun after stream `b`; they count modulo 2^32.
fn is_later(a: u32, b: u32) -> bool {
    a.wrapping_sub(b) as i32 > 0
}

impl Receiver for Analyser {
    fn on_arrival(&mut self, now: Time, stamp: &Stamp, size: Bytes) -> Option<Report> {
        let Stamp::Probe { stream, index, len, rate, sent } = *stamp else { return None };
        if self.closed.is_some_and(|closed| !is_later(stream, closed)) {
            return None;
        }
        let mut report = None;
        if let Some(open) = self.stream
            && open != stream
        {
            if !is_later(stream, open) {
                return None;
            }
            // A packet of a later stream: no more of this one will come.
            report = self.close(size);
        }
        if len == 0 {
            return report; // not a probe
        }
        if self.stream != Some(stream) {
            self.stream = Some(stream);
            self.missing.clear();
            self.next = self.missing.first_of_interest(index);
        }
        if index > self.next {
            self.missing.on_gap(self.next, index, self.samples.len());
        } else if index < self.next {
            self.missing.on_late(index);
        }
        // One that was overtaken is none of the series.
        if index >= self.next && self.samples.len() < self.samples.capacity() {
            self.next = index.saturating_add(1);
            let (delay, arrival, mut rate) = (now.0.wrapping_sub(sent.0) as i64, now.0 as i64, rate as f64);
            match self.samples.last() {
                Some(last) => {
                    self.bunches.on_gap(Duration(arrival.wrapping_sub(last.arrival) as u64));
                    // From the second packet on rates rise; one that does not is that of a packet that left late.
                    if self.samples.len() > 1 {
                        rate = rate.max(last.rate);
                    } else if last.index > 0 && index == last.index + 1 {
                        // What was before the first packet never arrived: that may have been a pause.
                        self.samples[0].rate = rate;
                    }
                }
                None => self.bunches.reset(),
            }
            self.samples.push(Sample { index, rate, delay, arrival });
        }
        if index + 1 == len { self.close(size) } else { report }
    }
}

/// Excursions of the queueing delay: the finished ones of at least [`NOISE`] packets are passed to `finished` as ranges; the
/// start of the one that does not end within the stream is returned.
fn excursions(
    samples: &[Sample],
    resolution: i64,
    decrease: f64,
    mut finished: impl FnMut(usize, usize),
) -> Option<usize> {
    let n = samples.len();
    let mut i = 0;
    while i + 1 < n {
        if samples[i + 1].delay.saturating_sub(samples[i].delay) <= resolution {
            i += 1;
            continue;
        }
        let mut highest = 0;
        let mut j = i + 1;
        while j < n {
            let rise = samples[j].delay.saturating_sub(samples[i].delay);
            highest = highest.max(rise);
            if rise as f64 <= highest as f64 / decrease {
                break;
            }
            j += 1;
        }
        if j == n {
            return Some(i);
        }
        if j - i >= NOISE {
            finished(i, j);
            i = j;
        } else {
            i += 1;
        }
    }
    None
}

/// The rate at which queueing set in for good (PACKET-SCALE-2017, section IV-B). None if there is nothing to compare.
pub fn onset(samples: &[Sample], resolution: i64) -> Option<f64> {
    last_onset(samples, resolution, DECREASE)
}

/// The rate at which queueing set in for good, by the least delay of each packet and the next ones. Delays are replaced by these: afterwards,
/// [`Sample::sent`] means nothing.
pub fn lulls(samples: &mut [Sample], resolution: i64) -> Option<f64> {
    for i in 0..samples.len() {
        let near = samples[i..].iter().take(LULL);
        let near = near.take_while(|sample| sample.sent().saturating_sub(samples[i].sent()) <= LULL_TIME.0 as i64);
        samples[i].delay = near.map(|sample| sample.delay).fold(samples[i].delay, i64::min);
    }
    last_onset(samples, resolution, STEADY_DECREASE)
}

fn last_onset(samples: &[Sample], resolution: i64, decrease: f64) -> Option<f64> {
    let (first, last) = (samples.first()?, samples.last()?);
    match samples.len() {
        1 => return None,
        // One step is no trend (RAPID-2009's first slow-start stream has two packets, 83 ms apart: any cross-traffic would end
        // slow start at half of 100 kbps).
        2 => return Some(last.rate),
        _ => {}
    }
    Some(match excursions(samples, resolution, decrease, |_, _| ()) {
        None => last.rate,
        // Its footnote 13: all of the stream was too fast.
        Some(0) => first.rate.min(samples[1].rate) / 2.0,
        Some(i) => samples[i].rate,
    })
}

/// pathChirp's estimate: the mean of a rate per packet, weighted by the gaps. Within a finished excursion, while the delay
/// rises, that is the packet's own rate; elsewhere it is the rate at which the unfinished excursion starts (the last one, if
/// there is none).
pub fn pathchirp(samples: &[Sample], resolution: i64) -> Option<f64> {
    let last = samples.len().checked_sub(1).filter(|&last| last > 0)?;
    let (mut weighted, mut inside) = (0.0, 0.0);
    let rises = |k: usize| k < last && samples[k + 1].delay.saturating_sub(samples[k].delay) > resolution;
    let unfinished = excursions(samples, resolution, DECREASE, |from, to| {
        for k in (from..to).filter(|&k| rises(k)) {
            // A gap lasts 1/r for a packet of unit size, so rate times gap is 1.
            weighted += 1.0;
            inside += 1.0 / samples[k].rate;
        }
    });
    let elsewhere = match unfinished {
        None => samples[last].rate,
        Some(0) => samples[0].rate.min(samples[1].rate) / 2.0,
        Some(i) => samples[i].rate,
    };
    let all: f64 = samples.iter().map(|s| 1.0 / s.rate).sum();
    Some((weighted + elsewhere * (all - inside)) / all)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rates 1, 2, ... and these delays.
    fn samples(delays: &[i64]) -> Vec<Sample> {
        delays
            .iter()
            .enumerate()
            .map(|(i, &delay)| Sample { index: i as u16, rate: (i + 1) as f64, delay, arrival: 0 })
            .collect()
    }

    #[test]
    fn no_queueing_gives_the_top_rate() {
        assert_eq!(onset(&samples(&[0; 10]), 0), Some(10.0));
        assert_eq!(onset(&samples(&[90, 80, 70, 60, 50]), 0), Some(5.0), "an old queue drains");
    }

    #[test]
    fn queueing_from_a_packet_on_gives_the_rate_before() {
        assert_eq!(onset(&samples(&[0, 0, 0, 0, 1, 3, 6, 10]), 0), Some(4.0));
        assert_eq!(onset(&samples(&[5, 3, 1, 0, 1, 3, 6, 10]), 0), Some(4.0), "after an old queue has drained");
    }

    #[test]
    fn two_packets_show_no_trend() {
        assert_eq!((onset(&samples(&[0]), 0), onset(&samples(&[0, 9]), 0)), (None, Some(2.0)));
    }

    #[test]
    fn queueing_from_the_start_gives_half_the_first_rate() {
        assert_eq!(onset(&samples(&[0, 1, 2, 3, 4]), 0), Some(0.5));
    }

    #[test]
    fn a_burst_of_cross_traffic_that_passes_is_not_congestion() {
        let delays = [0, 9, 12, 10, 9, 8, 2, 0, 0, 0, 0, 4, 9, 15];
        assert_eq!(onset(&samples(&delays), 0), Some(11.0));
        let short = [0, 9, 2, 0, 0, 0, 0, 0, 0, 0, 0, 4, 9, 15];
        assert_eq!(onset(&samples(&short), 0), Some(11.0));
    }

    /// Every third packet comes behind one of other traffic, which delays it by 20; from the seventh on the queue grows.
    #[test]
    fn lulls_see_through_the_packets_of_other_traffic() {
        let queue = |i: i64| [0, 1, 3, 6, 10, 15, 21, 28, 36, 45][(i - 6).clamp(0, 9) as usize];
        let alone: Vec<i64> = (0..16).map(queue).collect();
        let delays: Vec<i64> = (0..16).map(|i| queue(i) + if i % 3 == 2 { 20 } else { 0 }).collect();
        assert_eq!([onset(&samples(&alone), 0), onset(&samples(&delays), 0)], [Some(7.0), Some(13.0)]);
        let lulls = |delays, spacing: i64| {
            let mut samples = samples(delays);
            (0..).zip(&mut samples).for_each(|(i, sample)| sample.arrival = i * spacing + sample.delay);
            lulls(&mut samples, 0)
        };
        let ms = 1_000_000_000;
        assert_eq!([lulls(&alone, ms / 10), lulls(&delays, ms / 10), lulls(&delays, ms / 2)], [Some(7.0); 3]);
        // Of a slow flow, no two packets are of the same lull, and a fall by a fifth ends an excursion.
        assert_eq!(lulls(&delays, 2 * ms), Some(16.0));
    }

    #[test]
    fn the_clocks_resolution_is_no_queue() {
        let delays: Vec<i64> = (0..30).map(|i| i % 2).collect();
        assert_eq!(onset(&samples(&delays), 1), Some(30.0));
    }

    /// Delays are differences of two hosts' clocks, one of which says what it likes.
    #[test]
    fn no_delay_is_too_far_from_another() {
        let extremes = samples(&[i64::MIN, i64::MAX, 0, i64::MIN, i64::MAX]);
        assert!(onset(&extremes, 0).is_some() && pathchirp(&extremes, 0).is_some());
        assert!(lulls(&mut extremes.clone(), 0).is_some());
    }

    #[test]
    fn pathchirp_weighs_what_passed_by_its_gaps() {
        // No queueing at all: the top rate, as with onset.
        assert_eq!(pathchirp(&samples(&[0; 10]), 0), Some(10.0));
        // A finished excursion over packets 1 to 6 (rising at 1, 2, 3), and none that stays: the rising ones count as their
        // own rates 2, 3, 4, the others as the top rate 12.
        let delays = [0, 0, 5, 9, 12, 10, 3, 0, 0, 0, 0, 0];
        let all: f64 = (1..=12).map(|r| 1.0 / r as f64).sum();
        let inside = 1.0 / 2.0 + 1.0 / 3.0 + 1.0 / 4.0;
        let expected = (3.0 + 12.0 * (all - inside)) / all;
        let got = pathchirp(&samples(&delays), 0).unwrap();
        assert!((got - expected).abs() < 1e-12, "{got} {expected}");
    }

    fn probe(stream: u32, index: u16) -> Stamp {
        Stamp::Probe { stream, index, len: 4, rate: (index + 1) as f32, sent: Time(1_000 * index as u64) }
    }

    #[test]
    fn a_lost_packet_hides_no_congestion() {
        let found = |delays: [Option<u64>; 10]| {
            let mut analyser = Analyser::new(Estimator::Onset, Duration::ZERO, Duration::ZERO, 90);
            let arrivals = (0..).zip(delays).filter_map(|(index, delay)| Some((index, delay?)));
            let reports = arrivals.map(|(index, delay)| {
                let sent = Time(1_000 * index as u64);
                let stamp = Stamp::Probe { stream: 1, index, len: 10, rate: (index + 1) as f32, sent };
                analyser.on_arrival(Time(1_000 * index as u64 + delay), &stamp, Bytes(1000))
            });
            reports.last().unwrap()
        };
        let available = |rate| Some(Report::Available { stream: 1, rate });
        let arrived = [0, 0, 0, 0, 0, 1, 3, 6, 10, 15].map(Some);
        let without = |lost: usize| {
            let mut delays = arrived;
            delays[lost] = None;
            delays
        };
        assert_eq!([found(arrived), found(without(1)), found(without(7))], [available(5.0); 3]);
        let mut full = [Some(20); 10];
        full[6] = None;
        assert_eq!(found(full), available(6.0), "behind a full queue");
        // RAPID-2009's first packet goes at the mean rate, which is above that of the next ones.
        let mut analyser = Analyser::new(Estimator::Onset, Duration::ZERO, Duration::ZERO, 90);
        let mut arrive = |stream, index, rate| {
            let sent = Time(1_000 * u64::from(index));
            analyser.on_arrival(sent, &Stamp::Probe { stream, index, len: 10, rate, sent }, Bytes(1000))
        };
        assert_eq!(
            [(0, 100.0), (2, 47.0), (3, 51.0), (4, 54.0)].map(|(index, rate)| arrive(1, index, rate)),
            [None; 4]
        );
        assert_eq!(arrive(2, 0, 100.0), available(100.0), "as published");
    }

    #[test]
    fn behind_a_full_queue_no_more_is_available_than_arrives() {
        // Of a stream of 20 whose rates double from 1 Mbps on, those with a delay arrive.
        let found = |delays: &[(u16, u64)]| {
            let mut analyser = Analyser::new(Estimator::Onset, Duration::ZERO, Duration::ZERO, 90).tolerant(0.02);
            let (us, mut sent, mut reports) = (1_000_000, 0, Vec::new());
            for index in 0..20 {
                let rate = 1e6 * 2f64.powi(i32::from(index));
                sent += (8e15 / rate) as u64;
                let Some((_, delay)) = delays.iter().find(|(arrived, _)| *arrived == index) else { continue };
                let stamp = Stamp::Probe { stream: 1, index, len: 20, rate: rate as f32, sent: Time(sent) };
                reports.extend(analyser.on_arrival(Time(sent + delay * us), &stamp, Bytes(1000)));
            }
            // The next stream ends it.
            let stamp = Stamp::Probe { stream: 2, index: 0, len: 20, rate: 1e6, sent: Time(sent) };
            reports.extend(analyser.on_arrival(Time(sent + 9_000 * us), &stamp, Bytes(1000)));
            reports.first().map(|report| match report {
                Report::Available { rate, .. } => (f64::from(*rate) / 1e5).round() / 10.0,
                other => panic!("{other:?}"),
            })
        };
        // A packet more or less in a full queue reads as congestion that begins at 256 Mbps.
        assert_eq!(found(&[(0, 800), (1, 800), (8, 800), (12, 808)]), Some(2.0), "the rate before the loss");
        let late = [(0, 800), (1, 800), (2, 800), (3, 800), (4, 800), (10, 800), (12, 808)];
        assert_eq!(found(&late), Some(6.0), "six more in 8 ms, not the 16 Mbps before the loss");
        assert_eq!(found(&[(3, 800), (8, 800), (12, 808)]), None, "not even the first packets arrived");
        let queued = |index: u16| if index < 6 { 0 } else { 80 * (u64::from(index) - 5) };
        let overflow: Vec<_> =
            (0..20).filter(|index| !(12..19).contains(index)).map(|index| (index, queued(index))).collect();
        assert_eq!(found(&overflow), Some(32.0), "a short queue that the stream itself filled");
    }

    #[test]
    fn a_stream_ends_with_its_last_packet_or_with_a_later_stream() {
        let mut analyser = Analyser::new(Estimator::Onset, Duration::ZERO, Duration::ZERO, 90);
        let mut arrive = |stream, index| {
            analyser.on_arrival(Time(50_000 + 1_000 * index as u64), &probe(stream, index), Bytes(1000))
        };
        let available = |stream, rate| Some(Report::Available { stream, rate });
        assert_eq!([arrive(7, 0), arrive(7, 1), arrive(7, 2)], [None; 3]);
        assert_eq!(arrive(7, 3), available(7, 4.0));
        assert_eq!(arrive(7, 3), None, "a duplicate of a closed stream");
        assert_eq!([arrive(8, 0), arrive(8, 1), arrive(8, 2)], [None; 3]);
        assert_eq!(arrive(9, 0), available(8, 3.0), "its last packet was lost");
        assert_eq!(arrive(8, 3), None, "too late");
        assert_eq!([arrive(9, 1), arrive(9, 3)], [None, available(9, 2.0)], "packet 2 was lost");
    }
}
