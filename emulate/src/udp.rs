//! Stamped datagrams within IPv4 packets.

use crate::ip::{add, corrected};
use control::Stamp;

/// UDP's protocol number in IPv4.
const UDP: u8 = 17;
/// Length of the UDP header in bytes; the last two bytes are the checksum.
const HEADER: usize = 8;

/// The stamp of the datagram in `packet`, if it carries one.
pub fn stamp(packet: &[u8]) -> Option<Stamp> {
    header::stamp(packet.get(payload(packet)?..)?)
}

/// Writes `stamp`, as routers have changed it, into `packet`, and corrects the datagram's checksum.
pub fn answer(packet: &mut [u8], stamp: &Stamp) {
    if *stamp == Stamp::None {
        return;
    }
    let Some(at) = payload(packet) else { return };
    let Some((headers, datagram)) = packet.split_at_mut_checked(at) else { return };
    let before = sum(datagram);
    header::answer(datagram, stamp);
    let after = sum(datagram);
    let checksum = &mut headers[at - 2..];
    let old = u16::from_be_bytes([checksum[0], checksum[1]]);
    if old != 0 {
        let new = corrected(old, before, after);
        // Zero would say that there is none (RFC 768).
        checksum.copy_from_slice(&(if new == 0 { !0 } else { new }).to_be_bytes());
    }
}

/// The offset of the UDP payload in `packet`, if that is an IPv4 packet with an unfragmented UDP datagram.
fn payload(packet: &[u8]) -> Option<usize> {
    let fragment = u16::from_be_bytes([*packet.get(6)?, *packet.get(7)?]) & 0x3fff != 0;
    let header = usize::from(packet[0] & 15) * 4;
    (packet[0] >> 4 == 4 && *packet.get(9)? == UDP && !fragment && header >= 20).then_some(header + HEADER)
}

/// The ones' complement sum of the bytes that routers may write, which follow the tag.
fn sum(datagram: &[u8]) -> u16 {
    let field = datagram.get(header::SIZE..header::ROUTED).unwrap_or_default();
    field.chunks_exact(2).fold(0, |sum, word| add(sum, u16::from_be_bytes([word[0], word[1]])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use header::{Header, ROUTED};

    /// A datagram with 100 bytes of payload and a stamp for routers, in an IPv4 packet with 4 bytes of options.
    fn packet(checked: bool) -> Vec<u8> {
        let mut room = [0; ROUTED];
        let asked = Stamp::Rate { rate: f32::INFINITY, rtt: 0.1 };
        Header { token: 1, number: 2, stamp: asked }.write(&mut room, |_| [3; 8]);
        let datagram = [&room[..], &[0x41; 100]].concat();
        let ip = [0x46, 0, 0, 0, 0, 0, 0x40, 0, 64, UDP, 0, 0, 198, 18, 0, 1, 198, 18, 0, 2, 0, 0, 0, 0];
        let length = ((HEADER + datagram.len()) as u16).to_be_bytes();
        let udp = [0x10, 0x00, 0x20, 0x00, length[0], length[1], 0, 0];
        let mut packet = [&ip[..], &udp, &datagram].concat();
        if checked {
            let sum = !total(&packet);
            packet[30..32].copy_from_slice(&sum.to_be_bytes());
        }
        packet
    }

    /// The sum that the receiver computes, of pseudo-header, header and payload: all ones if the checksum is right (RFC
    /// 768).
    fn total(packet: &[u8]) -> u16 {
        let length = (packet.len() - 24) as u16;
        let words = packet[12..20].chunks_exact(2).chain(packet[24..].chunks_exact(2));
        words.fold(add(length, UDP.into()), |sum, word| add(sum, u16::from_be_bytes([word[0], word[1]])))
    }

    #[test]
    fn an_answer_leaves_the_checksum_right() {
        for rate in [0.0, 25e6, 1e-30, 3.3e38] {
            let mut packet = packet(true);
            assert_eq!((total(&packet), stamp(&packet)), (0xffff, Some(Stamp::Rate { rate: f32::INFINITY, rtt: 0.1 })));
            answer(&mut packet, &Stamp::Rate { rate, rtt: 0.1 });
            assert_eq!((total(&packet), stamp(&packet)), (0xffff, Some(Stamp::Rate { rate, rtt: 0.1 })));
        }
        let mut unchecked = packet(false);
        answer(&mut unchecked, &Stamp::Rate { rate: 1e6, rtt: 0.1 });
        assert_eq!(unchecked[30..32], [0, 0], "a sender that computes none");
    }

    #[test]
    fn a_packet_without_a_whole_datagram_has_no_stamp() {
        let whole = packet(true);
        (0..whole.len() - 100).for_each(|len| assert_eq!(stamp(&whole[..len]), None, "{len} bytes"));
        for (at, value) in [(0, 0x66), (0, 0x41), (0, 0x4f), (6, 0x20), (7, 1), (9, 6)] {
            let mut other = whole.clone();
            other[at] = value;
            assert_eq!(stamp(&other), None, "byte {at} is {value:#x}");
        }
    }
}
