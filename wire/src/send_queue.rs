//! The datagrams of one connection that quinn has built and that wait for their time, and quinn's driver, which waits
//! for room.

use crate::datagram::Datagram;
use control::{Bytes, Duration, Time};
use quinn::udp::Transmit;
use std::collections::VecDeque;
use std::ops::RangeInclusive;
use std::task::{Context, Waker};

/// The queue has room for as many datagrams as leave within this time, within [`LENGTH`].
const AHEAD: Duration = Duration::from_millis(1);
/// Bounds of the queue's length, in datagrams.
const LENGTH: RangeInclusive<u64> = 2..=32;

/// Datagrams that wait, first in, first out.
#[derive(Default)]
pub(crate) struct SendQueue {
    waiting: VecDeque<Datagram>,
    /// Bytes of the QUIC packets that wait.
    bytes: Bytes,
    /// Buffers to use again.
    spare: Vec<Vec<u8>>,
    driver: Driver,
    /// Whether quinn has more than the queue has room for, or had when the queue ran empty last.
    has_more: bool,
}

/// What quinn's driver of the connection is doing, as far as the queue knows.
#[derive(Default)]
enum Driver {
    /// It builds packets as it likes.
    #[default]
    Building,
    /// It has a packet, for which there was no room, and is to be woken.
    Waiting(Waker),
    /// It was woken, and has not brought its packet yet.
    Woken,
}

impl SendQueue {
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Bytes of the QUIC packets that wait here.
    pub(crate) fn bytes(&self) -> Bytes {
        self.bytes
    }

    /// Bytes that wait here and in quinn, as far as is known.
    pub(crate) fn backlog(&self) -> Bytes {
        if self.has_more { Bytes(u64::MAX) } else { self.bytes }
    }

    pub(crate) fn first(&self) -> Option<&Datagram> {
        self.waiting.front()
    }

    /// Whether there is room for one more, where `gap` passes between datagrams (none if that is not known yet).
    pub(crate) fn has_room(&self, gap: Option<Duration>) -> bool {
        self.len() < room(gap)
    }

    /// quinn's driver waits for room.
    pub(crate) fn wait_for_room(&mut self, context: &Context<'_>) {
        self.has_more = true;
        self.driver = Driver::Waiting(context.waker().clone());
    }

    /// Takes a copy of a packet that quinn built.
    pub(crate) fn push(&mut self, transmit: &Transmit<'_>, sent: Option<Time>, received: u64) {
        let datagram = Datagram::new(self.spare.pop().unwrap_or_default(), transmit, sent, received);
        self.bytes += datagram.size();
        self.waiting.push_back(datagram);
        if matches!(self.driver, Driver::Woken) {
            self.driver = Driver::Building; // what it has besides is not known yet
        }
    }

    pub(crate) fn pop(&mut self) -> Option<Datagram> {
        let datagram = self.waiting.pop_front()?;
        self.bytes -= datagram.size();
        Some(datagram)
    }

    /// Takes back the buffer of a datagram that has left.
    pub(crate) fn recycle(&mut self, datagram: Datagram) {
        if self.spare.len() < *LENGTH.end() as usize {
            self.spare.push(datagram.into_buffer());
        }
    }

    /// The queue is empty when the next departure is planned: quinn has more only if its driver waits, or was woken to
    /// bring it.
    pub(crate) fn on_empty(&mut self) {
        self.has_more &= !matches!(self.driver, Driver::Building);
    }

    /// Wakes quinn's driver if half of the room is free.
    pub(crate) fn wake_driver(&mut self, gap: Option<Duration>) {
        if self.len() <= room(gap) / 2
            && let Driver::Waiting(waker) = &self.driver
        {
            waker.wake_by_ref();
            self.driver = Driver::Woken;
        }
    }
}

/// How many datagrams may wait, where `gap` passes between them.
fn room(gap: Option<Duration>) -> usize {
    let leave_in_time = AHEAD.0.checked_div(gap.unwrap_or(AHEAD).0).unwrap_or(u64::MAX);
    leave_in_time.clamp(*LENGTH.start(), *LENGTH.end()) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_queue_has_room_for_what_leaves_in_a_millisecond() {
        let us = |us| Some(Duration::from_micros(us));
        assert_eq!([None, us(0), us(10), us(100), us(500), us(10_000)].map(room), [2, 32, 32, 10, 2, 2]);
    }
}
