//! The packets of a flow's streams as they arrive.
//!
//! Where the sender sends bursts ([`bursts`](super::bursts)), the packets of a burst have the same index. The first one
//! that arrives stands for the burst, **decided**: also if the burst's first packet was lost. The others are counted.
//! A burst lost packets if fewer arrived of it than of at least half of the stream's bursts. (The sender does not say
//! how many packets its bursts have. The number that arrived of most is what the path carries per burst.) If none
//! arrived, the burst is a hole as a packet is.

use super::batches::Batches;
use super::bunches::Bunches;
use super::holes::Holes;
use super::sample::Sample;
use crate::roles::{Report, Stamp};
use crate::units::{Bytes, Duration, Time};
use alloc::vec::Vec;

/// Collects a flow's packets, stream by stream. It needs only the packets' stamps, and no handshake. Lost or reordered
/// packets only leave fewer samples.
pub struct Incoming {
    /// The stream whose packets are arriving.
    open: Option<u32>,
    /// The last stream that has ended.
    ended: Option<u32>,
    samples: Vec<Sample>,
    /// Room for the numbers of packets of the bursts.
    counts: Vec<u16>,
    /// The index after that of the last packet that arrived in order.
    next: u16,
    /// The index of the last packet that arrived in any order.
    last: u16,
    bunches: Bunches,
    batches: Batches,
    holes: Holes,
    begins: Begins,
}

/// Which packets count as missing at a stream's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begins {
    /// Only those after the first arrival.
    WithFirstArrival,
    /// Also those before the first arrival.
    WithFirstSent,
}

/// What arrived of a stream that has ended.
pub struct Received<'a> {
    /// Its packets, without those that arrived after later ones.
    pub samples: &'a mut [Sample],
    /// Whether they arrived in bunches.
    pub bunches: &'a Bunches,
    /// The time between the batches in which the path hands packets on; zero: it does not.
    pub batches: Duration,
    /// The packets that did not arrive.
    pub holes: &'a Holes,
    /// The index after the last packet that arrived.
    pub next: u16,
    /// How many packets a burst has; 1: the stream's units are packets.
    pub burst: u16,
}

impl Received<'_> {
    /// The bytes that the sender sends between two samples, in packets of this size.
    pub fn size_of_burst(&self, packet: Bytes) -> Bytes {
        Bytes(packet.0.saturating_mul(u64::from(self.burst)))
    }
}

impl Incoming {
    /// Expects streams of up to `longest` packets, of which none has arrived yet. Packets that arrive at most
    /// `smoothing` apart after a long gap were held back by a host or network card; zero: no packets are.
    pub fn new(longest: usize, smoothing: Duration, begins: Begins) -> Incoming {
        Incoming {
            open: None,
            ended: None,
            samples: Vec::with_capacity(longest),
            counts: Vec::with_capacity(longest),
            next: 0,
            last: 0,
            bunches: Bunches::new(smoothing),
            batches: Batches::new(smoothing),
            holes: Holes::new(longest),
            begins,
        }
    }

