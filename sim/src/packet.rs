//! What travels in the simulator: a small value, copied from ring to ring.

use control::{Bytes, Report, Stamp, Time};

/// A packet on its way.
#[derive(Clone, Copy, Debug, Default)]
pub struct Packet {
    /// Which flow (or, for cross-traffic, which source) it belongs to.
    pub flow: u32,
    /// Size on the wire, bytes.
    pub size: u32,
    /// Where it goes next on its route: index into the network's hops.
    pub hop: u32,
    /// How many packets its flow had sent before it, modulo 2^32; on an acknowledgment, that of the packet acknowledged.
    pub order: u32,
    /// Which segment, from 0; on an acknowledgment, the first one that has not arrived.
    pub segment: u64,
    /// When it was sent; on an acknowledgment, when the segment that caused it was (RFC 7323).
    pub sent: Time,
    /// What it carries.
    pub body: Body,
}

/// In place of a segment's number: the packet has no data, but asks for a connection to be opened (TCP's SYN), or is the
/// acknowledgment that it is. Stamp and report are as of any other, for protocols that learn from them before they send.
pub const OPENING: u64 = u64::MAX;

/// What a packet carries.
#[derive(Clone, Copy, Debug, Default)]
pub enum Body {
    /// A segment of a flow, and what its controller wrote on it.
    Data(Stamp),
    /// An acknowledgment.
    Ack {
        /// How many segments have arrived out of order so far, modulo 2^32: which ones, [`Sink`](crate::host::Sink) keeps on
        /// record until the source has heard of them. It stands for selective acknowledgments without a limit on their blocks.
        out_of_order: u32,
        /// The receiver's newest report.
        report: Option<Report>,
    },
    /// Traffic that does not react, for nobody.
    #[default]
    Cross,
}

impl path::Packet for Packet {
    #[inline]
    fn size(&self) -> Bytes {
        Bytes(self.size as u64)
    }

    #[inline]
    fn flow(&self) -> u64 {
        // Sources of cross-traffic have numbers of their own.
        u64::from(matches!(self.body, Body::Cross)) << 32 | u64::from(self.flow)
    }

    #[inline]
    fn pass_hop(&mut self) {
        self.hop += 1;
    }

    #[inline]
    fn stamp(&mut self) -> Option<&mut Stamp> {
        match &mut self.body {
            Body::Data(stamp) => Some(stamp),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_packet_and_its_exit_time_fill_a_cache_line() {
        assert!(size_of::<(control::Time, super::Packet)>() <= 64, "{}", size_of::<(control::Time, super::Packet)>());
    }
}
