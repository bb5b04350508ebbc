//! The queue that most routers have: first in, first out, and what does not fit is dropped.

use crate::Packet;
use crate::ring::Ring;
use control::Bytes;

/// How much a queue holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buffer {
    /// This many packets, of any size.
    Packets(u64),
    /// This many bytes.
    Bytes(Bytes),
    /// Everything.
    Unlimited,
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
        let fits = match self.buffer {
            Buffer::Packets(most) => (self.waiting.len() as u64) < most,
            Buffer::Bytes(most) => self.bytes + size <= most,
            Buffer::Unlimited => true,
        };
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
