//! Which slots of a ring of slots are not empty, one bit per slot.

/// See the [module](self). The number of slots is a power of two, and at least 64.
#[derive(Debug)]
pub struct Occupied {
    words: Vec<u64>,
    /// Number of slots that are not empty.
    number: usize,
}

impl Occupied {
    /// All `slots` are empty.
    pub fn new(slots: usize) -> Occupied {
        debug_assert!(slots.is_power_of_two() && slots >= 64, "{slots} slots");
        Occupied { words: vec![0; slots / 64], number: 0 }
    }

    /// The number of slots, less one.
    #[inline(always)]
    pub fn mask(&self) -> usize {
        self.words.len() * 64 - 1
    }

    /// Whether all slots are empty.
    #[inline(always)]
    pub fn is_none(&self) -> bool {
        self.number == 0
    }

    /// This slot is not empty from now on.
    #[inline(always)]
    pub fn set(&mut self, slot: usize) {
        let (word, bit) = (&mut self.words[slot / 64], 1 << (slot % 64));
        self.number += usize::from(*word & bit == 0);
        *word |= bit;
    }

    /// This slot is empty from now on.
    #[inline(always)]
    pub fn clear(&mut self, slot: usize) {
        let (word, bit) = (&mut self.words[slot / 64], 1 << (slot % 64));
        self.number -= usize::from(*word & bit != 0);
        *word &= !bit;
    }

    /// The number, at or after `from` and within a turn, of the next slot that is not empty. Number n stands for slot n
    /// modulo the number of slots.
    pub fn next(&self, from: usize) -> Option<usize> {
        if self.is_none() {
            return None;
        }
        let mask = self.mask();
        let words = self.words.len();
        let (first, bit) = ((from & mask) / 64, from % 64);
        for step in 0..=words {
            let mut word = self.words[(first + step) & (words - 1)];
            if step == 0 {
                word &= !0 << bit;
            }
            if word != 0 {
                let slot = ((first + step) & (words - 1)) * 64 + word.trailing_zeros() as usize;
                return Some(from + (slot.wrapping_sub(from) & mask));
            }
        }
        None
    }
}
