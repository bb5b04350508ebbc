//! What lies between hosts: links with a capacity, a delay, a queue and errors, and routers that take part.
//!
//! What lives here: everything that a packet meets from one host to the next, as state machines that are told the time. What
//! does not: I/O, clocks, hosts, and any knowledge of which simulator or emulator drives them. A [`Link`] is generic over
//! what it carries, a small value in the simulator or a handle to a real datagram in real time.
//!
//! Rules of the room: no allocation per packet, no work proportional to a queue's length per packet, and randomness only
//! from a seed that is passed in.

pub mod capacity;
pub mod errors;
pub mod link;
pub mod queue;
pub mod ring;
pub mod setup;
#[cfg(test)]
mod testing;
pub mod topology;

pub use capacity::{Change, Trace};
pub use errors::{Fate, GilbertElliott, Impairments, PacketErrors};
pub use link::{Counters, Link};
pub use queue::{Buffer, DropTail, QueueSetup};
pub use setup::{Errors, LinkSetup, Reorder, RouterSetup};
pub use topology::{HostPair, LinkDirection, Route, Topology};

use control::{Bytes, Stamp};
use std::fmt::Debug;

/// What a link must know of what it carries: a small value, copied from place to place.
pub trait Packet: Copy + Debug + Default + Send + 'static {
    /// Size on the wire.
    fn size(&self) -> Bytes;

    /// Whose it is: packets of the same number are of the same flow, for queues that tell flows apart.
    fn flow(&self) -> u64;

    /// A link has begun to transmit it: from here on, it is on the next hop of its route.
    fn pass_hop(&mut self);

    /// The stamp, for routers to read and rewrite; none if the packet has none (an acknowledgment).
    fn stamp(&mut self) -> Option<&mut Stamp>;
}
