//! What stands before and beside a datagram's bytes in a capture: the headers of IP and UDP, which the kernel wrote,
//! and the stamp.

use control::{Stamp, Time};
use path::Ecn;
use std::net::SocketAddrV4;
use wire::header::{Header, Unverified};

/// Length of the headers of IPv4 and UDP in bytes.
pub const HEADERS: usize = 20 + 8;

/// The headers of IPv4 (RFC 791) and UDP (RFC 768) of a datagram with a payload of `size` bytes. The datagram has no
/// checksum, which is allowed over IPv4: loopback computes none, either.
pub fn headers([from, to]: [SocketAddrV4; 2], ecn: Ecn, size: usize) -> [u8; HEADERS] {
    let mut bytes = [0; HEADERS];
    let (ip, udp) = bytes.split_at_mut(20);
    ip[..2].copy_from_slice(&[0x45, ecn as u8]);
    ip[2..4].copy_from_slice(&((HEADERS + size) as u16).to_be_bytes());
    ip[6..10].copy_from_slice(&[0x40, 0, 64, 17]); // not to be fragmented; 64 hops; UDP
    ip[12..16].copy_from_slice(&from.ip().octets());
    ip[16..20].copy_from_slice(&to.ip().octets());
    let words = ip.chunks_exact(2).map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])));
    let sum: u32 = words.sum();
    // Ten words carry less than 2^20: two folds leave 16 bits.
    let sum = (sum & 0xffff) + (sum >> 16);
    let sum = (sum & 0xffff) + (sum >> 16);
    ip[10..12].copy_from_slice(&(!(sum as u16)).to_be_bytes());
    udp[..2].copy_from_slice(&from.port().to_be_bytes());
    udp[2..4].copy_from_slice(&to.port().to_be_bytes());
    udp[4..6].copy_from_slice(&((8 + size) as u16).to_be_bytes());
    bytes
}

/// A datagram's QUIC packet, and what the header before it says, if there is one.
pub fn unstamped(payload: &[u8]) -> (&[u8], Option<String>) {
    let Some(header) = Unverified::read(payload) else { return (payload, None) };
    let what = match header.header() {
        _ if header.is_padding() => "padding".into(),
        None => "unreadable".into(),
        Some(Header { number, stamp, .. }) => format!("number {number}, {}", said(&stamp)),
    };
    let size = header.size;
    (&payload[size..], Some(format!("thalweg header of {size} bytes before the QUIC packet, left out: {what}")))
}

fn said(stamp: &Stamp) -> String {
    match stamp {
        Stamp::None => "no stamp".into(),
        Stamp::Probe { stream, index, len, rate, sent } => {
            let (mbps, seconds) = (f64::from(*rate) / 1e6, sent.since(Time::ZERO).as_secs());
            format!("p-stream {stream}, packet {index} of {len}, rate {mbps:.6} Mbps, sent {seconds:.9} s")
        }
        Stamp::Rate { rate, rtt } => format!("rate {:.6} Mbps, RTT {:.6} s", f64::from(*rate) / 1e6, rtt),
        Stamp::Window { window, rtt, feedback } => {
            format!("window {window:.3} packets, RTT {rtt:.6} s, feedback {feedback:.6} packets")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_as_the_kernel_writes_them() {
        let [from, to] = ["127.0.0.1:40000", "127.0.0.1:443"].map(|text| text.parse().unwrap());
        // The sum of the words but the checksum: 4502 + 0020 + 4000 + 4011 + 7f00 + 0001 + 7f00 + 0001 = 1c335, and
        // c336 with its carry, whose complement is 3cc9. 40000 is 0x9c40.
        let expected = [
            0x45, 2, 0, 32, 0, 0, 0x40, 0, 64, 17, 0x3c, 0xc9, 127, 0, 0, 1, 127, 0, 0, 1, 0x9c, 0x40, 1, 0xbb, 0, 12,
            0, 0,
        ];
        assert_eq!(headers([from, to], Ecn::Ect0, 4), expected);
    }

    #[test]
    fn a_header_is_left_out_and_its_stamp_told() {
        let stamp = Stamp::Probe { stream: 9, index: 3, len: 90, rate: 1.25e8, sent: Time(123_456_789_000) };
        let mut room = [0; wire::header::ROUTED];
        let size = Header { token: 1, number: 77, stamp }.write(&mut room, |_| [9; 8]);
        let datagram = [&room[room.len() - size..], &[0x40; 30]].concat();
        let (packet, comment) = unstamped(&datagram);
        assert_eq!(packet, [0x40; 30]);
        let told = "thalweg header of 48 bytes before the QUIC packet, left out: number 77, p-stream 9, packet 3 of \
                    90, rate 125.000000 Mbps, sent 0.123456789 s";
        assert_eq!(comment.as_deref(), Some(told));
        assert_eq!(unstamped(packet), (packet, None));
    }
}
