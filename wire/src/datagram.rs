//! A datagram that waits for its time.

use control::{Bytes, Time};
use header::ROUTED;
use std::net::{IpAddr, SocketAddr};

/// Bytes of a full packet in which senders count, and of the QUIC packets of a connection at its beginning. Path MTU
/// discovery may find that larger ones pass (`transport.rs`).
pub const PACKET: u64 = 1200;

/// Where a datagram goes, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Addressing {
    pub(crate) destination: SocketAddr,
    /// The address it is sent from; none for the system's choice.
    pub(crate) source: Option<IpAddr>,
}

/// A datagram with room for a header in front of it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Datagram {
    /// [`ROUTED`] bytes of room, and the QUIC packet behind them.
    bytes: Vec<u8>,
    /// How many bytes of the room, at its end, are a header.
    header: usize,
    pub(crate) addressing: Addressing,
    /// When quinn counts it as sent, by the endpoint's clock.
    pub(crate) sent: Option<Time>,
    /// How many datagrams to be acknowledged had arrived when quinn built it.
    pub(crate) received: u64,
}

impl Datagram {
    /// A copy of the QUIC packet `contents`, in a buffer to use again.
    pub(crate) fn new(
        mut buffer: Vec<u8>,
        contents: &[u8],
        addressing: Addressing,
        sent: Option<Time>,
        received: u64,
    ) -> Datagram {
        buffer.clear();
        buffer.resize(ROUTED, 0);
        buffer.extend_from_slice(contents);
        Datagram { bytes: buffer, header: 0, addressing, sent, received }
    }

    /// What the network sees: the header, if there is one, and the QUIC packet.
    pub(crate) fn contents(&self) -> &[u8] {
        &self.bytes[ROUTED - self.header..]
    }

    /// Bytes of the QUIC packet.
    pub(crate) fn size(&self) -> Bytes {
        Bytes((self.bytes.len() - ROUTED) as u64)
    }

    /// Has `write` write a header into the end of the room for one and return its length.
    pub(crate) fn stamp(&mut self, write: impl FnOnce(&mut [u8; ROUTED]) -> usize) {
        self.header = self.bytes.first_chunk_mut().map_or(0, write);
    }

    pub(crate) fn into_buffer(self) -> Vec<u8> {
        self.bytes
    }
}
