//! What the emulator records of the path and of its own error.

use crate::histogram::Histogram;
use control::{Bytes, Duration, Time};
use path::Counters;

/// The most samples kept. When there are more, every second one is removed, and samples are taken half as often.
const MOST_SAMPLES: usize = 50_000;

/// A number of packets and of their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Number of packets.
    pub packets: u64,
    /// The sum of their sizes on the path.
    pub bytes: Bytes,
}

impl Totals {
    /// Adds a packet of `size`.
    pub fn add(&mut self, size: u64) {
        self.packets += 1;
        self.bytes += Bytes(size);
    }
}

/// The state of the path at a time.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The time.
    pub at: Time,
    /// The counters of each direction of the links since the beginning, by [`path::LinkDirection::index`]; but the
    /// longest queue is since the last sample.
    pub hops: Vec<Counters>,
    /// What has left the path since the beginning, by direction.
    pub delivered: [Totals; 2],
}

/// The results of an emulation.
#[derive(Clone, Debug)]
pub struct Record {
    /// Number of link directions that are sampled.
    pub hops: usize,
    /// Samples at regular times and at the end.
    pub samples: Vec<Sample>,
    interval: Duration,
    /// What arrived at the path, by direction.
    pub arrived: [Totals; 2],
    /// What left the path, by direction.
    pub delivered: [Totals; 2],
    /// How far from its time each packet left: from when it was due to when the kernel had taken it, or the other way
    /// round.
    pub lateness: Histogram,
    /// Whether the system scheduled the emulator with real-time priority.
    pub realtime: bool,
    /// Processor time that the emulator used.
    pub processor: Duration,
    /// The share of the host's processor time that all programs used, 0 to 1; none if the kernel does not tell.
    pub host_share: Option<f64>,
    /// Packets that the kernel dropped because the emulator did not take them in time.
    pub missed: u64,
    /// Packets that left the path and that the kernel did not accept.
    pub unsent: u64,
    /// Datagrams of clients beyond the allowed number of clients.
    pub refused: u64,
}

impl Record {
    /// An empty record. Samples are taken about every `interval`, a millisecond or more.
    pub fn new(hops: usize, interval: Duration) -> Record {
        Record {
            hops,
            samples: Vec::new(),
            interval: interval.max(Duration::from_millis(1)),
            arrived: [Totals::default(); 2],
            delivered: [Totals::default(); 2],
            lateness: Histogram::default(),
            realtime: false,
            processor: Duration::ZERO,
            host_share: None,
            missed: 0,
            unsent: 0,
            refused: 0,
        }
    }

    /// When the next sample is due.
    pub fn next_sample(&self) -> Time {
        self.samples.last().map_or(Time::ZERO, |sample| sample.at) + self.interval
    }

    /// Adds a sample.
    pub fn sample(&mut self, at: Time, hops: Vec<Counters>) {
        self.samples.push(Sample { at, hops, delivered: self.delivered });
        if self.samples.len() > MOST_SAMPLES {
            self.thin();
        }
    }

    /// Removes every second sample, and keeps the longest queue of both.
    fn thin(&mut self) {
        self.interval += self.interval;
        let pairs = self.samples.chunks_exact(2).map(|pair| {
            let mut kept = pair[1].clone();
            for (hop, before) in kept.hops.iter_mut().zip(&pair[0].hops) {
                hop.max_queue = hop.max_queue.max(before.max_queue);
            }
            kept
        });
        self.samples = pairs.collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_record_is_thinned_and_keeps_all_drops_and_the_longest_queue() {
        let mut record = Record::new(1, Duration::from_millis(50));
        for i in 1..=400_000u64 {
            let max_queue = if i == 1000 { 77 } else { 3 };
            record.sample(record.next_sample(), vec![Counters { dropped: i, max_queue, ..Counters::default() }]);
        }
        assert!(record.samples.len() <= MOST_SAMPLES);
        assert_eq!(record.samples.iter().map(|sample| sample.hops[0].max_queue).max(), Some(77));
        assert_eq!(record.samples.last().unwrap().hops[0].dropped / 100, 4000);
        assert!(record.samples.is_sorted_by_key(|sample| sample.at));
    }
}
