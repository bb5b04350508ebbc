//! Many first-in, first-out queues in one memory: each takes as much of it as it has values, so that thousands of
//! queues that fill and empty in turn take no more than what is in them together.

use crate::prefetch;
use control::Time;

/// The bytes of a chunk: a page of memory.
const PAGE: usize = 4096;
/// The most places of a chunk for many queues, and for very many, which are short, since the last chunk of each is used
/// by half.
const SMALL_CHUNK: u32 = 64;
const SMALLEST_CHUNK: u32 = 8;
/// Numbers of queues that are many, and very many.
const MANY: usize = 5000;
const VERY_MANY: usize = 50_000;
/// Up to this number of queues, what they need next is in the caches.
const FEW: usize = 8;
/// In place of the number of a place or a chunk.
const NONE: u32 = u32::MAX;

/// A value in a queue, with its time. Its size is a power of two, and it is aligned to that or to a cache line, so that
/// it is in as few cache lines as possible.
pub trait Timed: Copy + Default {
    /// The time.
    fn time(&self) -> Time;
}

/// The memory, in chunks, each of which belongs to one queue or to none.
#[derive(Debug)]
pub struct Pool<T> {
    /// How many places a chunk has, a power of two.
    chunk: u32,
    /// There are more than [`FEW`] queues.
    several: bool,
    /// Chunk after chunk.
    places: Vec<T>,
    /// For each chunk, the next one of its queue, or of those that belong to none.
    next: Vec<u32>,
    /// The first chunk that belongs to no queue, or [`NONE`].
    free: u32,
}

/// One of the queues in a [`Pool`], to which its values belong.
#[derive(Debug)]
pub struct Fifo {
    /// The place of the first value.
    head: u32,
    /// The place behind the last value; that of the beginning of a chunk if the next value needs another chunk.
    tail: u32,
    /// The number of values.
    len: u32,
    /// The place of the last value that [`Pool::visit`] has passed, if it is still in the queue, or [`NONE`].
    visited: u32,
}

impl Fifo {
    /// An empty queue.
    pub const fn new() -> Fifo {
        Fifo { head: 0, tail: 0, len: 0, visited: NONE }
    }

    /// Whether the queue is empty.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl Default for Fifo {
    fn default() -> Fifo {
        Fifo::new()
    }
}

impl<T: Timed> Default for Pool<T> {
    fn default() -> Pool<T> {
        Pool::new()
    }
}

impl<T: Timed> Pool<T> {
    /// How many places a chunk of a page has, a power of two.
    const IN_PAGE: u32 = {
        assert!(size_of::<T>().is_power_of_two() && size_of::<T>() <= PAGE);
        (PAGE / size_of::<T>()) as u32
    };

    /// A pool without memory.
    pub fn new() -> Pool<T> {
        Pool { chunk: Self::IN_PAGE, several: false, places: Vec::new(), next: Vec::new(), free: NONE }
    }

    /// There are so many `queues`. To be called before they have values, if it is to have an effect.
    pub fn expect(&mut self, queues: usize) {
        self.several = queues > FEW;
        if self.places.is_empty() {
            self.chunk = match queues {
                VERY_MANY.. => SMALLEST_CHUNK,
                MANY.. => SMALL_CHUNK.min(Self::IN_PAGE),
                _ => Self::IN_PAGE,
            };
        }
    }

    /// The number of the chunk that `place` is in.
    #[inline(always)]
    fn chunk_of(&self, place: u32) -> u32 {
        place >> self.chunk.trailing_zeros()
    }

    /// The first place of a chunk.
    #[inline(always)]
    fn beginning(&self, chunk: u32) -> u32 {
        chunk << self.chunk.trailing_zeros()
    }

    #[inline(always)]
    fn is_beginning(&self, place: u32) -> bool {
        place & (self.chunk - 1) == 0
    }

    /// The first value of `queue`.
    #[inline(always)]
    pub fn front(&self, queue: &Fifo) -> Option<&T> {
        if queue.is_empty() { None } else { self.places.get(queue.head as usize) }
    }

