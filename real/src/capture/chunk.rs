//! What the emulator's thread notes of packets, and how it reaches the thread that writes it.

use path::Ecn;
use std::net::SocketAddrV4;

/// The bytes of a chunk. A datagram has at most 65,507.
const BYTES: usize = 1 << 20;
/// The most packets of a chunk: more than have room in it, but for acknowledgments alone.
const PACKETS: usize = 8192;

/// A packet on one side of the path. Its bytes are in its chunk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noted {
    /// Nanoseconds since 1970.
    pub at: u64,
    /// 0 on the senders' side of the path, 1 on the receivers' side.
    pub side: u8,
    /// The ECN field that the kernel reads or writes in its IP header.
    pub ecn: Ecn,
    /// From where to where the datagram goes. None if its bytes begin with an IP header.
    pub addresses: Option<[SocketAddrV4; 2]>,
    /// Where its bytes begin in the chunk.
    begin: u32,
    size: u32,
}

impl Noted {
    /// A packet in no chunk yet.
    pub fn new(at: u64, side: u8, ecn: Ecn, addresses: Option<[SocketAddrV4; 2]>) -> Noted {
        Noted { at, side, ecn, addresses, begin: 0, size: 0 }
    }
}

/// Packets and their bytes.
pub struct Chunk {
    packets: Vec<Noted>,
    bytes: Vec<u8>,
}

impl Chunk {
    /// An empty chunk. Its memory is written to once, so that the kernel has given the pages before a packet waits for
    /// them.
    pub fn new() -> Chunk {
        let nothing = Noted { size: 1, ..Noted::new(1, 1, Ecn::Ce, None) };
        let mut chunk = Chunk { packets: vec![nothing; PACKETS], bytes: vec![1; BYTES] };
        chunk.clear();
        chunk
    }

    /// Whether a packet of `size` bytes fits.
    pub fn has_room(&self, size: usize) -> bool {
        self.packets.len() < PACKETS && self.bytes.len() + size <= BYTES
    }

    /// Whether it is half full.
    pub fn is_half_full(&self) -> bool {
        self.packets.len() >= PACKETS / 2 || self.bytes.len() >= BYTES / 2
    }

    /// Adds a packet, for which there is room.
    pub fn push(&mut self, noted: Noted, payload: &[u8]) {
        self.packets.push(Noted { begin: self.bytes.len() as u32, size: payload.len() as u32, ..noted });
        self.bytes.extend_from_slice(payload);
    }

    /// Puts the packets in the order of their times.
    pub fn sort(&mut self) {
        self.packets.sort_by_key(|noted| noted.at);
    }

    /// The packets and their bytes.
    pub fn packets(&self) -> impl Iterator<Item = (&Noted, &[u8])> {
        self.packets.iter().map(|noted| (noted, &self.bytes[noted.begin as usize..][..noted.size as usize]))
    }

    /// Forgets all packets, and keeps the memory.
    pub fn clear(&mut self) {
        self.packets.clear();
        self.bytes.clear();
    }
}

/// What is written next.
pub enum Message {
    /// Packets.
    Packets(Chunk),
    /// A line of a TLS key log.
    Secret(String),
    /// Nothing more.
    End,
}
