//! What the links carry in place of packets.

use control::{Bytes, Stamp};
use path::{Ecn, Packet};

/// The direction of a packet on the path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// From the clients of a relay, or from the command in its namespace.
    #[default]
    Forward,
    /// To the clients, or to the command.
    Reverse,
}

impl Direction {
    /// Both directions.
    pub const ALL: [Direction; 2] = [Direction::Forward, Direction::Reverse];
}

/// A packet whose bytes are in the pool.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Handle {
    /// The slot in the pool.
    pub(crate) slot: u32,
    pub(crate) size: u32,
    pub(crate) flow: u64,
    pub(crate) direction: Direction,
    /// Where the packet goes next on its route: a position in the topology.
    pub(crate) hop: u32,
    /// The number of the bit to flip, if the packet was corrupted.
    pub(crate) flipped: Option<u32>,
    /// The ECN field, which queues read and mark.
    pub(crate) ecn: Ecn,
    /// The stamp, which routers read and rewrite.
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

    fn set_hop(&mut self, position: u32) {
        self.hop = position;
    }

    fn stamp(&mut self) -> Option<&mut Stamp> {
        (self.stamp != Stamp::None).then_some(&mut self.stamp)
    }

    fn ecn(&self) -> Ecn {
        self.ecn
    }

    fn mark(&mut self) {
        self.ecn = Ecn::Ce;
    }
}
