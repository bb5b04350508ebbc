//! The packets of a flow's streams as they arrive.

use super::bunches::Bunches;
use super::gaps::Gaps;
use super::sample::Sample;
use crate::roles::{Report, Stamp};
use crate::units::{Duration, Time};
use alloc::vec::Vec;

/// Collects a flow's packets, stream by stream. It needs nothing but the stamps: no handshake, and lost or reordered
/// packets only leave fewer samples.
pub struct Incoming {
    /// The stream whose packets are arriving.
    open: Option<u32>,
    /// The last stream that has ended.
    ended: Option<u32>,
    samples: Vec<Sample>,
    /// The index of the packet that is to arrive next.
    next: u16,
    bunches: Bunches,
    gaps: Gaps,
    begins: Begins,
}

/// The packet from which on missing packets of a stream count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begins {
    /// The first packet that arrives.
    WithFirstArrival,
    /// The first packet that was sent.
    WithFirstSent,
}

/// What arrived of a stream that has ended.
pub struct Received<'a> {
    /// Its packets, without those that arrived after later ones.
    pub samples: &'a mut [Sample],
    /// Whether they arrived in bunches.
    pub bunches: &'a Bunches,
    /// The packets that did not arrive.
    pub gaps: &'a Gaps,
    /// The index after the last packet that arrived.
    pub next: u16,
}

impl Incoming {
    /// Nothing has arrived of streams of up to `longest` packets. Packets that arrive no more than `smoothing` apart
    /// after a long gap were held back by a host or card; zero: none are.
    pub fn new(longest: usize, smoothing: Duration, begins: Begins) -> Incoming {
        Incoming {
            open: None,
            ended: None,
            samples: Vec::with_capacity(longest),
            next: 0,
            bunches: Bunches::new(smoothing),
            gaps: Gaps::new(longest),
            begins,
        }
    }

    /// A packet arrived. **Decided**: its stream ends with its last packet, or when one of a later stream arrives.
    /// `analyse` is given what arrived of a stream that ends so, and returns the bandwidth available to it in bits per
    /// second; the report tells the sender of that.
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
            return report; // not a probe
        }
        if self.open != Some(stream) {
            self.open = Some(stream);
            self.gaps.clear();
            self.next = match self.begins {
                Begins::WithFirstArrival => index,
                Begins::WithFirstSent => 0,
            };
        }
        if index > self.next {
            self.gaps.on_gap(self.next, index, self.samples.len());
        } else if index < self.next {
            self.gaps.on_reordered(index);
        }
        // A packet that was overtaken shows nothing of the stream's queue.
        if index >= self.next && self.samples.len() < self.samples.capacity() {
            self.next = index.saturating_add(1);
            self.add(Sample {
                index,
                rate: f64::from(rate),
                delay: now.0.wrapping_sub(sent.0) as i64,
                arrival: now.0 as i64,
            });
        }
        if index + 1 == len { self.end(&mut analyse) } else { report }
    }

    fn add(&mut self, mut sample: Sample) {
        match self.samples.last() {
            Some(last) => {
                self.bunches.on_gap(Duration(sample.arrival.wrapping_sub(last.arrival) as u64));
                // From the second packet on rates rise; one that does not is the rate of a packet that left late.
                if self.samples.len() > 1 {
                    sample.rate = sample.rate.max(last.rate);
                } else if last.index > 0 && sample.index == last.index + 1 {
                    // The packet before the first one never arrived: the gap between them may have been a pause.
                    self.samples[0].rate = sample.rate;
                }
            }
            None => self.bunches.reset(),
        }
        self.samples.push(sample);
    }

    /// The stream that is open ends.
    fn end(&mut self, analyse: &mut impl FnMut(Received) -> Option<f64>) -> Option<Report> {
        let stream = self.open.take()?;
        self.ended = Some(stream);
        let Incoming { samples, bunches, gaps, next, .. } = self;
        let rate = analyse(Received { samples, bunches, gaps, next: *next });
        self.samples.clear();
        Some(Report::Available { stream, rate: rate? as f32 })
    }
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
            Report::Available { stream, rate } => (stream, rate),
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
    fn packets_lost_before_the_first_arrival_count_if_they_are_to() {
        let first_gap = |begins| {
            let mut incoming = Incoming::new(90, Duration::ZERO, begins);
            let mut gap = None;
            for index in [2, 3] {
                let stamp = Stamp::Probe { stream: 1, index, len: 4, rate: 1.0, sent: Time::ZERO };
                incoming.on_arrival(Time::ZERO, &stamp, |received| {
                    gap = received.gaps.arrived_before_first();
                    None
                });
            }
            gap
        };
        assert_eq!([Begins::WithFirstArrival, Begins::WithFirstSent].map(first_gap), [None, Some(0)]);
    }
}
