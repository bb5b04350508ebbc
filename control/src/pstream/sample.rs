//! What a receiver knows about a packet of a stream, or of a burst where the sender sends bursts
//! ([`bursts`](super::bursts)).

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