    /// A packet arrived. **Decided**: its stream ends with its last packet, or when a packet of a later stream arrives.
    /// When a stream ends, `analyse` is given what arrived of it and returns the available bandwidth in bits per
    /// second. The report carries this estimate to the sender. A stamp whose `len` is 0 ends the stream before it and
    /// is not analysed.
    pub fn on_arrival(
        &mut self,
        now: Time,
        stamp: &Stamp,
        mut analyse: impl FnMut(Received) -> Option<f64>,
    ) -> Option<Report> {
        let Stamp::Probe { stream, index, len, rate, sent } = *stamp else { return None };
        if self.ended.is_some_and(|ended| !is_later(stream, ended)) {
            return None;
        }
        let mut report = None;
        if let Some(open) = self.open
            && open != stream
        {
            if !is_later(stream, open) {
                return None;
            }
            report = self.end(&mut analyse);
        }
        if len == 0 {
            return report; // a stream that is not analysed
        }
        if self.open != Some(stream) {
            self.open = Some(stream);
            self.holes.clear();
            self.next = match self.begins {
                Begins::WithFirstArrival => index,
                Begins::WithFirstSent => 0,
            };
        } else if index == self.last {
            // Another packet of the same burst.
            if let Some(sample) = self.samples.last_mut()
                && sample.index == index
            {
                sample.packets = sample.packets.saturating_add(1);
            }
            return report;
        }
        self.last = index;
        self.batches.on_arrival(now, sent);
        if index > self.next {
            self.holes.on_hole(self.next, index, self.samples.len());
        } else if index < self.next {
            self.holes.on_reordered(index);
        }
        // The delay of an overtaken packet says nothing about the queue of the stream.
        if index >= self.next && self.samples.len() < self.samples.capacity() {
            self.next = index.saturating_add(1);
            self.add(Sample {
                index,
                rate: f64::from(rate),
                delay: now.0.wrapping_sub(sent.0) as i64,
                arrival: now.0 as i64,
                packets: 1,
            });
        }
        if index.saturating_add(1) == len { self.end(&mut analyse) } else { report }
    }

    fn add(&mut self, mut sample: Sample) {
        match self.samples.last() {
            Some(last) => {
                self.bunches.on_gap(Duration(sample.arrival.wrapping_sub(last.arrival) as u64));
                // From the second packet on, each rate is at least the one before. A lower one is the real rate of a
                // packet that left late.
                if self.samples.len() > 1 {
                    sample.rate = sample.rate.max(last.rate);
                } else if last.index > 0 && sample.index == last.index + 1 {
                    // The stream's first packets were lost, and the sender may have paused before this one. So it
                    // gets the rate of the packet after it.
                    self.samples[0].rate = sample.rate;
                }
            }
            None => self.bunches.reset(),
        }
        self.samples.push(sample);
    }

    /// Ends the stream whose packets are arriving.
    fn end(&mut self, analyse: &mut impl FnMut(Received) -> Option<f64>) -> Option<Report> {
        let stream = self.open.take()?;
        self.ended = Some(stream);
        let Incoming { samples, bunches, batches, holes, next, counts, .. } = self;
        let burst = burst(samples, counts);
        if burst > 1 {
            holes.count_packets(burst, samples);
        }
        let known = batches.interval();
        // The analysis may change the delays.
        batches.on_stream(samples, bunches);
        let rate = analyse(Received { samples, bunches, batches: known, holes, next: *next, burst });
        self.samples.clear();
        let rate = rate? as f32;
        // Rounded up, so that bursts are at least as far apart as batches.
        let microseconds = batches.tell().0.div_ceil(Duration::from_micros(1).0);
        Some(Report::Available { stream, rate, interval: u16::try_from(microseconds).unwrap_or(u16::MAX) })
    }
}

/// How many packets a burst of this stream has: the median of what arrived. The last burst does not count, as a stream
/// ends with the first packet of its last burst. `counts` is room for numbers.
fn burst(samples: &[Sample], counts: &mut Vec<u16>) -> u16 {
    let Some((_, before)) = samples.split_last() else { return 1 };
    if before.iter().all(|sample| sample.packets == 1) {
        return 1;
    }
    counts.clear();
    counts.extend(before.iter().map(|sample| sample.packets));
    let middle = counts.len() / 2;
    *counts.select_nth_unstable(middle).1
}

