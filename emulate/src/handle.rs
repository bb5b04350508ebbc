//! What the links carry in place of a packet.

use control::{Bytes, Stamp};
use path::Packet;

/// Which way along the path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// From the clients of a relay, or from the command in its namespace.
    #[default]
    Forward,
    /// Back to them.
    Reverse,
}

impl Direction {
    /// Both.
    pub const ALL: [Direction; 2] = [Direction::Forward, Direction::Reverse];
}

/// A packet whose payload lies in the pool.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Handle {
    /// Where in the pool.
    pub(crate) slot: u32,
    pub(crate) size: u32,
    pub(crate) flow: u64,
    pub(crate) direction: Direction,
    /// Where it goes next on its route: a position in the topology.
    pub(crate) hop: u32,
    /// The bit that was flipped on its way.
    pub(crate) flipped: Option<u32>,
    /// What it asks routers for.
    pub(crate) stamp: Stamp,
}

impl Packet for Handle {
    fn size(&self) -> Bytes {
        Bytes(self.size.into())
    }

    fn flow(&self) -> u64 {
        self.flow
    }

    fn pass_hop(&mut self) {
        self.hop += 1;
    }

    fn stamp(&mut self) -> Option<&mut Stamp> {
        (self.stamp != Stamp::None).then_some(&mut self.stamp)
    }
}
