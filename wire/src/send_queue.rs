//! The datagrams of one connection that quinn has built and that wait for their time, and quinn's driver, which waits
//! for room.

use crate::datagram::{Addressing, Datagram};
use control::{Bytes, Duration, Time};
use quinn::udp::Transmit;
use std::collections::VecDeque;
use std::ops::RangeInclusive;
use std::task::{Context, Waker};

/// The queue has room for as many datagrams as leave within this time, or for two bursts, whichever is more, within
/// [`LENGTH`].
const AHEAD: Duration = Duration::from_millis(1);
/// Bounds of the queue's length, in datagrams.
const LENGTH: RangeInclusive<u64> = 2..=1024;

/// The latest departure: how many datagrams left together, and the time since the departure before.
#[derive(Clone, Copy, Default)]
pub(crate) struct Pace {
    pub(crate) burst: u64,
    pub(crate) since: Duration,
}

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

    /// Whether there is room for one more, where datagrams leave at this pace.
    pub(crate) fn has_room(&self, pace: Pace) -> bool {
        self.len() < room(pace)
    }

    /// quinn's driver waits for room.
    pub(crate) fn wait_for_room(&mut self, context: &Context<'_>) {
        self.has_more = true;
        self.driver = Driver::Waiting(context.waker().clone());
    }

    /// Takes copies of the packets that quinn built.
    pub(crate) fn push(&mut self, transmit: &Transmit<'_>, sent: Option<Time>, received: u64) {
        let addressing = Addressing { destination: transmit.destination, source: transmit.src_ip };
        for packet in transmit.contents.chunks(transmit.segment_size.unwrap_or(transmit.contents.len()).max(1)) {
            let datagram = Datagram::new(self.spare.pop().unwrap_or_default(), packet, addressing, sent, received);
            self.bytes += datagram.size();
            self.waiting.push_back(datagram);
        }
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
    pub(crate) fn wake_driver(&mut self, pace: Pace) {
        if self.len() <= room(pace) / 2
            && let Driver::Waiting(waker) = &self.driver
        {
            waker.wake_by_ref();
            self.driver = Driver::Woken;
        }
    }
}

/// How many datagrams may wait where they leave at this pace.
fn room(Pace { burst, since }: Pace) -> usize {
    let leave_in_time = AHEAD.0.saturating_mul(burst).checked_div(since.0).unwrap_or(0);
    leave_in_time.max(2 * burst).clamp(*LENGTH.start(), *LENGTH.end()) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_queue_has_room_for_what_leaves_in_a_millisecond_and_for_two_bursts() {
        let at = |burst, us| Pace { burst, since: Duration::from_micros(us) };
        assert_eq!(room(Pace::default()), 2, "before the first departure");
        assert_eq!([at(1, 10), at(1, 100), at(1, 500), at(1, 10_000)].map(room), [100, 10, 2, 2]);
        assert_eq!([at(20, 200), at(20, 4000), at(1, 0), at(5000, 1)].map(room), [100, 40, 2, 1024]);
    }
}
