//! The ECN field of a packet (RFC 3168, section 5; RFC 9331, section 2).

/// What two bits of a packet's IP header say about explicit congestion notification. The values are the codepoints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Ecn {
    /// The sender does not react to marks: a queue that wants to signal congestion drops the packet.
    #[default]
    NotEct = 0b00,
    /// The sender reacts to marks as a scalable congestion control does (L4S, RFC 9331).
    Ect1 = 0b01,
    /// The sender reacts to a mark as to a loss (RFC 3168).
    Ect0 = 0b10,
    /// A queue has marked the packet: it experienced congestion.
    Ce = 0b11,
}

impl Ecn {
    /// The codepoint in the lower two bits of `bits`.
    #[inline]
    pub fn of_bits(bits: u32) -> Ecn {
        match bits & 0b11 {
            0b00 => Ecn::NotEct,
            0b01 => Ecn::Ect1,
            0b10 => Ecn::Ect0,
            _ => Ecn::Ce,
        }
    }

    /// Whether a queue may mark the packet, or has done so.
    #[inline]
    pub fn is_capable(self) -> bool {
        self != Ecn::NotEct
    }

    /// Whether the packet belongs into the queue with low latency of a DualQ (RFC 9332, section 2.3). For a packet that
    /// another queue has marked this cannot be known, and is assumed (RFC 9331, section 5.1).
    #[inline]
    pub fn is_l4s(self) -> bool {
        matches!(self, Ecn::Ect1 | Ecn::Ce)
    }
}
