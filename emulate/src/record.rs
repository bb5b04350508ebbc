//! What the emulator saw of the path, and of itself.

use crate::histogram::Histogram;
use control::{Bytes, Duration, Time};
use path::Counters;

/// More samples than this are thinned to half, and taken half as often from then on.
const MOST_SAMPLES: usize = 50_000;

/// Packets and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// How many.
    pub packets: u64,
    /// Their sizes on the path.
    pub bytes: Bytes,
}

impl Totals {
    /// Adds a packet of `size`.
    pub fn add(&mut self, size: u64) {
        self.packets += 1;
        self.bytes += Bytes(size);
    }
}

/// The path at a moment.
#[derive(Clone, Debug)]
pub struct Sample {
    /// When.
    pub at: Time,
    /// Of each hop of the path, since the beginning, but the longest queue since the sample before.
    pub hops: Vec<Counters>,
    /// What has left the path, by direction, since the beginning.
    pub delivered: [Totals; 2],
}

/// Everything that an emulation yields.
#[derive(Clone, Debug)]
pub struct Record {
    /// How many hops the path has.
    pub hops: usize,
    /// At regular times, and at the end.
    pub samples: Vec<Sample>,
    interval: Duration,
    /// What came to the path.
    pub arrived: [Totals; 2],
    /// What left it.
    pub delivered: [Totals; 2],
    /// How late each packet left: from when it was due to when the kernel had taken it.
    pub lateness: Histogram,
    /// Whether the system scheduled the emulator before everything else.
    pub realtime: bool,
    /// Packets that the kernel dropped before the emulator took them: it was not fast enough.
    pub missed: u64,
    /// Packets that the kernel did not take when they left the path.
    pub unsent: u64,
    /// Datagrams of clients that there was no room for.
    pub refused: u64,
}

impl Record {
    /// Nothing so far; samples are taken about every `interval`.
    pub fn new(hops: usize, interval: Duration) -> Record {
        Record {
            hops,
            samples: Vec::new(),
            interval: interval.max(Duration::from_millis(1)),
            arrived: [Totals::default(); 2],
            delivered: [Totals::default(); 2],
            lateness: Histogram::default(),
            realtime: false,
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

    /// Every second sample goes; totals do not mind.
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
    fn a_long_record_is_thinned_and_loses_no_drop_and_no_longest_queue() {
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
