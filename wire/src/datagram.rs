//! A datagram that waits for its time.

use crate::batch::Way;
use control::Bytes;
use header::ROUTED;
use std::time::Instant;

/// A datagram with room for a header in front of it.
pub(crate) struct Datagram {
    bytes: Vec<u8>,
    /// How much of the room is a header.
    header: usize,
    /// Where it goes.
    pub(crate) way: Way,
    /// When quinn believes to have sent it.
    pub(crate) sent: Option<Instant>,
    /// Datagrams that had come when it was built, which it may acknowledge.
    pub(crate) heard: u64,
}

impl Datagram {
    /// Of these contents, in a buffer to use again.
    pub(crate) fn new(mut bytes: Vec<u8>, contents: &[u8], way: Way) -> Datagram {
        bytes.clear();
        bytes.resize(ROUTED, 0);
        bytes.extend_from_slice(contents);
        Datagram { bytes, header: 0, way, sent: None, heard: 0 }
    }

    /// What the network sees.
    pub(crate) fn contents(&self) -> &[u8] {
        &self.bytes[ROUTED - self.header..]
    }

    /// Bytes that QUIC knows of.
    pub(crate) fn size(&self) -> Bytes {
        Bytes((self.bytes.len() - ROUTED) as u64)
    }

    /// Whether there is a header.
    pub(crate) fn is_stamped(&self) -> bool {
        self.header > 0
    }

    /// Has `write` write a header into the room for one, and say how long it is: that is returned.
    pub(crate) fn stamp(&mut self, write: impl FnOnce(&mut [u8; ROUTED]) -> usize) -> usize {
        self.header = self.bytes.first_chunk_mut().map_or(0, write);
        self.header
    }

    /// The buffer.
    pub(crate) fn into_buffer(self) -> Vec<u8> {
        self.bytes
    }
}
