//! The queue disciplines that a link can have, behind one face: who waits, who goes next, and who is dropped.

use crate::codel::CoDel;
use crate::fq_codel::FqCoDel;
use crate::red::Red;
use crate::{Buffer, DropTail, Packet};
use crate::{codel, fq_codel, red};
use control::{Bytes, Duration, Time};

/// Which discipline, with its parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Discipline {
    /// First in, first out; what finds the buffer full is dropped.
    #[default]
    DropTail,
    /// Random early detection, perhaps adaptive.
    Red(red::Parameters),
    /// Controlled delay.
    CoDel(codel::Parameters),
    /// Controlled delay for each of many queues that take turns.
    FqCoDel(fq_codel::Parameters),
}

/// What a queue has dropped so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drops<P> {
    /// Packets dropped because the buffer was full.
    pub full: u64,
    /// Packets dropped because the discipline decided to, before it was.
    pub early: u64,
    /// Those that nobody has taken back yet, if somebody wants to.
    pub kept: Option<Vec<P>>,
}

impl<P> Default for Drops<P> {
    fn default() -> Drops<P> {
        Drops { full: 0, early: 0, kept: None }
    }
}

impl<P: Copy> Drops<P> {
    /// The buffer is full: `packet` is dropped.
    pub fn drop_full(&mut self, packet: &P) {
        self.full += 1;
        self.keep(packet);
    }

    /// The discipline drops `packet`.
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

/// A queue of one of the disciplines. It must be told the time in its order.
#[derive(Debug)]
pub enum Queue<P> {
    /// See [`DropTail`].
    DropTail(DropTail<P>),
    /// See [`Red`].
    Red(Box<Red<P>>),
    /// See [`CoDel`].
    CoDel(Box<CoDel<P>>),
    /// See [`FqCoDel`].
    FqCoDel(Box<FqCoDel<P>>),
}

impl<P: Packet> Queue<P> {
    /// An empty queue; what is random in it follows from `seed`.
    pub fn new(discipline: &Discipline, buffer: Buffer, seed: u64) -> Queue<P> {
        match *discipline {
            Discipline::DropTail => Queue::DropTail(DropTail::new(buffer)),
            Discipline::Red(parameters) => Queue::Red(Box::new(Red::new(parameters, buffer, seed))),
            Discipline::CoDel(parameters) => Queue::CoDel(Box::new(CoDel::new(parameters, buffer))),
            Discipline::FqCoDel(parameters) => Queue::FqCoDel(Box::new(FqCoDel::new(parameters, buffer, seed))),
        }
    }

    /// `packet` arrives. `idle` is how long the transmitter has had nothing to do; not zero only if nobody waits.
    pub fn enqueue(&mut self, now: Time, packet: &P, idle: Duration, drops: &mut Drops<P>) {
        match self {
            Queue::DropTail(queue) => {
                if !queue.push_with(packet.size(), || *packet) {
                    drops.drop_full(packet);
                }
            }
            Queue::Red(queue) => queue.enqueue(now, packet, idle, drops),
            Queue::CoDel(queue) => queue.enqueue(now, packet, drops),
            Queue::FqCoDel(queue) => queue.enqueue(now, packet, drops),
        }
    }

    /// The packet to transmit next leaves the queue; some only if [`Queue::is_empty`] says no.
    pub fn dequeue(&mut self, now: Time, drops: &mut Drops<P>) -> Option<P> {
        match self {
            Queue::DropTail(queue) => queue.take(),
            Queue::Red(queue) => queue.fifo.take(),
            Queue::CoDel(queue) => queue.dequeue(now, drops),
            Queue::FqCoDel(queue) => queue.dequeue(now, drops),
        }
    }

    /// Packets waiting.
    pub fn len(&self) -> u64 {
        match self {
            Queue::DropTail(queue) => queue.len(),
            Queue::Red(queue) => queue.fifo.len(),
            Queue::CoDel(queue) => queue.fifo.len(),
            Queue::FqCoDel(queue) => queue.len(),
        }
    }

    /// Whether none is waiting.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes waiting.
    pub fn bytes(&self) -> Bytes {
        match self {
            Queue::DropTail(queue) => queue.bytes(),
            Queue::Red(queue) => queue.fifo.bytes(),
            Queue::CoDel(queue) => queue.fifo.bytes(),
            Queue::FqCoDel(queue) => queue.bytes(),
        }
    }
}
