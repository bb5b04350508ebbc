//! Blocks of memory that are used again. A new block costs a page fault for each of its pages.

use bytes::{Bytes, BytesMut};
use std::collections::VecDeque;

/// Blocks that are remembered, at most.
const REMEMBERED: usize = 32;

/// Makes blocks, preferably from those that were given away and that nobody uses any more.
#[derive(Default)]
pub(crate) struct Blocks {
    /// Oldest first: they become free in about this order.
    given: VecDeque<Bytes>,
}

impl Blocks {
    /// A block with what it had when it was given away, or an empty one with room for `size` bytes.
    pub(crate) fn take(&mut self, size: usize) -> BytesMut {
        let free = self.given.front().is_some_and(Bytes::is_unique).then(|| self.given.pop_front()).flatten();
        match free.map(Bytes::try_into_mut) {
            Some(Ok(block)) => block,
            Some(Err(_)) | None => BytesMut::with_capacity(size),
        }
    }

    /// Gives a block away, to be used again once nobody else has any part of it.
    pub(crate) fn give(&mut self, block: BytesMut) -> Bytes {
        let block = block.freeze();
        if self.given.len() < REMEMBERED {
            self.given.push_back(block.clone());
        }
        block
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_used_again_when_nobody_uses_a_part_of_it_any_more() {
        let mut blocks = Blocks::default();
        let mut block = blocks.take(1000);
        block.resize(1000, 1);
        let mut given = blocks.give(block);
        let (at, part) = (given.as_ptr(), given.split_to(10));
        drop(given);
        assert_ne!(blocks.take(1000).as_ptr(), at, "a part of it is in use");
        drop(part);
        let again = blocks.take(1000);
        assert_eq!((again.as_ptr(), again.len(), again.capacity()), (at, 1000, 1000));
    }

    #[test]
    fn the_number_of_blocks_that_are_remembered_is_bounded() {
        let mut blocks = Blocks::default();
        let given: Vec<Bytes> = (0..2 * REMEMBERED).map(|_| BytesMut::zeroed(10)).map(|b| blocks.give(b)).collect();
        assert_eq!((given.len(), blocks.given.len()), (2 * REMEMBERED, REMEMBERED));
    }
}
