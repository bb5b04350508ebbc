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
    #[inline]
    pub fn has_room(self, packets: u64, bytes: Bytes, size: Bytes) -> bool {
        match self {
            Buffer::Packets(most) => packets < most,
            Buffer::Bytes(most) => bytes + size <= most,
        }
    }
}
