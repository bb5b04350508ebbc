//! The packets of a flow's streams as they arrive.

use super::bunches::Bunches;
use super::holes::Holes;
use super::sample::Sample;
use crate::roles::{Report, Stamp};
use crate::units::{Duration, Time};
use alloc::vec::Vec;

/// Collects a flow's packets, stream by stream. It needs only the packets' stamps, and no handshake. Lost or reordered
/// packets only leave fewer samples.
pub struct Incoming {
    /// The stream whose packets are arriving.
    open: Option<u32>,
    /// The last stream that has ended.
    ended: Option<u32>,
    samples: Vec<Sample>,
    /// The index after that of the last packet that arrived in order.
    next: u16,
    bunches: Bunches,
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
    /// The packets that did not arrive.
    pub holes: &'a Holes,
    /// The index after the last packet that arrived.
    pub next: u16,
}

impl Incoming {
    /// Expects streams of up to `longest` packets, of which none has arrived yet. Packets that arrive at most
    /// `smoothing` apart after a long gap were held back by a host or network card; zero: no packets are.
    pub fn new(longest: usize, smoothing: Duration, begins: Begins) -> Incoming {
        Incoming {
            open: None,
            ended: None,
            samples: Vec::with_capacity(longest),
            next: 0,
            bunches: Bunches::new(smoothing),
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
        }
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
            });
        }
        if index + 1 == len { self.end(&mut analyse) } else { report }
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
        let Incoming { samples, bunches, holes, next, .. } = self;
        let rate = analyse(Received { samples, bunches, holes, next: *next });
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
}
