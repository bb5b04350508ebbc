//! A first-in, first-out queue in a ring of slots: as `VecDeque`, but for small values that are copied, with half the
//! instructions per packet.

/// A first-in, first-out queue. It grows as needed, and shrinks only in [`Ring::release`].
#[derive(Clone, Debug, Default)]
pub struct Ring<T> {
    /// The slots, whose number is a power of two or zero.
    slots: Vec<T>,
    /// The number of the first value, and of the next one to be added. Value n is in slot n modulo the number of slots.
    head: usize,
    tail: usize,
}

/// The least number of slots of a ring that has held a value.
const FEWEST: usize = 4;

impl<T: Copy + Default> Ring<T> {
    /// An empty ring.
    pub fn new() -> Ring<T> {
        Ring { slots: Vec::new(), head: 0, tail: 0 }
    }

    /// Number of values in the ring.
    #[inline]
    pub fn len(&self) -> usize {
        self.tail.wrapping_sub(self.head)
    }

    /// Whether the ring is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.head == self.tail
    }

    /// Adds a value at the end, which the caller writes.
    #[inline(always)]
    pub fn push_place(&mut self) -> &mut T {
        if self.len() == self.slots.len() {
            self.grow();
        }
        let at = self.tail & (self.slots.len() - 1);
        self.tail = self.tail.wrapping_add(1);
        &mut self.slots[at]
    }

    /// The first value.
    #[inline]
    pub fn front(&self) -> Option<&T> {
        if self.is_empty() { None } else { self.slots.get(self.head & (self.slots.len() - 1)) }
    }

    /// The value behind `before` others.
    #[inline]
    pub fn get(&self, before: usize) -> Option<&T> {
        if before < self.len() { self.slots.get(self.head.wrapping_add(before) & (self.slots.len() - 1)) } else { None }
    }

    /// Removes the first value, if there is one.
    #[inline]
    pub fn pop(&mut self) {
        if !self.is_empty() {
            self.head = self.head.wrapping_add(1);
        }
    }

    /// Returns the memory to the system if the ring is empty and has more than `most` slots.
    pub fn release(&mut self, most: usize) {
        if self.is_empty() && self.slots.len() > most {
            *self = Ring::new();
        }
    }

    #[inline]
    fn grow(&mut self) {
        self.resize((2 * self.slots.len()).max(FEWEST));
    }

    #[cold]
    fn resize(&mut self, room: usize) {
        let mut slots = Vec::with_capacity(room);
        slots.extend((self.head..self.tail).map(|n| self.slots[n & (self.slots.len() - 1)]));
        self.tail = slots.len();
        self.head = 0;
        slots.resize(room, T::default());
        self.slots = slots;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    #[test]
    fn agrees_with_a_deque_while_it_wraps_and_grows() {
        let (mut ring, mut queue, mut random) = (Ring::new(), VecDeque::new(), 1u64);
        for step in 0..100_000u64 {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            // Phases of growth and of decline.
            if (random >> 33) % 100 < if step / 5000 % 2 == 0 { 60 } else { 45 } {
                *ring.push_place() = step;
                queue.push_back(step);
            } else {
                ring.pop();
                queue.pop_front();
            }
            assert_eq!(ring.get(2), queue.get(2));
            assert_eq!((ring.front(), ring.len(), ring.is_empty()), (queue.front(), queue.len(), queue.is_empty()));
        }
    }
}
