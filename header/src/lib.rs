//! The header that a stamped datagram carries in front of its QUIC packet. docs/wire.md has the layout.
//!
//! The header is not encrypted: routers read it, and may write the field at its end. A tag authenticates the bytes that
//! the sender wrote. This crate knows where the tag stands; the two ends, which hold the key, make it and check it.
//! Routers cannot check it.

use control::{Stamp, Time};

/// Length in bytes of a header without a router's field.
pub const SIZE: usize = 48;
/// Length in bytes of a header with a router's field.
pub const ROUTED: usize = SIZE + 8;
/// Length in bytes of the longest header that is read. A later version may have more fields for routers.
pub const LONGEST: usize = SIZE + 64;
/// How many bytes, from the first, the tag authenticates. The tag follows them.
pub const TAGGED: usize = 40;

/// The first byte of a header. QUIC's packets have the bit `0x40` set (RFC 9000, section 17) unless it is greased (RFC
/// 9287), which these endpoints do not do. No other protocol in RFC 9443 begins with this value.
pub const MAGIC: u8 = 0x1b;

const NONE: u8 = 0;
const PROBE: u8 = 1;
const RATE: u8 = 2;
const WINDOW: u8 = 3;
const PADDING: u8 = 4;

/// The tag of a header. Only a holder of the key can make it.
pub type Tag = [u8; SIZE - TAGGED];

/// The contents of a header.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Header {
    /// Names the flow to its receiver. Both ends derive it from their TLS session.
    pub token: u64,
    /// The number of the datagram among the flow's stamped ones.
    pub number: u64,
    /// The sender's stamp.
    pub stamp: Stamp,
}

impl Header {
    /// Writes the header into the last bytes of `room`, with the tag that `tag` makes of its first [`TAGGED`] bytes.
    /// Returns its length in bytes: [`SIZE`] or [`ROUTED`].
    pub fn write(&self, room: &mut [u8; ROUTED], tag: impl FnOnce(&[u8]) -> Tag) -> usize {
        room.fill(0);
        let size = match self.stamp {
            Stamp::None | Stamp::Probe { .. } => SIZE,
            Stamp::Rate { .. } | Stamp::Window { .. } => ROUTED,
        };
        let header = &mut room[ROUTED - size..];
        header[0] = MAGIC;
        header[2..4].copy_from_slice(&(size as u16).to_be_bytes());
        header[8..16].copy_from_slice(&self.token.to_be_bytes());
        header[16..24].copy_from_slice(&self.number.to_be_bytes());
        match self.stamp {
            Stamp::None => {}
            Stamp::Probe { stream, index, len, rate, sent } => {
                header[1] = PROBE;
                header[4..8].copy_from_slice(&stream.to_be_bytes());
                header[24..32].copy_from_slice(&sent.0.to_be_bytes());
                header[32..34].copy_from_slice(&index.to_be_bytes());
                header[34..36].copy_from_slice(&len.to_be_bytes());
                header[36..40].copy_from_slice(&rate.to_be_bytes());
            }
            Stamp::Rate { rtt, .. } => {
                header[1] = RATE;
                header[36..40].copy_from_slice(&rtt.to_be_bytes());
            }
            Stamp::Window { window, rtt, .. } => {
                header[1] = WINDOW;
                header[32..36].copy_from_slice(&window.to_be_bytes());
                header[36..40].copy_from_slice(&rtt.to_be_bytes());
            }
        }
        answer(header, &self.stamp);
        let tag = tag(&header[..TAGGED]);
        header[TAGGED..SIZE].copy_from_slice(&tag);
        size
    }
}

/// Writes a header of no flow into `room`, as long as the longest, and returns its length in bytes. It only shows that
/// a path has room for headers; receivers take it off.
pub fn pad(room: &mut [u8; ROUTED]) -> usize {
    room.fill(0);
    (room[0], room[1]) = (MAGIC, PADDING);
    room[2..4].copy_from_slice(&(ROUTED as u16).to_be_bytes());
    ROUTED
}

/// The stamp of `datagram`, as a router reads it; none if the datagram carries no header or one that makes no sense.
/// The tag is not checked.
pub fn stamp(datagram: &[u8]) -> Option<Stamp> {
    Some(Unverified::read(datagram)?.header()?.stamp)
}

