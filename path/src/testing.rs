//! What tests use: packets, and the queue discipline that CONTRIBUTING.md shows as an example.

use crate::{Ecn, Packet};
use control::{Bytes, Stamp};

#[path = "../tests/contributing/lifetime.rs"]
pub mod lifetime;

/// A packet with a number of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Parcel {
    pub id: u64,
    pub flow: u64,
    pub hop: u32,
    pub size: Bytes,
    pub stamp: Stamp,
    pub ecn: Ecn,
}

impl Parcel {
    /// A packet of 1000 bytes.
    pub fn new(id: u64) -> Parcel {
        Parcel { id, flow: 0, hop: 0, size: Bytes(1000), stamp: Stamp::None, ecn: Ecn::NotEct }
    }
}

impl Packet for Parcel {
    fn size(&self) -> Bytes {
        self.size
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
        Some(&mut self.stamp)
    }
    fn ecn(&self) -> Ecn {
        self.ecn
    }
    fn mark(&mut self) {
        self.ecn = Ecn::Ce;
    }
}