    /// The time of the first value of `queue`.
    #[inline(always)]
    pub fn time(&self, queue: &Fifo) -> Option<Time> {
        self.front(queue).map(T::time)
    }

    /// The value of `queue` behind `before` others, of which there are fewer than a chunk has places.
    #[inline]
    pub fn get(&self, queue: &Fifo, before: usize) -> Option<&T> {
        let before = before as u32;
        if before >= queue.len.min(self.chunk) {
            return None;
        }
        let place = queue.head + before;
        let in_chunk = self.chunk_of(place) == self.chunk_of(queue.head);
        let place = if in_chunk {
            place
        } else {
            let next = self.next[self.chunk_of(queue.head) as usize];
            self.beginning(next) + (place & (self.chunk - 1))
        };
        self.places.get(place as usize)
    }

    /// Prefetches the value of `queue` behind `before` others, of which there are fewer than a chunk has places, and
    /// what tells the chunk behind it.
    #[inline]
    pub fn prefetch(&self, queue: &Fifo, before: usize) {
        let Some(value) = self.get(queue, before) else { return };
        prefetch::lines(value);
        let behind = queue.head + before as u32 + 2;
        if self.chunk_of(behind) != self.chunk_of(queue.head)
            && let Some(next) = self.next.get(self.chunk_of(queue.head) as usize)
        {
            prefetch::lines(next);
        }
    }

    /// The place behind `place`, which is not the last one of its queue.
    #[inline(always)]
    fn behind(&self, place: u32) -> u32 {
        if self.is_beginning(place + 1) { self.beginning(self.next[self.chunk_of(place) as usize]) } else { place + 1 }
    }

    /// Adds a value at the end of `queue`, which the caller writes.
    #[inline(always)]
    pub fn push_place(&mut self, queue: &mut Fifo) -> &mut T {
        let place = self.add_place(queue) as usize;
        &mut self.places[place]
    }

    /// Adds a copy of the first value of `from` at the end of `queue`. Returns the copy, whose time the caller changes;
    /// none if `from` is empty.
    #[inline(always)]
    pub fn push_front_of(&mut self, from: &Fifo, queue: &mut Fifo) -> Option<&mut T> {
        if from.is_empty() {
            return None;
        }
        let place = self.add_place(queue) as usize;
        self.places[place] = self.places[from.head as usize];
        Some(&mut self.places[place])
    }

    #[inline(always)]
    fn add_place(&mut self, queue: &mut Fifo) -> u32 {
        if self.is_beginning(queue.tail) {
            let chunk = self.take_chunk();
            let beginning = self.beginning(chunk);
            if queue.is_empty() {
                queue.head = beginning;
            } else {
                let last = self.chunk_of(queue.tail - 1);
                self.next[last as usize] = chunk;
            }
            queue.tail = beginning;
        }
        queue.tail += 1;
        queue.len += 1;
        // The place that the next value will be written to, unless another chunk begins there.
        if self.several
            && let Some(next) = self.places.get(queue.tail as usize)
        {
            prefetch::lines(next);
        }
        queue.tail - 1
    }

    /// Removes the first value of `queue`, if there is one.
    #[inline(always)]
    pub fn pop(&mut self, queue: &mut Fifo) {
        if queue.is_empty() {
            return;
        }
        let place = queue.head;
        queue.len -= 1;
        if queue.visited == place {
            queue.visited = NONE;
        }
        if queue.len == 0 {
            (queue.head, queue.tail) = (0, 0);
            self.give_chunk(self.chunk_of(place));
        } else {
            queue.head = self.behind(place);
            if self.is_beginning(queue.head) {
                self.give_chunk(self.chunk_of(place));
            }
            // Its time is needed when the first value leaves. By then, it would have to be waited for.
            if self.several
                && queue.len > 1
                && let Some(second) = self.places.get(self.behind(queue.head) as usize)
            {
                prefetch::lines(second);
            }
        }
    }

    #[inline(always)]
    fn take_chunk(&mut self) -> u32 {
        let chunk = self.free;
        match self.next.get(chunk as usize) {
            Some(&next) => {
                self.free = next;
                chunk
            }
            None => self.grow(),
        }
    }

