//! A first-in, first-out queue whose first few values need no memory of their own: for what a flow seldom has many of,
//! where there are many flows.

use smallvec::{Array, SmallVec};
use std::fmt::Debug;

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct ShortQueue<A: Array<Item: Copy + Debug>> {
    /// The values, and before them those that have been taken out.
    values: SmallVec<A>,
    /// How many have been taken out.
    taken: usize,
}

impl<A: Array<Item: Copy + Debug>> Default for ShortQueue<A> {
    fn default() -> ShortQueue<A> {
        ShortQueue { values: SmallVec::new(), taken: 0 }
    }
}

impl<A: Array<Item: Copy + Debug>> ShortQueue<A> {
    /// Adds a value at the end.
    #[inline]
    pub fn push_back(&mut self, value: A::Item) {
        // Where half of the memory is that of values taken out, it serves again.
        if self.values.len() == self.values.capacity() && 2 * self.taken >= self.values.len() {
            self.values.drain(..self.taken);
            self.taken = 0;
        }
        self.values.push(value);
    }

    /// The first value.
    #[inline]
    pub fn front(&self) -> Option<&A::Item> {
        self.values.get(self.taken)
    }

    /// Takes out the first value.
    #[inline]
    pub fn pop_front(&mut self) -> Option<A::Item> {
        let value = *self.front()?;
        self.taken += 1;
        if self.taken == self.values.len() {
            self.clear();
        }
        Some(value)
    }

    /// Takes out all values.
    #[inline]
    pub fn clear(&mut self) {
        self.values.clear();
        self.taken = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    #[test]
    fn it_is_a_queue() {
        let (mut queue, mut expected) = (ShortQueue::<[u32; 4]>::default(), VecDeque::new());
        let mut random = 1u64;
        for step in 0..10_000 {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            // The queue grows and shrinks, up to some hundreds of values.
            if (random >> 33) % 100 < if step / 1000 % 2 == 0 { 60 } else { 45 } {
                queue.push_back(step);
                expected.push_back(step);
            } else {
                assert_eq!(queue.pop_front(), expected.pop_front());
            }
            assert_eq!(queue.front(), expected.front());
        }
        queue.clear();
        assert_eq!(queue.pop_front(), None);
    }

    #[test]
    fn what_has_been_taken_out_takes_no_memory() {
        let mut queue = ShortQueue::<[u32; 4]>::default();
        (0..3).for_each(|value| queue.push_back(value));
        for value in 3..10_000 {
            queue.push_back(value);
            assert_eq!(queue.pop_front(), Some(value - 3));
        }
        assert!(queue.values.capacity() <= 16);
    }
}
