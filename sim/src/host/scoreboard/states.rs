//! The states of outstanding segments, two bits each, so that those of most flows need no memory of their own.

use smallvec::{SmallVec, smallvec};

/// What is known of an outstanding segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum SegmentState {
    /// It was sent once and has neither arrived nor been found lost.
    InFlight = 0,
    /// It has arrived (selectively acknowledged).
    Sacked = 1,
    /// It was found lost and has not been sent again.
    Lost = 2,
    /// It was found lost, and is in flight again.
    Resent = 3,
}

/// A ring of states: that of segment s is at s modulo the room, which is a power of two.
#[derive(Clone, Debug)]
pub struct States {
    words: SmallVec<[u64; 2]>,
}

/// The number of states in a word.
const IN_WORD: u64 = 32;
/// The lower bit of each state of a word.
const LOWER_BITS: u64 = u64::MAX / 3;

impl Default for States {
    /// All segments are in flight.
    fn default() -> States {
        States { words: smallvec![0; 2] }
    }
}

impl States {
    /// For how many segments there is room.
    #[inline(always)]
    pub fn room(&self) -> u64 {
        self.words.len() as u64 * IN_WORD
    }

    /// The word that the state of `segment` is in, and by how many bits it is shifted there.
    #[inline(always)]
    fn place(&self, segment: u64) -> (usize, u64) {
        ((segment / IN_WORD) as usize & (self.words.len() - 1), segment % IN_WORD * 2)
    }

    /// The state of `segment`.
    #[inline(always)]
    pub fn get(&self, segment: u64) -> SegmentState {
        let (word, shift) = self.place(segment);
        state(self.words[word] >> shift)
    }

    /// Changes the state of `segment`. Returns what it was.
    #[inline(always)]
    pub fn replace(&mut self, segment: u64, to: SegmentState) -> SegmentState {
        let (word, shift) = self.place(segment);
        let word = &mut self.words[word];
        let before = state(*word >> shift);
        *word ^= (before as u64 ^ to as u64) << shift;
        before
    }

    /// The first segment from `from` up to, not including, `end` whose state is `wanted`.
    #[inline]
    pub fn find(&self, wanted: SegmentState, mut from: u64, end: u64) -> Option<u64> {
        while from < end {
            let (word, shift) = self.place(from);
            let differs = self.words[word] ^ (wanted as u64 * LOWER_BITS);
            let found = (!(differs | (differs >> 1)) & LOWER_BITS) >> shift;
            if found != 0 {
                let segment = from + u64::from(found.trailing_zeros() / 2);
                return (segment < end).then_some(segment);
            }
            from += IN_WORD - from % IN_WORD;
        }
        None
    }

    /// Makes room for the segments from `una` up to, not including, `next`, for which there is none. Only the first of
    /// them, as many as there is room for, may be in another state than in flight.
    #[cold]
    pub fn make_room(&mut self, una: u64, next: u64) {
        let room = (next - una).div_ceil(IN_WORD).next_power_of_two() as usize;
        let mut words = smallvec![0; room];
        let (first, len) = ((una / IN_WORD) as usize, self.words.len());
        for word in first..=first + len {
            // The first word that states are in is also the last one, if they begin within it.
            let since_una = u64::MAX << (una % IN_WORD * 2);
            let part = match word - first {
                0 => since_una,
                after if after == len => !since_una,
                _ => u64::MAX,
            };
            words[word & (room - 1)] |= self.words[word & (len - 1)] & part;
        }
        self.words = words;
    }
}

/// The state that the two lowest bits say.
#[inline(always)]
fn state(bits: u64) -> SegmentState {
    match bits % 4 {
        0 => SegmentState::InFlight,
        1 => SegmentState::Sacked,
        2 => SegmentState::Lost,
        _ => SegmentState::Resent,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_stay_as_there_is_more_room() {
        let at = |segment: u64| state(segment.wrapping_mul(segment).rotate_right(3));
        for una in [0, 5, 31, 64, (1 << 32) - 3] {
            let mut states = States::default();
            assert_eq!(states.room(), 64);
            (una..una + 64)
                .for_each(|segment| assert_eq!(states.replace(segment, at(segment)), SegmentState::InFlight));
            for room in [65, 128, 1000] {
                states.make_room(una, una + room);
                assert!((una..una + 64).all(|segment| states.get(segment) == at(segment)));
                for wanted in [SegmentState::InFlight, SegmentState::Lost] {
                    let found = (una..una + 64).map(|from| states.find(wanted, from, una + 64));
                    let expected = (una..una + 64).map(|from| (from..una + 64).find(|&segment| at(segment) == wanted));
                    assert!(found.eq(expected));
                }
                assert!((una + 64..una + room).all(|segment| states.get(segment) == SegmentState::InFlight));
            }
        }
    }
}
