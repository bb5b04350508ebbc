//! What lies between hosts: links with a capacity, a delay, a queue and transmission errors, routers, and the
//! [topology] of links and routes.
//!
//! What lives here: everything that a packet meets between two hosts, as state machines that are told the time: [link]s
//! and other [lanes], [queue] disciplines, [capacity] over time and [impairments]; their descriptions as plain data
//! ([setup]); and the topology that is built from these for every runner. What does not: I/O, clocks, hosts, and any
//! knowledge of the simulator or emulator that drives them. A [`Link`] is generic over what it carries: a small value
//! in the simulator, a handle to a real datagram in the emulator.
//!
//! Rules of the room: no allocation per packet, no work proportional to a queue's length per packet, and randomness
//! only from a seed that is passed in.

pub mod capacity;
mod ecn;
pub mod impairments;
pub mod jitter;
pub mod lanes;
pub mod link;
mod pool;
pub mod prefetch;
pub mod queue;
pub mod ring;
pub mod setup;
pub mod shaper;
#[cfg(test)]
mod testing;
pub mod topology;

pub use capacity::{Change, Trace};
pub use ecn::Ecn;
pub use impairments::{Fate, GilbertElliott, Impairments, PacketErrors};
pub use jitter::Jitter;
pub use lanes::Lanes;
pub use link::{Counters, Link};
pub use queue::{Buffer, DropTail, QueueSetup};
pub use setup::{DirectionSetup, Errors, LinkSetup, Reorder, RouterSetup};
pub use shaper::Shaper;
pub use topology::{HostPair, LinkDirection, Route, Topology};

use control::{Bytes, Stamp};
use std::fmt::Debug;

/// What a link must know of a packet, which is a small value that is copied from place to place.
pub trait Packet: Copy + Debug + Default + Send + 'static {
    /// Size on the wire.
    fn size(&self) -> Bytes;

    /// The number of the packet's flow, for queue disciplines that tell flows apart.
    fn flow(&self) -> u64;

    /// A link has begun to transmit the packet, which is moved to the next position of its route. See [`Topology`].
    fn pass_hop(&mut self);

    /// The packet goes on at this position of a route.
    fn set_hop(&mut self, position: u32);

    /// The stamp, for routers to read and rewrite; none if the packet has none, as acknowledgments.
    fn stamp(&mut self) -> Option<&mut Stamp>;

    /// The ECN field. A carrier of packets that cannot mark them leaves this as it is, and queues drop all of them.
    #[inline]
    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }

    /// Sets the ECN field of a packet that is ECN-capable to [`Ecn::Ce`].
    #[inline]
    fn mark(&mut self) {}
}
