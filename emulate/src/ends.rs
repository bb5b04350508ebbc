//! The ends of the path, as the emulator sees them.

use crate::handle::Direction;
use control::{Stamp, Time};
use path::Ecn;
use realtime::Clock;
use std::io::{self, IoSlice};
use std::net::SocketAddr;

/// The ends of the path: where packets come from and go to.
pub trait Ends {
    /// Hands some of the packets that have arrived to `take`. Does not wait for any.
    ///
    /// # Errors
    /// If the emulation cannot go on.
    fn receive(&mut self, clock: &Clock, take: &mut dyn FnMut(Received)) -> io::Result<()>;

    /// Writes what has changed on the path into `payload`: `stamp`, as the routers have left it, and, if the payload
    /// begins with an IP header, `ecn`, as the queues have. See [`Received`].
    fn update(&self, payload: &mut [u8], stamp: &Stamp, ecn: Ecn);

    /// Packets that [arrived](Ends::receive) with this `flow` leave the path with this `ecn`. All have the same size,
    /// but the last may be shorter. Returns how many the kernel accepted.
    fn send(&mut self, direction: Direction, flow: u64, ecn: Ecn, payloads: &[IoSlice]) -> usize;

    /// Whether the kernel notes when packets arrive. Then they need not be received at once.
    fn dated(&self) -> bool;

    /// Waits until a packet arrives, `at_most` for this long.
    ///
    /// # Errors
    /// If the emulation cannot go on.
    fn wait(&mut self, at_most: std::time::Duration) -> io::Result<()>;

    /// Packets so far that the kernel dropped because they were not received in time, and packets refused because there
    /// were too many clients.
    fn missed(&self) -> (u64, u64);
}

/// The addresses on the clients' side of the path, then those on the server's side. On each side, packets in the
/// forward direction go from the first address to the second.
pub type Sides = [[SocketAddr; 2]; 2];

/// A packet at an end of the path.
pub struct Received<'a> {
    /// When the packet arrived.
    pub at: Time,
    /// Which of the [`EmulatedPath`](crate::EmulatedPath)'s routes it takes.
    pub route: u16,
    /// Its direction.
    pub direction: Direction,
    /// The number of its flow.
    pub flow: u64,
    /// The ECN field of its IP header, for queues to read and mark.
    pub ecn: Ecn,
    /// The stamp that it carries, for routers to read and rewrite.
    pub stamp: Stamp,
    /// The addresses of its flow, where the kernel writes the IP headers: the payload has none then.
    pub sides: Option<&'a Sides>,
    /// Its bytes.
    pub payload: &'a [u8],
}
