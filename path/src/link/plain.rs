//! What waits in a drop-tail queue in front of a transmitter of constant rate. All that will happen to a packet is
//! known when it arrives: when it will be transmitted if it fits in, and when it leaves the far end. So the queue keeps
//! no packets, but when the transmission of each begins, because the buffer has room for another one then.

use super::transmitter::Transmitter;
use crate::prefetch;
use crate::ring::Ring;
use crate::{Buffer, Packet};
use control::{Bytes, Time};

/// See the [module](self).
pub struct Waiting {
    /// When the transmission of each packet that waits begins, and its size in bytes.
    packets: Ring<(Time, u32)>,
    bytes: Bytes,
    buffer: Buffer,
}

/// When a packet leaves the queue, what is kept of the packet so many places behind it is prefetched. With thousands of
/// flows, so much other memory is read between two packets that the processor does not read the ring ahead by itself.
const LATER: usize = 8;

impl Waiting {
    /// Nothing waits in `buffer`.
    pub fn new(buffer: Buffer) -> Waiting {
        Waiting { packets: Ring::new(), bytes: Bytes(0), buffer }
    }

    /// How much the queue holds.
    pub fn buffer(&self) -> Buffer {
        self.buffer
    }

    /// Number of packets that wait.
    pub fn len(&self) -> u64 {
        self.packets.len() as u64
    }

    /// A packet of `size` arrives. Returns when it leaves the far end; none if the buffer is full.
    #[inline(always)]
    pub fn admit<P: Packet>(&mut self, now: Time, size: Bytes, transmitter: &mut Transmitter<P>) -> Option<Time> {
        self.advance(now, transmitter);
        let start = transmitter.free_at.max(now);
        if start > now {
            transmitter.account(now, self.len());
            if !self.buffer.has_room(self.len(), self.bytes, size) {
                transmitter.drops.full += 1;
                return None;
            }
            *self.packets.push_place() = (start, size.0 as u32);
            self.bytes += size;
            transmitter.counters.max_queue = transmitter.counters.max_queue.max(self.len());
        }
        let (end, exit) = transmitter.times(start, size);
        transmitter.counters.busy += end.since(start);
        transmitter.free_at = end;
        Some(exit)
    }

    /// The packets whose transmission has begun by `now` no longer wait.
    #[inline(always)]
    pub fn advance<P: Packet>(&mut self, now: Time, transmitter: &mut Transmitter<P>) {
        while let Some(&(start, size)) = self.packets.front()
            && start <= now
        {
            transmitter.account(start, self.len());
            self.packets.pop();
            if let Some(later) = self.packets.get(LATER) {
                prefetch::lines(later);
            }
            self.bytes -= Bytes(u64::from(size));
        }
    }
}