/// Writes a router's answer in `stamp` into the header of `datagram`, from which `stamp` was read: the field behind the
/// tag. Does nothing if such a stamp has no field for routers.
pub fn answer(datagram: &mut [u8], stamp: &Stamp) {
    let answer = match stamp {
        Stamp::Rate { rate, .. } => rate,
        Stamp::Window { feedback, .. } => feedback,
        Stamp::None | Stamp::Probe { .. } => return,
    };
    if let Some(field) = datagram.get_mut(SIZE..SIZE + 4) {
        field.copy_from_slice(&answer.to_be_bytes());
    }
}

/// A header as it arrived. Its length is plausible; its tag has not been checked.
#[derive(Clone, Copy, Debug)]
pub struct Unverified<'a> {
    bytes: &'a [u8; SIZE],
    /// The routers' field, if the header has one.
    routed: Option<f32>,
    /// The header's length in bytes. The datagram is longer.
    pub size: usize,
}

impl<'a> Unverified<'a> {
    /// Whether a datagram begins as a header does. If it does not, it may be a QUIC packet.
    pub fn claimed(datagram: &[u8]) -> bool {
        datagram.first() == Some(&MAGIC)
    }

    /// The header in front of `datagram`; none if there is no header of a plausible length, or nothing behind it.
    pub fn read(datagram: &'a [u8]) -> Option<Unverified<'a>> {
        let bytes: &[u8; SIZE] = datagram.first_chunk()?;
        let size = u16::from_be_bytes([bytes[2], bytes[3]]) as usize;
        let fits = Unverified::claimed(datagram) && (SIZE..=LONGEST).contains(&size) && size < datagram.len();
        let routed = datagram[SIZE..].first_chunk().filter(|_| size >= ROUTED).copied();
        fits.then_some(Unverified { bytes, routed: routed.map(f32::from_be_bytes), size })
    }

    /// Whether it is a header of no flow ([`pad`]). It has no tag.
    pub fn is_padding(&self) -> bool {
        self.bytes[1] == PADDING
    }

    /// The token of the flow that the header claims to belong to.
    pub fn token(&self) -> u64 {
        u64::from_be_bytes(self.array(8))
    }

    /// The bytes that the tag authenticates.
    pub fn tagged(&self) -> &[u8] {
        &self.bytes[..TAGGED]
    }

    /// The tag, as it arrived.
    pub fn tag(&self) -> Tag {
        self.array(TAGGED)
    }

    /// The header's contents, whoever wrote them; none if no sender could have meant them. A holder of the key may be
    /// malicious, too, so that neither receivers nor routers need to cope with such contents.
    pub fn header(&self) -> Option<Header> {
        let stamp = match self.bytes[1] {
            NONE => Stamp::None,
            PROBE => {
                let stream = u32::from_be_bytes(self.array(4));
                let index = u16::from_be_bytes(self.array(32));
                let len = u16::from_be_bytes(self.array(34));
                let rate = f32::from_be_bytes(self.array(36));
                // A sender that repairs a loss sends probes of streams without a length, at any index: they end the
                // stream before.
                let sensible = rate.is_finite() && rate >= 0.0 && (index < len || len == 0);
                if !sensible {
                    return None;
                }
                Stamp::Probe { stream, index, len, rate, sent: Time(u64::from_be_bytes(self.array(24))) }
            }
            RATE | WINDOW => {
                let window = f32::from_be_bytes(self.array(32));
                let rtt = f32::from_be_bytes(self.array(36));
                // An infinite value is allowed: no router has written anything.
                let routed = self.routed.filter(|routed| !routed.is_nan())?;
                let sensible = |value: f32| value.is_finite() && value >= 0.0;
                match self.bytes[1] {
                    _ if !sensible(window) || !sensible(rtt) => return None,
                    RATE if routed >= 0.0 => Stamp::Rate { rate: routed, rtt },
                    WINDOW if routed > f32::NEG_INFINITY => Stamp::Window { window, rtt, feedback: routed },
                    _ => return None,
                }
            }
            _ => return None,
        };
        Some(Header { token: self.token(), number: u64::from_be_bytes(self.array(16)), stamp })
    }

    fn array<const N: usize>(&self, at: usize) -> [u8; N] {
        self.bytes[at..at + N].try_into().expect("within the header")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNTOUCHED: f32 = f32::INFINITY;

    /// A datagram with a header that carries `stamp`.
    fn datagram(stamp: Stamp) -> Vec<u8> {
        let mut room = [0; ROUTED];
        let size = Header { token: 0x0123_4567_89ab_cdef, number: 77, stamp }.write(&mut room, |_| [9; 8]);
        [&room[ROUTED - size..], &[0x40; 30]].concat()
    }

    #[test]
    fn headers_are_read_as_they_were_written() {
        let stamps = [
            (Stamp::Probe { stream: 9, index: 3, len: 90, rate: 1.25e9, sent: Time(123_456_789_000) }, SIZE),
            (Stamp::None, SIZE),
            (Stamp::Rate { rate: UNTOUCHED, rtt: 0.1 }, ROUTED),
            (Stamp::Window { window: 12.5, rtt: 0.0, feedback: UNTOUCHED }, ROUTED),
        ];
        for (stamp, size) in stamps {
            let datagram = datagram(stamp);
            let read = Unverified::read(&datagram).unwrap();
            assert_eq!(read.header(), Some(Header { token: 0x0123_4567_89ab_cdef, number: 77, stamp }));
            assert_eq!((read.size, read.token(), read.tag()), (size, 0x0123_4567_89ab_cdef, [9; 8]));
        }
    }

    #[test]
    fn a_routers_answer_changes_its_field_and_nothing_else() {
        let answered = [
            (Stamp::Rate { rate: UNTOUCHED, rtt: 0.1 }, Stamp::Rate { rate: 25e6, rtt: 0.1 }),
            (
                Stamp::Window { window: 9.0, rtt: 0.1, feedback: UNTOUCHED },
                Stamp::Window { window: 9.0, rtt: 0.1, feedback: -0.25 },
            ),
        ];
        for (asked, by_router) in answered {
            let before = datagram(asked);
            let mut after = before.clone();
            assert_eq!(stamp(&before), Some(asked));
            answer(&mut after, &by_router);
            assert_eq!(stamp(&after), Some(by_router));
            after[SIZE..SIZE + 4].copy_from_slice(&before[SIZE..SIZE + 4]);
            assert_eq!(after, before);
        }
        let probe = datagram(Stamp::Probe { stream: 1, index: 0, len: 1, rate: 1e6, sent: Time(0) });
        let mut after = probe.clone();
        answer(&mut after, &stamp(&probe).unwrap());
        assert_eq!(after, probe, "its packet begins where the field would be");
    }

    #[test]
    fn a_routers_answer_that_is_no_usable_number_is_refused() {
        for nonsense in [f32::NAN, f32::NEG_INFINITY] {
            let mut datagram = datagram(Stamp::Window { window: 9.0, rtt: 0.1, feedback: UNTOUCHED });
            datagram[SIZE..SIZE + 4].copy_from_slice(&nonsense.to_be_bytes());
            assert_eq!(stamp(&datagram), None);
        }
    }

    #[test]
    fn truncated_headers_and_other_protocols_are_no_headers() {
        let whole = datagram(Stamp::Rate { rate: UNTOUCHED, rtt: 0.1 });
        for len in 0..=ROUTED {
            assert_eq!(stamp(&whole[..len]), None, "the first {len} bytes, with no packet behind the header");
        }
        let quic = [&[0x40], &whole[1..]].concat();
        assert_eq!(stamp(&quic), None);
        let unknown = [&[MAGIC, 4], &whole[2..]].concat();
        assert_eq!(stamp(&unknown), None);
    }

    #[test]
    fn contents_that_no_sender_means_are_refused() {
        let probe = |index, len, rate| stamp(&datagram(Stamp::Probe { stream: 1, index, len, rate, sent: Time(0) }));
        assert!(
            probe(0, 0, 1e6).is_some() && probe(40_000, 0, 1e6).is_some(),
            "probes of a sender that repairs a loss"
        );
        assert!(probe(89, 90, 0.0).is_some());
        assert_eq!(probe(90, 90, 1e6), None);
        assert_eq!(probe(u16::MAX, 90, 1e6), None);
        assert_eq!(probe(1, 90, f32::NAN), None);
        assert_eq!(probe(1, 90, f32::INFINITY), None);
        assert_eq!(probe(1, 90, -1.0), None);
        for wrong in [f32::NAN, f32::INFINITY, -1.0] {
            assert_eq!(stamp(&datagram(Stamp::Rate { rate: UNTOUCHED, rtt: wrong })), None);
            assert_eq!(stamp(&datagram(Stamp::Window { window: wrong, rtt: 0.1, feedback: UNTOUCHED })), None);
        }
    }
}