/// Whether stream `a` was begun after stream `b`; they count modulo 2^32.
fn is_later(a: u32, b: u32) -> bool {
    a.wrapping_sub(b) as i32 > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The report after packet `index` of `stream`, of four packets; of each stream, the number of its samples is
    /// reported.
    fn arrive(incoming: &mut Incoming, stream: u32, index: u16) -> Option<(u32, f32)> {
        let stamp = Stamp::Probe { stream, index, len: 4, rate: f32::from(index + 1), sent: Time(u64::from(index)) };
        let now = Time(50 + u64::from(index));
        let report = incoming.on_arrival(now, &stamp, |received| Some(received.samples.len() as f64));
        report.map(|report| match report {
            Report::Available { stream, rate, .. } => (stream, rate),
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn a_stream_ends_with_its_last_packet_or_with_a_later_stream() {
        let mut incoming = Incoming::new(90, Duration::ZERO, Begins::WithFirstArrival);
        let mut arrive = |stream, index| arrive(&mut incoming, stream, index);
        assert_eq!([arrive(7, 0), arrive(7, 1), arrive(7, 2)], [None; 3]);
        assert_eq!(arrive(7, 3), Some((7, 4.0)));
        assert_eq!(arrive(7, 3), None, "a duplicate of a stream that has ended");
        assert_eq!([arrive(8, 0), arrive(8, 1), arrive(8, 2)], [None; 3]);
        assert_eq!(arrive(9, 0), Some((8, 3.0)), "its last packet was lost");
        assert_eq!(arrive(8, 3), None, "too late");
        assert_eq!([arrive(9, 1), arrive(9, 3)], [None, Some((9, 3.0))], "packet 2 was lost");
        assert_eq!(
            [arrive(10, 1), arrive(10, 0), arrive(10, 3)],
            [None, None, Some((10, 2.0))],
            "packet 0 was overtaken"
        );
    }

    #[test]
    fn packets_lost_before_the_first_arrival_count_only_with_first_sent() {
        let first_hole = |begins| {
            let mut incoming = Incoming::new(90, Duration::ZERO, begins);
            let mut hole = None;
            for index in [2, 3] {
                let stamp = Stamp::Probe { stream: 1, index, len: 4, rate: 1.0, sent: Time::ZERO };
                incoming.on_arrival(Time::ZERO, &stamp, |received| {
                    hole = received.holes.arrived_before_first();
                    None
                });
            }
            hole
        };
        assert_eq!([Begins::WithFirstArrival, Begins::WithFirstSent].map(first_hole), [None, Some(0)]);
    }

    /// What is known at the end of a stream of five bursts, of which packets with these indices arrive: the indices of
    /// the samples, the packets in a burst, and the first hole.
    fn of_bursts(indices: &[u16]) -> (Vec<u16>, u16, Option<usize>) {
        let mut incoming = Incoming::new(90, Duration::ZERO, Begins::WithFirstArrival);
        let mut found = None;
        for (at, &index) in (0..).zip(indices) {
            let stamp = Stamp::Probe { stream: 1, index, len: 5, rate: 1.0, sent: Time(9 * u64::from(index)) };
            incoming.on_arrival(Time(100 + at), &stamp, |received| {
                let samples = received.samples.iter().map(|sample| sample.index).collect();
                found = Some((samples, received.burst, received.holes.arrived_before_first()));
                None
            });
        }
        found.unwrap()
    }

    #[test]
    fn the_first_packet_of_a_burst_stands_for_it_and_the_others_are_counted() {
        let all = |found| (vec![0, 1, 2, 3, 4], 3, found);
        assert_eq!(of_bursts(&[0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4]), all(None));
        assert_eq!(of_bursts(&[0, 0, 0, 1, 1, 1, 2, 3, 3, 3, 4]), all(Some(2)), "burst 2 lost its tail");
        let lost = of_bursts(&[0, 0, 0, 1, 1, 1, 3, 3, 3, 4]);
        assert_eq!(lost, (vec![0, 1, 3, 4], 3, Some(2)), "all of burst 2 were lost");
        assert_eq!(of_bursts(&[0, 1, 1, 2, 3, 4]), (vec![0, 1, 2, 3, 4], 1, None), "a duplicate makes no burst");
    }

    #[test]
    fn indices_up_to_the_last_one_are_taken() {
        let mut incoming = Incoming::new(90, Duration::ZERO, Begins::WithFirstSent);
        for index in [u16::MAX, u16::MAX, 0, u16::MAX - 1] {
            let stamp = Stamp::Probe { stream: 1, index, len: u16::MAX, rate: f32::NAN, sent: Time(u64::MAX) };
            incoming.on_arrival(Time(0), &stamp, |_| None);
        }
    }
}
