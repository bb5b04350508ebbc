//! The ends of the path, as the emulator sees them.

use crate::handle::Direction;
use control::{Stamp, Time};
use realtime::Clock;
use std::io::{self, IoSlice};

/// The ends of the path: where packets come from and go to.
pub trait Ends {
    /// Hands some of the packets that have arrived to `take`. Does not wait for any.
    ///
    /// # Errors
    /// If the emulation cannot go on.
    fn receive(&mut self, clock: &Clock, take: &mut dyn FnMut(Received)) -> io::Result<()>;

    /// Writes `stamp`, as the routers on the path have changed it, into `payload`. See [`Received::stamp`].
    fn answer(&self, payload: &mut [u8], stamp: &Stamp);

    /// Packets that [arrived](Ends::receive) with this `flow` leave the path. All have the same size, but the last may
    /// be shorter. Returns how many the kernel accepted.
    fn send(&mut self, direction: Direction, flow: u64, payloads: &[IoSlice]) -> usize;

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
    /// The stamp that it carries, for routers to read and rewrite.
    pub stamp: Stamp,
    /// Its bytes.
    pub payload: &'a [u8],
}
