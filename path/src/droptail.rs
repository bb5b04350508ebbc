//! The queue that most routers have: first in, first out, and what does not fit is dropped.

use crate::Packet;
use crate::ring::Ring;
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

/// A FIFO with a limit.
#[derive(Clone, Debug)]
pub struct DropTail<P> {
    waiting: Ring<P>,
    bytes: Bytes,
    buffer: Buffer,
}

impl<P: Packet> DropTail<P> {
    /// An empty queue.
    pub fn new(buffer: Buffer) -> DropTail<P> {
        DropTail { waiting: Ring::new(), bytes: Bytes(0), buffer }
    }

    /// Takes in the packet of `size` that `make` makes, or says false and drops it.
    #[inline(always)]
    pub fn push_with(&mut self, size: Bytes, make: impl FnOnce() -> P) -> bool {
        let fits = self.buffer.has_room(self.len(), self.bytes, size);
        if fits {
            self.bytes += size;
            *self.waiting.push_place() = make();
        }
        fits
    }

    /// The packet that has waited longest.
    pub fn first(&self) -> Option<&P> {
        self.waiting.front()
    }

    /// That packet leaves.
    pub fn pop(&mut self) {
        if let Some(packet) = self.waiting.front() {
            self.bytes -= packet.size();
            self.waiting.pop();
        }
    }

    /// The packet that has waited longest leaves, if there is one.
    pub fn take(&mut self) -> Option<P> {
        let first = self.first().copied();
        self.pop();
        first
    }

    /// Packets waiting.
    pub fn len(&self) -> u64 {
        self.waiting.len() as u64
    }

    /// Whether none is waiting.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Bytes waiting.
    pub fn bytes(&self) -> Bytes {
        self.bytes
    }
}
