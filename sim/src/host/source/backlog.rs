//! What the application has handed over to send, in segments.

use control::Bytes;

/// The segments of a flow, sent or not. All are full packets but perhaps the last one.
pub struct Backlog {
    /// Number of segments in all; `u64::MAX` if the flow does not end.
    pub segments: u64,
    /// The same before [`Backlog::end_at`].
    pub size: u64,
    /// Size of a full packet on the wire, bytes.
    pub packet: u32,
    /// Size of the last packet on the wire, bytes.
    last_packet: u32,
}

impl Backlog {
    /// `size` bytes on the wire in packets of `packet` bytes; without end if there is no size.
    pub fn new(size: Option<Bytes>, packet: Bytes) -> Backlog {
        let packet = packet.0;
        let (segments, last_packet) = match size {
            None => (u64::MAX, packet),
            Some(size) => {
                let segments = size.0.div_ceil(packet);
                (segments, size.0 - segments.saturating_sub(1) * packet)
            }
        };
        Backlog { segments, size: segments, packet: packet as u32, last_packet: last_packet as u32 }
    }

    /// Adds `size` bytes, in packets of which `header` bytes each are not the application's; `next` is the first
    /// segment that was never sent. Returns the number of segments in all.
    pub fn add(&mut self, size: Bytes, header: Bytes, next: u64) -> u64 {
        let (packet, header) = (u64::from(self.packet), header.0);
        let mut size = size.0;
        // A stream of bytes: a packet that is not full and has not been sent yet is filled up. (If it has been sent and
        // is sent again after this, it counts as full: some bytes more on the wire.)
        if next < self.segments && u64::from(self.last_packet) < packet {
            self.segments -= 1;
            size += u64::from(self.last_packet).saturating_sub(header);
        }
        let room = packet.saturating_sub(header).max(1);
        let more = size.div_ceil(room).max(1);
        self.segments = self.segments.saturating_add(more);
        self.size = self.segments;
        self.last_packet = (size.saturating_sub((more - 1) * room) + header) as u32;
        self.segments
    }

    /// No segment from `next` on is sent.
    pub fn end_at(&mut self, next: u64) {
        self.segments = self.segments.min(next);
    }

    /// Bytes from segment `next` on, counted as full packets; [`u64::MAX`] if the flow does not end.
    #[inline(always)]
    pub fn left(&self, next: u64) -> Bytes {
        match self.segments {
            u64::MAX => Bytes(u64::MAX),
            all => Bytes((all - next.min(all)) * self.packet as u64),
        }
    }

    /// Size of `segment` on the wire, bytes.
    #[inline(always)]
    pub fn size_of(&self, segment: u64) -> u32 {
        if segment + 1 == self.size { self.last_packet } else { self.packet }
    }
}
