//! The header that stamped datagrams carry in front of their QUIC packet: docs/wire.md has the layout.
//!
//! It is outside of QUIC's encryption, because routers must read it and may write the field at its end. What the sender wrote
//! carries a tag, which whoever holds the key makes and checks; that is no matter of the layout, and not of routers.

use control::{Stamp, Time};

/// Bytes of the header without router fields.
pub const SIZE: usize = 48;
/// Bytes of the header with a router's field.
pub const ROUTED: usize = SIZE + 8;
/// Bytes of the longest header that is read: a later version's routers may have more to say.
pub const LONGEST: usize = SIZE + 64;
/// The first bytes, which the tag is of; it follows them.
pub const TAGGED: usize = 40;

/// First byte. QUIC's packets have the second bit set (RFC 9000, section 17), as long as it is not greased (RFC 9287), which these
/// endpoints turn off; no other protocol that RFC 9443 knows begins with this value.
pub const MAGIC: u8 = 0x1b;

const NONE: u8 = 0;
const PROBE: u8 = 1;
const RATE: u8 = 2;
const WINDOW: u8 = 3;

/// What tells a header of the key's holder from any other.
pub type Tag = [u8; SIZE - TAGGED];

/// What a header says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Header {
    /// Names the flow to its receiver, which chose it.
    pub token: u64,
    /// Counts the flow's stamped datagrams.
    pub number: u64,
    /// The sender's stamp.
    pub stamp: Stamp,
}

impl Header {
    /// Writes the header into the last bytes of `room`, with the tag that `tag` makes of its first ones; how many it takes.
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

/// What a router on the way reads: the stamp of `datagram`, if it carries one that makes sense. Routers cannot check the tag.
pub fn stamp(datagram: &[u8]) -> Option<Stamp> {
    Some(Unverified::read(datagram)?.header()?.stamp)
}

/// Writes what routers have made of `stamp` into the header that `datagram` carried it in, where they may write: behind the tag.
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

/// A header as it arrived, of which only the shape is known yet.
#[derive(Clone, Copy, Debug)]
pub struct Unverified<'a> {
    bytes: &'a [u8; SIZE],
    /// What routers write, if there is room for it.
    routed: Option<f32>,
    /// How much of the datagram the header takes.
    pub size: usize,
}

impl<'a> Unverified<'a> {
    /// Whether a datagram claims to carry a header. If not, it may be QUIC's.
    pub fn claimed(datagram: &[u8]) -> bool {
        datagram.first() == Some(&MAGIC)
    }

    /// The header in front of `datagram`, if it has the shape of one.
    pub fn read(datagram: &'a [u8]) -> Option<Unverified<'a>> {
        let bytes: &[u8; SIZE] = datagram.first_chunk()?;
        let size = u16::from_be_bytes([bytes[2], bytes[3]]) as usize;
        let fits = Unverified::claimed(datagram) && (SIZE..=LONGEST).contains(&size) && size < datagram.len();
        let routed = datagram[SIZE..].first_chunk().filter(|_| size >= ROUTED).copied();
        fits.then_some(Unverified { bytes, routed: routed.map(f32::from_be_bytes), size })
    }

    /// Whose header it claims to be.
    pub fn token(&self) -> u64 {
        u64::from_be_bytes(self.array(8))
    }

    /// The bytes that the tag is of.
    pub fn tagged(&self) -> &[u8] {
        &self.bytes[..TAGGED]
    }

    /// Their tag, as it arrived.
    pub fn tag(&self) -> Tag {
        self.array(TAGGED)
    }

    /// What it says, if that makes sense, whoever wrote it. The holder of the key may be malicious as well: neither receivers nor
    /// routers need cope with what no sender means.
    pub fn header(&self) -> Option<Header> {
        let stamp = match self.bytes[1] {
            NONE => Stamp::None,
            PROBE => {
                let stream = u32::from_be_bytes(self.array(4));
                let index = u16::from_be_bytes(self.array(32));
                let len = u16::from_be_bytes(self.array(34));
                let rate = f32::from_be_bytes(self.array(36));
                // Probes of no length, any number of them, are those of a sender that repairs a loss: they end a stream.
                let sensible = rate.is_finite() && rate >= 0.0 && (index < len || len == 0);
                if !sensible {
                    return None;
                }
                Stamp::Probe { stream, index, len, rate, sent: Time(u64::from_be_bytes(self.array(24))) }
            }
            RATE | WINDOW => {
                let window = f32::from_be_bytes(self.array(32));
                let rtt = f32::from_be_bytes(self.array(36));
                // Infinite: no router has written anything.
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

    /// The datagram that a sender makes of `stamp`.
    fn datagram(stamp: Stamp) -> Vec<u8> {
        let mut room = [0; ROUTED];
        let size = Header { token: 0x0123_4567_89ab_cdef, number: 77, stamp }.write(&mut room, |_| [9; 8]);
        [&room[ROUTED - size..], &[0x40; 30]].concat()
    }

    #[test]
    fn what_is_written_is_read() {
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
    fn routers_answer_and_change_nothing_else() {
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
        assert_eq!(after, probe, "whose packet begins where the field would be");
    }

    #[test]
    fn an_answer_that_is_no_number_is_none() {
        for nonsense in [f32::NAN, f32::NEG_INFINITY] {
            let mut datagram = datagram(Stamp::Window { window: 9.0, rtt: 0.1, feedback: UNTOUCHED });
            datagram[SIZE..SIZE + 4].copy_from_slice(&nonsense.to_be_bytes());
            assert_eq!(stamp(&datagram), None);
        }
    }

    #[test]
    fn what_is_cut_or_of_another_protocol_is_no_header() {
        let whole = datagram(Stamp::Rate { rate: UNTOUCHED, rtt: 0.1 });
        for len in 0..=ROUTED {
            assert_eq!(stamp(&whole[..len]), None, "the first {len} bytes, which leave no packet");
        }
        let quic = [&[0x40], &whole[1..]].concat();
        assert_eq!(stamp(&quic), None);
        let unknown = [&[MAGIC, 4], &whole[2..]].concat();
        assert_eq!(stamp(&unknown), None);
    }

    #[test]
    fn what_no_sender_means_is_refused() {
        let probe = |index, len, rate| stamp(&datagram(Stamp::Probe { stream: 1, index, len, rate, sent: Time(0) }));
        assert!(probe(0, 0, 1e6).is_some() && probe(40_000, 0, 1e6).is_some(), "what repairs a loss");
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
