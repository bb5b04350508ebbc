//! The size of a buffer.

use control::Bytes;

/// How much a queue holds, without the packet in transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buffer {
    /// This many packets, of any size.
    Packets(u64),
    /// This many bytes.
    Bytes(Bytes),
}

impl Buffer {
    /// A buffer that is never full.
    pub const UNLIMITED: Buffer = Buffer::Packets(u64::MAX);

    /// Whether a packet of `size` fits in when `packets` packets of `bytes` bytes in total are waiting.
    ///
    /// In a buffer in bytes, one arrival may need the room of several smaller packets, and a packet larger than the
    /// whole buffer does not fit even when nothing waits. So a discipline that drops waiting packets for an arrival
    /// repeats this until the arrival fits or nothing waits; in the latter case it drops the arrival if that still does
    /// not fit.
    #[inline]
    pub fn has_room(self, packets: u64, bytes: Bytes, size: Bytes) -> bool {
        match self {
            Buffer::Packets(most) => packets < most,
            Buffer::Bytes(most) => bytes + size <= most,
        }
    }
}
