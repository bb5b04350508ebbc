//! Queues: which packets wait at a link, which is transmitted next, and which are dropped. The [registry] has all disciplines.

pub mod codel;
pub mod droptail;
pub mod fq_codel;
pub mod red;
pub mod registry;

pub use droptail::{Buffer, DropTail};
pub use registry::{Mistake, QueueDiscipline, QueueSetup, Queueing, Site};

use crate::Packet;
use control::{Bytes, Duration, Time};
use std::fmt::Debug;

/// A queue in front of a link's transmitter. It is told the time, which never decreases from call to call.
pub trait Queue<P>: Debug + Send {
    /// `packet` arrives. It waits or is given to `drops`, and packets that already wait may be dropped for it. Each
    /// packet that is dropped is given to `drops` once. The transmitter has been idle for `idle`, which is zero whenever
    /// packets wait.
    fn enqueue(&mut self, now: Time, packet: &P, idle: Duration, drops: &mut Drops<P>);

    /// The transmitter takes the next packet; none if the queue is empty or all its packets went to `drops` instead.
    fn dequeue(&mut self, now: Time, drops: &mut Drops<P>) -> Option<P>;

    /// Number of packets that wait.
    fn len(&self) -> u64;

    /// Bytes that wait.
    fn bytes(&self) -> Bytes;

    /// Whether no packet waits.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The packets that a queue has dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drops<P> {
    /// Packets dropped because the buffer was full: those that arrived, or others in their place.
    pub full: u64,
    /// Packets that the discipline dropped although the buffer had room for them.
    pub early: u64,
    /// The dropped packets themselves, for callers that take them out; none if they are not kept.
    pub kept: Option<Vec<P>>,
}

impl<P> Default for Drops<P> {
    fn default() -> Drops<P> {
        Drops { full: 0, early: 0, kept: None }
    }
}

impl<P: Copy> Drops<P> {
    /// Drops `packet` because the buffer is full. It is the packet that arrives, or one that waits and makes room.
    pub fn drop_full(&mut self, packet: &P) {
        self.full += 1;
        self.keep(packet);
    }

    /// Drops `packet` because the discipline decided so, although the buffer has room.
    pub fn drop_early(&mut self, packet: &P) {
        self.early += 1;
        self.keep(packet);
    }

    fn keep(&mut self, packet: &P) {
        if let Some(kept) = &mut self.kept {
            kept.push(*packet);
        }
    }
}

/// The queue of a link: drop-tail, which most links have, without a call through a table of functions; or any other.
#[derive(Debug)]
pub(crate) enum LinkQueue<P> {
    DropTail(DropTail<P>),
    Other(Box<dyn Queue<P>>),
}

impl<P: Packet> LinkQueue<P> {
    pub fn enqueue(&mut self, now: Time, packet: &P, idle: Duration, drops: &mut Drops<P>) {
        match self {
            LinkQueue::DropTail(queue) => queue.enqueue(now, packet, idle, drops),
            LinkQueue::Other(queue) => queue.enqueue(now, packet, idle, drops),
        }
    }

    pub fn dequeue(&mut self, now: Time, drops: &mut Drops<P>) -> Option<P> {
        match self {
            LinkQueue::DropTail(queue) => queue.dequeue(now, drops),
            LinkQueue::Other(queue) => queue.dequeue(now, drops),
        }
    }

    pub fn len(&self) -> u64 {
        match self {
            LinkQueue::DropTail(queue) => queue.len(),
            LinkQueue::Other(queue) => queue.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn bytes(&self) -> Bytes {
        match self {
            LinkQueue::DropTail(queue) => queue.bytes(),
            LinkQueue::Other(queue) => queue.bytes(),
        }
    }
}
