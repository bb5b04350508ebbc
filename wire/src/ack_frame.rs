//! The acknowledgment in a decrypted packet: its largest packet number, and how many packets the peer has received with
//! each ECN field (RFC 9000, section 19.3).

/// What is of interest in an ACK frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckFrame {
    /// The largest packet number that it acknowledges.
    pub largest: u64,
    /// How many packets have arrived with ECT(0), ECT(1) and CE; none if it does not tell.
    pub counts: Option<[u64; 3]>,
}

/// The types of frames (section 19, and draft-ietf-quic-ack-frequency-07, section 5): ACK, with and without ECN counts.
const ACK: u64 = 0x02;
const ACK_ECN: u64 = 0x03;
/// Frames without contents, which quinn puts before an acknowledgment.
const PADDING: u64 = 0x00;
const PING: u64 = 0x01;
const HANDSHAKE_DONE: u64 = 0x1e;
const IMMEDIATE_ACK: u64 = 0x1f;

/// Reads the acknowledgment at the beginning of `frames`, the contents of a packet; none if it begins with frames of
/// other kinds. An acknowledgment behind these is not found, as other QUIC stacks might have it: then no counts are
/// seen, and the packets of this end do not stay ECN-capable.
pub fn read(frames: &[u8]) -> Option<AckFrame> {
    let mut rest = frames;
    let kind = loop {
        match varint(&mut rest)? {
            PADDING | PING | HANDSHAKE_DONE | IMMEDIATE_ACK => {}
            kind @ (ACK | ACK_ECN) => break kind,
            _ => return None,
        }
    };
    let largest = varint(&mut rest)?;
    if kind == ACK {
        return Some(AckFrame { largest, counts: None });
    }
    let (_delay, ranges, _first) = (varint(&mut rest)?, varint(&mut rest)?, varint(&mut rest)?);
    for _ in 0..ranges {
        let (_gap, _length) = (varint(&mut rest)?, varint(&mut rest)?);
    }
    Some(AckFrame { largest, counts: Some([varint(&mut rest)?, varint(&mut rest)?, varint(&mut rest)?]) })
}

/// Takes an integer of variable length off the front of `bytes` (section 16).
fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let length = 1 << (bytes.first()? >> 6);
    let (own, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    let first = u64::from(own[0] & 0x3f);
    Some(own[1..].iter().fold(first, |value, &byte| value << 8 | u64::from(byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of RFC 9000, appendix A.1.
    #[test]
    fn integers_of_variable_length() {
        let examples: [(&[u8], u64); 5] = [
            (&[0xc2, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c], 151_288_809_941_952_652),
            (&[0x9d, 0x7f, 0x3e, 0x7d], 494_878_333),
            (&[0x7b, 0xbd], 15_293),
            (&[0x25], 37),
            (&[0x40, 0x25], 37),
        ];
        for (bytes, value) in examples {
            let mut rest = bytes;
            assert_eq!((varint(&mut rest), rest), (Some(value), &[][..]));
            for cut in 0..bytes.len() {
                assert_eq!(varint(&mut &bytes[..cut]), None);
            }
        }
    }

    /// Largest 300, delay 7, one more range, first range 4; gap 0, length 2; ECT(0) 500, ECT(1) 0, CE 3.
    const WITH_COUNTS: [u8; 13] = [0x03, 0x41, 0x2c, 7, 1, 4, 0, 2, 0x41, 0xf4, 0, 3, 0x08];

    #[test]
    fn an_acknowledgment_and_its_counts_are_read() {
        let expected = Some(AckFrame { largest: 300, counts: Some([500, 0, 3]) });
        assert_eq!(read(&WITH_COUNTS), expected);
        assert_eq!(read(&[&[0x1e, 0x01, 0x1f, 0x00, 0x00][..], &WITH_COUNTS].concat()), expected);
        let plain = [0x02, 0x41, 0x2c, 7, 1, 4, 0, 2, 0x08, 1, 2];
        assert_eq!(read(&plain), Some(AckFrame { largest: 300, counts: None }));
    }

    #[test]
    fn what_is_cut_off_or_begins_otherwise_has_none() {
        (0..12).for_each(|length| assert_eq!(read(&WITH_COUNTS[..length]), None, "{length} bytes"));
        assert_eq!(read(&[&[0x08, 0x00][..], &WITH_COUNTS].concat()), None, "a STREAM frame");
        assert_eq!(read(&[0x03, 1, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0]), None, "2^62 - 1 ranges");
    }
}
