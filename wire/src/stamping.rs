//! The headers that one end writes in front of its packets.

use crate::datagram::Datagram;
use crate::tag::{self, Key};
use control::Stamp;
use header::Header;

/// What a connection's packets are stamped with, once its peer has granted it.
pub(crate) struct Stamping {
    /// The peer's name for the flow.
    token: u64,
    /// The key of the headers' tags.
    key: Key,
    /// The number of the last header.
    number: u64,
}

impl Stamping {
    /// Headers of the flow that the peer knows by `token`, with tags under `key`.
    pub(crate) fn new(token: u64, key: Key) -> Stamping {
        Stamping { token, key, number: 0 }
    }

    /// Writes a header in front of a packet.
    pub(crate) fn write(&mut self, stamp: Stamp, datagram: &mut Datagram) {
        self.number += 1;
        let header = Header { token: self.token, number: self.number, stamp };
        datagram.stamp(|room| tag::write(&header, &self.key, room));
    }
}
