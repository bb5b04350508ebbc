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

impl<P: Packet + Copy> DropTail<P> {
    /// An empty queue.
    pub fn new(buffer: Buffer) -> DropTail<P> {
        DropTail { waiting: Ring::new(), bytes: Bytes(0), buffer }
    }

    /// Takes `packet` in, or says false and drops it.
    pub fn push(&mut self, packet: P) -> bool {
        let fits = match self.buffer {
            Buffer::Packets(most) => (self.waiting.len() as u64) < most,
            Buffer::Bytes(most) => self.bytes + packet.size() <= most,
            Buffer::Unlimited => true,
        };
        if fits {
            self.bytes += packet.size();
            self.waiting.push(packet);
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
