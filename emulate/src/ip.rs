//! The ECN field of IPv4 packets, and the Internet checksum.

use path::Ecn;

/// What the ECN field of `packet` says: the lower two bits of the second byte (RFC 3168, section 5).
pub fn ecn(packet: &[u8]) -> Ecn {
    packet.get(1).map_or(Ecn::NotEct, |&byte| Ecn::of_bits(byte.into()))
}

/// Writes `ecn` into the header of `packet`, and corrects the header's checksum.
pub fn set_ecn(packet: &mut [u8], ecn: Ecn) {
    let Some(header) = packet.first_chunk_mut::<20>() else { return };
    let before = u16::from_be_bytes([header[0], header[1]]);
    let after = before & !0b11 | ecn as u16;
    if before != after {
        let checksum = corrected(u16::from_be_bytes([header[10], header[11]]), before, after);
        header[1] = after as u8;
        header[10..12].copy_from_slice(&checksum.to_be_bytes());
    }
}

/// The checksum that was `checksum`, after words whose sum was `before` have been replaced by others whose sum is
/// `after`: HC' = ~(~HC + ~m + m') (RFC 1624, equation 3).
pub fn corrected(checksum: u16, before: u16, after: u16) -> u16 {
    !add(add(!checksum, !before), after)
}

/// The ones' complement sum of two numbers.
pub fn add(a: u16, b: u16) -> u16 {
    let (sum, carry) = a.overflowing_add(b);
    sum + u16::from(carry)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 1624, section 4: the checksum is 0xdd2f, and a word changes from 0x5555 to 0x3285.
    #[test]
    fn the_example_of_rfc_1624() {
        assert_eq!(corrected(0xdd2f, 0x5555, 0x3285), 0x0000);
    }

    /// A header of 20 bytes with this type of service and a right checksum, which is computed anew.
    fn header(tos: u8, identification: u16) -> [u8; 24] {
        let [a, b] = identification.to_be_bytes();
        let mut packet =
            [0x45, tos, 0, 24, a, b, 0x40, 0, 64, 6, 0, 0, 198, 18, 0, 1, 198, 18, 0, 2, 0xde, 0xad, 0xbe, 0xef];
        let sum = packet[..20].chunks(2).fold(0, |sum, word| add(sum, u16::from_be_bytes([word[0], word[1]])));
        packet[10..12].copy_from_slice(&(!sum).to_be_bytes());
        packet
    }

    #[test]
    fn a_changed_field_leaves_the_other_bits_and_a_right_checksum() {
        const ALL: [Ecn; 4] = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce];
        // All checksums occur, those among them whose correction carries or is zero.
        for identification in 0..=u16::MAX {
            let dscp = (identification as u8) & !0b11;
            let (from, to) = (ALL[usize::from(identification) % 4], ALL[usize::from(identification >> 5) % 4]);
            let mut packet = header(dscp | from as u8, identification);
            assert_eq!(ecn(&packet), from);
            set_ecn(&mut packet, to);
            assert_eq!(packet, header(dscp | to as u8, identification));
        }
    }

    #[test]
    fn a_packet_without_a_header_is_left_alone() {
        for length in 0..20 {
            let mut short = header(Ecn::Ect0 as u8, 1)[..length].to_vec();
            set_ecn(&mut short, Ecn::Ce);
            assert_eq!(short, header(Ecn::Ect0 as u8, 1)[..length]);
        }
        assert_eq!(ecn(&[]), Ecn::NotEct);
    }
}
