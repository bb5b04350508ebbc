//! The queue of a link, whichever discipline it has.

use super::discipline::{Drops, Queue};
use super::droptail::DropTail;
use crate::Packet;
use control::{Bytes, Duration, Time};

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
