//! What a receiver knows of a packet of a stream.

/// One packet of a stream that arrived.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Its index in the stream, from 0.
    pub index: u16,
    /// Its rate, or that of the packet before it if that is higher; bits per second.
    pub rate: f64,
    /// Its one-way delay plus a constant that is the same for all packets of the stream, picoseconds.
    pub delay: i64,
    /// When it arrived, picoseconds.
    pub arrival: i64,
}

impl Sample {
    /// When it was sent by the sender's clock, plus a constant that is the same for all packets of the stream,
    /// picoseconds.
    pub fn sent(&self) -> i64 {
        self.arrival.wrapping_sub(self.delay)
    }
}
