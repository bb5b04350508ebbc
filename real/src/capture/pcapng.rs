//! The blocks of a pcapng file that captures need (draft-ietf-opsawg-pcapng), little-endian.
//!
//! A block is its type, its length, a body, and its length again. Everything is padded to 32 bits.

/// Link type of packets that begin with an IPv4 or IPv6 header (LINKTYPE_RAW).
const RAW: u16 = 101;
/// The only interface of a section.
const INTERFACE: u32 = 0;
/// The secrets are lines of a TLS key log ("TLSK").
const TLS_KEY_LOG: u32 = 0x544c_534b;

/// Adds a block with this body to `out`.
fn block(out: &mut Vec<u8>, kind: u32, body: impl FnOnce(&mut Vec<u8>)) {
    let begin = out.len();
    out.extend_from_slice(&kind.to_le_bytes());
    out.extend_from_slice(&[0; 4]);
    body(out);
    let length = ((out.len() - begin + 4) as u32).to_le_bytes();
    out[begin + 4..begin + 8].copy_from_slice(&length);
    out.extend_from_slice(&length);
}

/// Adds `data` and zeros up to a multiple of four bytes.
fn padded(out: &mut Vec<u8>, data: &[u8]) {
    out.extend_from_slice(data);
    out.resize(out.len() + data.len().wrapping_neg() % 4, 0);
}

/// Adds an option. A longer value than options can have is cut.
fn option(out: &mut Vec<u8>, code: u16, value: &[u8]) {
    let value = &value[..value.len().min(usize::from(u16::MAX))];
    out.extend_from_slice(&code.to_le_bytes());
    out.extend_from_slice(&(value.len() as u16).to_le_bytes());
    padded(out, value);
}

/// Ends a list of options (opt_endofopt).
fn end_of_options(out: &mut Vec<u8>) {
    out.extend_from_slice(&[0; 4]);
}

/// Adds a time in units of the interface, the upper half first.
fn time(out: &mut Vec<u8>, time: u64) {
    out.extend_from_slice(&((time >> 32) as u32).to_le_bytes());
    out.extend_from_slice(&(time as u32).to_le_bytes());
}

/// A Section Header Block, with which a file begins: version 1.0, of unknown length, written by
/// `application`.
pub fn section(out: &mut Vec<u8>, application: &str) {
    block(out, 0x0a0d_0d0a, |out| {
        out.extend_from_slice(&0x1a2b_3c4d_u32.to_le_bytes());
        out.extend_from_slice(&[1, 0, 0, 0]);
        out.extend_from_slice(&(-1_i64).to_le_bytes());
        option(out, 4, application.as_bytes()); // shb_userappl
        end_of_options(out);
    });
}

/// An Interface Description Block: of IP packets that are captured whole, with times in nanoseconds. It is
/// number 0 of its section, and all other blocks are about it.
pub fn interface(out: &mut Vec<u8>, name: &str, description: &str) {
    block(out, 1, |out| {
        out.extend_from_slice(&RAW.to_le_bytes());
        out.extend_from_slice(&[0; 2 + 4]); // reserved; no limit of length
        option(out, 2, name.as_bytes()); // if_name
        option(out, 3, description.as_bytes()); // if_description
        option(out, 9, &[9]); // if_tsresol: 10^-9 s
        end_of_options(out);
    });
}

/// An Enhanced Packet Block: a packet in two parts, so many nanoseconds after 1970, and perhaps a comment.
pub fn packet(out: &mut Vec<u8>, at: u64, [head, rest]: [&[u8]; 2], comment: Option<&str>) {
    block(out, 6, |out| {
        out.extend_from_slice(&INTERFACE.to_le_bytes());
        time(out, at);
        let size = head.len() + rest.len();
        for _ in ["captured", "original"] {
            out.extend_from_slice(&(size as u32).to_le_bytes());
        }
        out.extend_from_slice(head);
        out.extend_from_slice(rest);
        out.resize(out.len() + size.wrapping_neg() % 4, 0);
        if let Some(comment) = comment {
            option(out, 1, comment.as_bytes()); // opt_comment
            end_of_options(out);
        }
    });
}

/// A Decryption Secrets Block with lines of a TLS key log. It comes before the packets that it decrypts.
pub fn secrets(out: &mut Vec<u8>, lines: &str) {
    block(out, 10, |out| {
        out.extend_from_slice(&TLS_KEY_LOG.to_le_bytes());
        out.extend_from_slice(&(lines.len() as u32).to_le_bytes());
        padded(out, lines.as_bytes());
    });
}

/// An Interface Statistics Block: of the packets `received`, so many were `dropped`.
pub fn statistics(out: &mut Vec<u8>, at: u64, received: u64, dropped: u64) {
    block(out, 5, |out| {
        out.extend_from_slice(&INTERFACE.to_le_bytes());
        time(out, at);
        option(out, 4, &received.to_le_bytes()); // isb_ifrecv
        option(out, 5, &dropped.to_le_bytes()); // isb_ifdrop
        end_of_options(out);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        let words = out.chunks(4).map(|word| word.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
        words.collect::<Vec<_>>().join(" ")
    }

    /// By the figures of these blocks in the draft, derived by hand: a word of 32 bits in each group.
    #[test]
    fn blocks_are_laid_out_as_the_draft_says() {
        assert_eq!(
            hex(|out| section(out, "abcde")),
            "0a0d0d0a 2c000000 4d3c2b1a 01000000 ffffffff ffffffff 04000500 61626364 65000000 00000000 2c000000"
        );
        assert_eq!(
            hex(|out| interface(out, "in", "side")),
            "01000000 30000000 65000000 00000000 02000200 696e0000 03000400 73696465 09000100 09000000 00000000 \
             30000000"
        );
        // 1.7e18 ns = 0x17979cfe_362a0000: November 2023.
        let at = 1_700_000_000_000_000_000;
        assert_eq!(
            hex(|out| packet(out, at, [&[0x45, 1, 2], &[3, 4]], None)),
            "06000000 28000000 00000000 fe9c9717 00002a36 05000000 05000000 45010203 04000000 28000000"
        );
        assert_eq!(
            hex(|out| packet(out, 7, [&[0x45, 1], &[2, 3]], Some("no"))),
            "06000000 30000000 00000000 00000000 07000000 04000000 04000000 45010203 01000200 6e6f0000 00000000 \
             30000000"
        );
        assert_eq!(
            hex(|out| secrets(out, "A b c\n")),
            "0a000000 1c000000 4b534c54 06000000 41206220 630a0000 1c000000"
        );
        assert_eq!(
            hex(|out| statistics(out, 7, 258, 3)),
            "05000000 34000000 00000000 00000000 07000000 04000800 02010000 00000000 05000800 03000000 00000000 \
             00000000 34000000"
        );
    }

    #[test]
    fn an_option_is_no_longer_than_its_length_can_say() {
        let mut out = Vec::new();
        option(&mut out, 1, &[0x61; 70_000]);
        assert_eq!((&out[..4], out.len()), (&[1, 0, 0xff, 0xff][..], 4 + 65_536));
    }
}
