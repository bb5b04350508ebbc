//! The header that stamped datagrams carry in front of their QUIC packet: docs/wire.md has the layout.
//!
//! It is outside of QUIC's encryption, because routers must read it and may write the fields at its end. What the sender wrote
//! carries a tag under a key that both ends draw from their TLS session: nobody else can make a header, and none counts twice.

use control::{Stamp, Time};

/// Bytes of the header without router fields.
pub const SIZE: usize = 48;
/// Bytes of the header with a router's field.
pub const ROUTED: usize = SIZE + 8;
/// Bytes of the longest header that is read: a later version's routers may have more to say.
pub const LONGEST: usize = SIZE + 64;

/// First byte. QUIC's packets have the second bit set (RFC 9000, section 17), as long as it is not greased (RFC 9287), which these
/// endpoints turn off; no other protocol that RFC 9443 knows begins with this value.
const MAGIC: u8 = 0x1b;
const TAGGED: usize = 40;

const NONE: u8 = 0;
const PROBE: u8 = 1;
const RATE: u8 = 2;
const WINDOW: u8 = 3;

/// The key of the tags of one direction.
pub type Key = [u8; 32];

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
    /// Writes the header into the last bytes of `room`; how many it takes.
    pub fn write(&self, key: &Key, room: &mut [u8; ROUTED]) -> usize {
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
            Stamp::Rate { rate, rtt } => {
                header[1] = RATE;
                header[36..40].copy_from_slice(&rtt.to_be_bytes());
                header[48..52].copy_from_slice(&rate.to_be_bytes());
            }
            Stamp::Window { window, rtt, feedback } => {
                header[1] = WINDOW;
                header[32..36].copy_from_slice(&window.to_be_bytes());
                header[36..40].copy_from_slice(&rtt.to_be_bytes());
                header[48..52].copy_from_slice(&feedback.to_be_bytes());
            }
        }
        let tag = tag(key, &header[..TAGGED]);
        header[TAGGED..SIZE].copy_from_slice(&tag);
        size
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

    /// What it says, if the holder of `key` wrote it and it makes sense.
    pub fn verify(&self, key: &Key) -> Option<Header> {
        if !constant_time_eq(&tag(key, &self.bytes[..TAGGED]), &self.array(TAGGED)) {
            return None;
        }
        let stamp = match self.bytes[1] {
            NONE => Stamp::None,
            PROBE => {
                let stream = u32::from_be_bytes(self.array(4));
                let index = u16::from_be_bytes(self.array(32));
                let len = u16::from_be_bytes(self.array(34));
                let rate = f32::from_be_bytes(self.array(36));
                // The holder of the key may be malicious as well: no receiver need cope with what no sender means. A probe of
                // no length ends a stream.
                let sensible = rate.is_finite() && rate >= 0.0 && (index < len || (index, len) == (0, 0));
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

fn tag(key: &Key, bytes: &[u8]) -> [u8; 8] {
    *blake3::keyed_hash(key, bytes).as_bytes().first_chunk().expect("32 bytes")
}

/// Takes as long wherever the first difference is.
fn constant_time_eq(a: &[u8; 8], b: &[u8; 8]) -> bool {
    a.iter().zip(b).fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
}

/// Tells the first arrival of a number from the others, as IPsec does (RFC 4303, section 3.4.3): what is older than the window
/// counts as seen.
#[derive(Clone, Debug, Default)]
pub struct Replays {
    /// One above the highest number seen.
    next: u64,
    /// Which of the numbers below it were seen, by number modulo the window.
    seen: [u64; REMEMBERED / 64],
}

/// Numbers; reordering by more is as good as a loss.
const REMEMBERED: usize = 1024;

impl Replays {
    /// Whether `number` comes for the first time.
    pub fn is_new(&mut self, number: u64) -> bool {
        if number == u64::MAX || number.saturating_add(REMEMBERED as u64) < self.next {
            return false;
        }
        if number >= self.next {
            let skipped = (number - self.next).min(REMEMBERED as u64);
            (number - skipped..number).for_each(|n| self.seen[n as usize % REMEMBERED / 64] &= !(1 << (n % 64)));
            self.next = number + 1;
        } else if self.seen[number as usize % REMEMBERED / 64] >> (number % 64) & 1 == 1 {
            return false;
        }
        self.seen[number as usize % REMEMBERED / 64] |= 1 << (number % 64);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: Key = [7; 32];

    fn header() -> Header {
        let stamp = Stamp::Probe { stream: 9, index: 3, len: 90, rate: 1.25e9, sent: Time(123_456_789_000) };
        Header { token: 0x0123_4567_89ab_cdef, number: 77, stamp }
    }

    fn datagram(header: &Header) -> Vec<u8> {
        let mut room = [0; ROUTED];
        let size = header.write(&KEY, &mut room);
        [&room[ROUTED - size..], &[0x40; 30]].concat()
    }

    fn read(datagram: &[u8]) -> Option<Header> {
        Unverified::read(datagram)?.verify(&KEY)
    }

    #[test]
    fn what_is_written_is_read() {
        let untouched = f32::INFINITY;
        let stamps = [
            (header().stamp, SIZE),
            (Stamp::None, SIZE),
            (Stamp::Rate { rate: untouched, rtt: 0.1 }, ROUTED),
            (Stamp::Window { window: 12.5, rtt: 0.0, feedback: untouched }, ROUTED),
        ];
        for (stamp, size) in stamps {
            let header = Header { stamp, ..header() };
            let datagram = datagram(&header);
            assert_eq!(read(&datagram), Some(header));
            assert_eq!(Unverified::read(&datagram).unwrap().size, size);
        }
    }

    #[test]
    fn routers_may_write_their_field_and_nothing_else() {
        let asked = Header { stamp: Stamp::Window { window: 9.0, rtt: 0.1, feedback: f32::INFINITY }, ..header() };
        let mut datagram = datagram(&asked);
        datagram[48..52].copy_from_slice(&(-0.25f32).to_be_bytes());
        let answered = Header { stamp: Stamp::Window { window: 9.0, rtt: 0.1, feedback: -0.25 }, ..header() };
        assert_eq!(read(&datagram), Some(answered));
        for nonsense in [f32::NAN, f32::NEG_INFINITY] {
            datagram[48..52].copy_from_slice(&nonsense.to_be_bytes());
            assert_eq!(read(&datagram), None);
        }
        datagram[2..4].copy_from_slice(&(LONGEST as u16).to_be_bytes());
        assert_eq!(read(&datagram), None, "the sender decides how much room there is");
    }

    #[test]
    fn no_other_byte_may_change_and_none_may_lack() {
        let whole = datagram(&header());
        for byte in 0..SIZE {
            for bit in 0..8 {
                let mut changed = whole.clone();
                changed[byte] ^= 1 << bit;
                assert_eq!(read(&changed), None, "byte {byte} bit {bit}");
            }
        }
        for len in 0..=SIZE {
            assert_eq!(read(&whole[..len]), None, "the first {len} bytes, which leave no packet");
        }
        assert_eq!(Unverified::read(&whole).unwrap().verify(&[8; 32]), None, "another connection's key");
    }

    #[test]
    fn nonsense_by_the_holder_of_the_key_is_refused() {
        let probe = |index, len, rate| {
            read(&datagram(&Header { stamp: Stamp::Probe { stream: 1, index, len, rate, sent: Time(0) }, ..header() }))
        };
        assert!(probe(0, 0, 1e6).is_some());
        assert!(probe(89, 90, 0.0).is_some());
        assert_eq!(probe(90, 90, 1e6), None);
        assert_eq!(probe(u16::MAX, 90, 1e6), None);
        assert_eq!(probe(1, 90, f32::NAN), None);
        assert_eq!(probe(1, 90, f32::INFINITY), None);
        assert_eq!(probe(1, 90, -1.0), None);
    }

    #[test]
    fn each_number_counts_once_in_any_order() {
        let mut replays = Replays::default();
        let order = [0, 1, 5, 3, 2, 1024, 4, 1023, 5000, 4999, 3977];
        assert!(order.iter().all(|&n| replays.is_new(n)));
        assert!(order.iter().all(|&n| !replays.is_new(n)));
        assert!(!replays.is_new(3975), "older than the window");
        assert!(replays.is_new(u64::MAX - 1) && !replays.is_new(u64::MAX));
    }

    #[test]
    fn every_number_that_was_skipped_is_new_still() {
        let mut replays = Replays::default();
        assert!(replays.is_new(2000));
        assert!((977..2000).rev().all(|n| replays.is_new(n)));
        assert!((0..2000).all(|n| !replays.is_new(n)));
    }
}
