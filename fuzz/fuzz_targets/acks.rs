//! The acknowledgment at the beginning of a packet, which a peer sends: no bytes make the reader panic or work for
//! long, bytes behind an acknowledgment change nothing, and what was read is read again from its shortest encoding.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::fuzzing::{AckFrame, read_ack_frame};

fuzz_target!(|bytes: &[u8]| {
    let Some(ack) = read_ack_frame(bytes) else { return };
    assert_eq!(read_ack_frame(&[bytes, &[0x08; 9]].concat()), Some(ack));
    assert_eq!(read_ack_frame(&encoded(&ack)), Some(ack));
});

/// An ACK frame of one packet (RFC 9000, section 19.3).
fn encoded(ack: &AckFrame) -> Vec<u8> {
    let mut bytes = vec![if ack.counts.is_some() { 0x03 } else { 0x02 }];
    let counts = ack.counts.iter().flatten().copied();
    [ack.largest, 0, 0, 0].into_iter().chain(counts).for_each(|value| {
        let (length, prefix) = match value {
            0..0x40 => (1, 0),
            0x40..0x4000 => (2, 1),
            0x4000..0x4000_0000 => (4, 2),
            _ => (8, 3),
        };
        let mut own = value.to_be_bytes()[8 - length..].to_vec();
        own[0] |= prefix << 6;
        bytes.extend(own);
    });
    bytes
}
