//! The packets of the simulator: small values that are copied from ring to ring.

use control::{Bytes, Report, Stamp, Time};
use path::Ecn;

/// A packet.
#[derive(Clone, Copy, Debug, Default)]
pub struct Packet {
    /// The number of its flow; of traffic that does not react, the number of its source.
    pub flow: u32,
    /// What it looks like to queues.
    pub head: Head,
    /// Where the packet goes next on its route: a position in the topology.
    pub hop: u32,
    /// How many packets its flow had sent before it, modulo 2^32; of an acknowledgment, this number of the packet
    /// acknowledged.
    pub order: u32,
    /// The number of its segment, from 0; of an acknowledgment, the first segment that has not arrived.
    pub segment: u64,
    /// When the packet was sent; of an acknowledgment, when the packet acknowledged was sent (RFC 7323).
    pub sent: Time,
    /// What the packet carries.
    pub body: Body,
}

/// A packet's size on the wire, its ECN field and whether it has arrived, in one word: the latter are above the size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Head(u32);

impl Head {
    /// The bits of the size: scenarios have packets of up to a million bytes.
    const SIZE: u32 = (1 << 29) - 1;
    const ARRIVED: u32 = 1 << 29;

    /// A packet of `size` bytes, less than 2^29.
    #[inline(always)]
    pub fn new(size: u32, ecn: Ecn) -> Head {
        Head(size | (ecn as u32) << 30)
    }

    /// A packet of `size` bytes that is Not-ECT.
    #[inline(always)]
    pub fn plain(size: u32) -> Head {
        Head(size)
    }

    /// The same ECN field for a packet of `size` bytes, if this one has none.
    #[inline(always)]
    pub fn with_size(self, size: u32) -> Head {
        Head(self.0 | size)
    }

    /// Size on the wire, in bytes.
    #[inline(always)]
    pub fn size(self) -> u32 {
        self.0 & Head::SIZE
    }

    /// Whether [`Head::arrive`] was called.
    #[inline(always)]
    pub fn has_arrived(self) -> bool {
        self.0 & Head::ARRIVED != 0
    }

    /// The packet, which carries data, will have arrived by the time at which it leaves the lane that it is on, which
    /// is the first one on the way back: its acknowledgment is made when somebody looks at it.
    #[inline(always)]
    pub fn arrive(&mut self) {
        self.0 |= Head::ARRIVED;
    }

    /// The ECN field.
    #[inline(always)]
    pub fn ecn(self) -> Ecn {
        Ecn::of_bits(self.0 >> 30)
    }
}

/// The heads of a flow's data packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heads {
    /// That of a full packet.
    pub full: Head,
    /// That of the last packet.
    pub last: Head,
    /// Number of segments in all; `u64::MAX` if the flow does not end.
    pub segments: u64,
}

impl Heads {
    /// Whether the head of a packet is known from its segment's number modulo 2^32.
    pub fn are_known_modulo(&self) -> bool {
        self.full == self.last || self.segments <= u64::from(u32::MAX)
    }

    /// The head of the packet of `segment`, modulo 2^32.
    #[inline(always)]
    pub fn of(&self, segment: u32) -> Head {
        if segment.wrapping_add(1) == self.segments as u32 { self.last } else { self.full }
    }
}

/// The number that is `segment` modulo 2^32, and less than 2^31 away from `other`.
#[inline(always)]
pub fn near(other: u64, segment: u32) -> u64 {
    other.wrapping_add_signed(i64::from(segment.wrapping_sub(other as u32) as i32))
}

/// In place of a segment's number: the packet carries no data, but asks to open a connection (TCP's SYN), or
/// acknowledges that it is open. It has a stamp or a report as any other packet, for protocols that learn from these
/// before they send data.
pub const OPENING: u64 = u64::MAX;

/// What a packet carries.
#[derive(Clone, Copy, Debug, Default)]
pub enum Body {
    /// A segment of a flow, and the stamp that its controller wrote.
    Data(Stamp),
    /// An acknowledgment.
    Ack {
        /// How many segments have arrived out of order so far, modulo 2^32. The [`Sink`](crate::host::Sink) keeps their
        /// numbers until the source has read them. This models selective acknowledgments without a limit on their
        /// blocks.
        out_of_order: u32,
        /// How many packets have arrived marked so far, modulo 2^32 (the CE counts of RFC 9000, section 13.4).
        marked: u32,
        /// The receiver's newest report.
        report: Option<Report>,
    },
    /// Data of traffic that does not react, which no host reads.
    #[default]
    Cross,
}

impl path::Packet for Packet {
    #[inline]
    fn size(&self) -> Bytes {
        Bytes(self.head.size() as u64)
    }

    #[inline]
    fn flow(&self) -> u64 {
        // Sources of traffic that does not react are numbered separately.
        u64::from(matches!(self.body, Body::Cross)) << 32 | u64::from(self.flow)
    }

    #[inline]
    fn pass_hop(&mut self) {
        self.hop += 1;
    }

    #[inline]
    fn set_hop(&mut self, position: u32) {
        self.hop = position;
    }

    #[inline]
    fn stamp(&mut self) -> Option<&mut Stamp> {
        match &mut self.body {
            Body::Data(stamp) => Some(stamp),
            _ => None,
        }
    }

    #[inline]
    fn ecn(&self) -> Ecn {
        self.head.ecn()
    }

    #[inline]
    fn mark(&mut self) {
        self.head = Head::new(self.head.size(), Ecn::Ce);
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_mark_changes_neither_the_size_nor_the_rest() {
        use super::{Head, Packet};
        use path::{Ecn, Packet as _};
        for ecn in [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1] {
            let mut packet = Packet { head: Head::new(1_000_000, ecn), order: 7, ..Packet::default() };
            assert_eq!((packet.ecn(), packet.size().0), (ecn, 1_000_000));
            packet.mark();
            assert_eq!((packet.ecn(), packet.size().0, packet.order), (Ecn::Ce, 1_000_000, 7));
        }
    }

    #[test]
    fn a_packet_and_its_exit_time_fill_a_cache_line() {
        assert!(size_of::<(control::Time, super::Packet)>() <= 64);
    }
}
