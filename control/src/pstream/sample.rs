//! What a receiver knows about a packet of a stream, or of a burst where the sender sends bursts
//! ([`bursts`](super::bursts)).

use crate::units::{Bytes, Duration};

/// One packet of a stream that arrived, or one burst: then all times are those of the first of its packets that
/// arrived.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Its index in the stream, from 0.
    pub index: u16,
    /// Its rate, bits per second. From the second packet on, each rate is at least the one before. If the packets
    /// before the first sample were lost, the first sample has the rate of the second.
    pub rate: f64,
    /// Its one-way delay plus a constant that is the same for all packets of the stream, picoseconds.
    pub delay: i64,
    /// When it arrived, picoseconds.
    pub arrival: i64,
    /// How many of its packets arrived before the packet of another burst did.
    pub packets: u16,
}

impl Sample {
    /// When it was sent by the sender's clock, plus a constant that is the same for all packets of the stream,
    /// picoseconds.
    pub fn sent(&self) -> i64 {
        self.arrival.wrapping_sub(self.delay)
    }
}

/// The highest rate at which packets arrived from one sample to the next, bits per second, where `size` of a sample
/// counts.
pub fn highest_arrival(samples: &[Sample], size: impl Fn(&Sample) -> Bytes) -> f64 {
    let rate = |pair: &[Sample]| {
        let gap = Duration(pair[1].arrival.wrapping_sub(pair[0].arrival).max(1) as u64);
        size(&pair[0]).over(gap).as_bps()
    };
    samples.windows(2).map(rate).fold(0.0, f64::max)
}
