//! What a connection's packets are stamped with.

use crate::datagram::Datagram;
use crate::passage::Passage;
use crate::tag::{self, Key};
use control::Stamp;
use header::Header;

/// What a connection's packets are stamped with, once its peer has asked for it.
pub(crate) struct Stamping {
    /// The peer's name for the flow.
    token: u64,
    /// Of the tags.
    key: Key,
    /// The last number.
    number: u64,
    /// Bytes of the last header.
    size: usize,
    /// Whether it gets through.
    pub(crate) passage: Passage,
}

impl Stamping {
    /// Of the flow that the peer knows by `token`, with tags by `key`.
    pub(crate) fn new(token: u64, key: Key) -> Stamping {
        Stamping { token, key, number: 0, size: 0, passage: Passage::default() }
    }

    /// Bytes of the last header.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Writes the header in front of a packet.
    pub(crate) fn write(&mut self, stamp: Stamp, datagram: &mut Datagram) {
        self.number += 1;
        let header = Header { token: self.token, number: self.number, stamp };
        self.size = datagram.stamp(|room| tag::write(&header, &self.key, room));
    }
}
