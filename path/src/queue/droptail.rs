//! Drop-tail, the queue that most routers have: first in, first out, and packets that find the buffer full are dropped.

use super::buffer::Buffer;
use super::discipline::{Drops, Mistake, Queue, Queueing, Site};
use crate::Packet;
use crate::ring::Ring;
use control::{Bytes, Duration, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Drop-tail has no parameters but the buffer's size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Parameters {}

impl Queueing for Parameters {
    fn check(&self, _: &Site) -> Vec<Mistake> {
        Vec::new()
    }
    fn queue<P: Packet>(&self, site: &Site, _: u64) -> Box<dyn Queue<P>> {
        Box::new(DropTail::new(site.buffer))
    }
}

/// A first-in, first-out queue with a limit.
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

    /// Whether a packet of `size` would fit.
    #[inline(always)]
    pub fn has_room(&self, size: Bytes) -> bool {
        self.buffer.has_room(self.len(), self.bytes, size)
    }

    /// Takes in the packet of `size` that `make` makes. Returns false, without making it, if the buffer is full.
    #[inline(always)]
    pub fn push_with(&mut self, size: Bytes, make: impl FnOnce() -> P) -> bool {
        let fits = self.has_room(size);
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

    /// Removes the packet that has waited longest, if there is one.
    pub fn pop(&mut self) {
        if let Some(packet) = self.waiting.front() {
            self.bytes -= packet.size();
            self.waiting.pop();
        }
    }

    /// Removes and returns the packet that has waited longest.
    pub fn take(&mut self) -> Option<P> {
        let first = self.first().copied();
        self.pop();
        first
    }

    /// Number of packets that wait.
    pub fn len(&self) -> u64 {
        self.waiting.len() as u64
    }

    /// Whether no packet waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Bytes that wait.
    pub fn bytes(&self) -> Bytes {
        self.bytes
    }
}

impl<P: Packet> Queue<P> for DropTail<P> {
    fn enqueue(&mut self, _: Time, packet: &P, _: Duration, drops: &mut Drops<P>) {
        if !self.push_with(packet.size(), || *packet) {
            drops.drop_full(packet);
        }
    }
    fn dequeue(&mut self, _: Time, _: &mut Drops<P>) -> Option<P> {
        self.take()
    }
    fn len(&self) -> u64 {
        DropTail::len(self)
    }
    fn bytes(&self) -> Bytes {
        self.bytes
    }
}