    #[inline(always)]
    fn give_chunk(&mut self, chunk: u32) {
        self.next[chunk as usize] = self.free;
        self.free = chunk;
    }

    #[cold]
    fn grow(&mut self) -> u32 {
        let chunk = self.next.len() as u32;
        self.next.push(NONE);
        self.places.resize(self.places.len() + self.chunk as usize, T::default());
        chunk
    }

    /// Passes the values of `queue` in order, beginning behind the last one that was passed before, until `visit`
    /// returns false for one, which is not passed.
    pub fn visit(&mut self, queue: &mut Fifo, mut visit: impl FnMut(&mut T) -> bool) {
        while !queue.is_empty() && queue.visited != queue.tail.wrapping_sub(1) {
            let place = if queue.visited == NONE { queue.head } else { self.behind(queue.visited) };
            if !visit(&mut self.places[place as usize]) {
                return;
            }
            queue.visited = place;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    #[test]
    fn queues_in_one_memory_agree_with_queues_of_their_own() {
        queues_agree(Pool::new());
        for queues in [MANY, VERY_MANY] {
            let mut pool = Pool::new();
            pool.expect(queues);
            queues_agree(pool);
        }
    }

    /// A number and its time.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    struct Number(Time, u64);

    impl Timed for Number {
        fn time(&self) -> Time {
            self.0
        }
    }

    fn queues_agree(mut pool: Pool<Number>) {
        let mut queues = [const { Fifo::new() }; 5];
        // Each value, and whether it was visited.
        let mut expected: [VecDeque<(u64, bool)>; 5] = Default::default();
        let (mut random, mut most) = (1u64, 0);
        for step in 0..200_000u64 {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let which = (random >> 33) as usize % 5;
            let (queue, expected) = (&mut queues[which], &mut expected[which]);
            // Phases of growth and of decline.
            match (random >> 40) % 100 {
                draw if draw < if step / 7000 % 2 == 0 { 55 } else { 40 } => {
                    *pool.push_place(queue) = Number(Time(step + 1), step);
                    expected.push_back((step, false));
                }
                98.. => {
                    let until = step.saturating_sub((random >> 50) % 200);
                    pool.visit(queue, |Number(time, value)| {
                        assert_eq!(*time, Time(*value + 1));
                        let unvisited = expected.iter_mut().find(|(_, visited)| !visited).expect("one is left");
                        assert_eq!(*value, unvisited.0);
                        unvisited.1 = unvisited.0 < until;
                        unvisited.1
                    });
                    assert!(expected.iter().all(|&(value, visited)| visited || value >= until));
                }
                _ => {
                    pool.pop(queue);
                    expected.pop_front();
                }
            }
            assert_eq!(pool.front(queue).map(|number| number.1), expected.front().map(|&(value, _)| value));
            assert_eq!(queue.visited != NONE, expected.front().is_some_and(|&(_, visited)| visited));
            assert_eq!(pool.get(queue, 5).map(|number| number.1), expected.get(5).map(|&(value, _)| value));
            assert_eq!(pool.time(queue), expected.front().map(|&(value, _)| Time(value + 1)));
            most = most.max(queues.iter().map(|queue| queue.len).sum::<u32>());
        }
        assert!(pool.places.len() as u32 <= most + 5 * 2 * pool.chunk, "{} of {most}", pool.places.len());
    }

    #[test]
    fn a_value_goes_from_one_queue_to_another() {
        let (mut pool, mut from, mut onto) = (Pool::new(), Fifo::new(), Fifo::new());
        assert_eq!(pool.push_front_of(&from, &mut onto), None);
        *pool.push_place(&mut from) = Number(Time(2), 7);
        *pool.push_front_of(&from, &mut onto).unwrap() = Number(Time(3), 8);
        assert_eq!(pool.front(&from), Some(&Number(Time(2), 7)));
        assert_eq!(pool.front(&onto), Some(&Number(Time(3), 8)));
    }
}
