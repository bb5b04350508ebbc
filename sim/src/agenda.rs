//! What happens next: a priority queue of timed events, at most a few per flow and one per busy link direction.
//!
//! A 4-ary heap of 16-byte entries. Almost every event puts its successor into the agenda; so taking the first leaves a
//! hole at the root, which the next entry fills by sinking from there, often not far.

use control::Time;

/// What is due. The order of the kinds decides between events of the same time, so that a run is the same every time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Kind {
    /// The first packet leaves a link.
    Exit = 0,
    /// A flow starts, or its controller asked to be asked again.
    Wake = 1,
    /// A retransmission timeout may have passed.
    Timeout = 2,
    /// A delayed acknowledgment may be due.
    DelayedAck = 3,
    /// Traffic that does not react sends a packet.
    Cross = 4,
    /// The measured interval begins or ends.
    Measure = 5,
    /// A sampling interval ends.
    Sample = 6,
}

const KINDS: [Kind; 7] =
    [Kind::Exit, Kind::Wake, Kind::Timeout, Kind::DelayedAck, Kind::Cross, Kind::Measure, Kind::Sample];

/// An event: what is due, of which link, flow or source.
pub type Event = (Kind, u32);

/// Time in the upper 64 bits, kind and index below: their order is the events' order.
type Entry = u128;

/// The events to come.
#[derive(Debug, Default)]
pub struct Agenda {
    heap: Vec<Entry>,
    /// The root has been taken and nothing put there yet.
    hole: bool,
}

impl Agenda {
    /// Nothing to do yet.
    pub fn new() -> Agenda {
        Agenda::default()
    }

    /// Adds an event.
    #[inline(always)]
    pub fn add(&mut self, time: Time, (kind, index): Event) {
        let entry = (time.0 as u128) << 64 | (kind as u128) << 32 | index as u128;
        if self.hole {
            self.hole = false;
            self.sink(entry);
        } else {
            self.heap.push(entry);
            self.rise(entry);
        }
    }

    /// Takes the first event.
    #[inline]
    pub fn take(&mut self) -> Option<(Time, Event)> {
        if self.hole {
            self.hole = false;
            let last = self.heap.pop()?;
            if !self.heap.is_empty() {
                self.sink(last);
            }
        }
        let first = *self.heap.first()?;
        self.hole = true;
        Some((Time((first >> 64) as u64), (KINDS[(first >> 32) as usize & 7], first as u32)))
    }

    /// Puts `entry` at the root and lets it sink to its place.
    #[inline]
    fn sink(&mut self, entry: Entry) {
        let heap = &mut self.heap[..];
        let mut at = 0;
        loop {
            let children = 4 * at + 1;
            let (least, which) = match heap.get(children..) {
                Some(&[a, b, c, d, ..]) => {
                    let (ab, i) = if b < a { (b, 1) } else { (a, 0) };
                    let (cd, j) = if d < c { (d, 3) } else { (c, 2) };
                    if cd < ab { (cd, j) } else { (ab, i) }
                }
                Some(rest @ [_, ..]) => {
                    let (i, &least) = rest.iter().enumerate().min_by_key(|&(_, &child)| child).unwrap_or((0, &entry));
                    (least, i)
                }
                _ => break,
            };
            if entry <= least {
                break;
            }
            heap[at] = least;
            at = children + which;
        }
        heap[at] = entry;
    }

    /// Lets `entry`, which was put at the end, rise to its place.
    #[cold]
    fn rise(&mut self, entry: Entry) {
        let mut at = self.heap.len() - 1;
        while at > 0 {
            let parent = (at - 1) / 4;
            if self.heap[parent] <= entry {
                break;
            }
            self.heap[at] = self.heap[parent];
            at = parent;
        }
        self.heap[at] = entry;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

    #[test]
    fn takes_in_the_order_of_time_kind_and_index() {
        let mut agenda = Agenda::new();
        let mut reference = BinaryHeap::new();
        let mut random = 1u64;
        for step in 0..20_000 {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            // Phases of growth and of decline, with many equal times.
            if reference.is_empty() || (random >> 33) % 100 < if step / 1000 % 2 == 0 { 60 } else { 40 } {
                let (time, kind, index) = ((random >> 40) % 500, (random >> 20) % 7, (random >> 10) as u32 % 9);
                agenda.add(Time(time), (KINDS[kind as usize], index));
                reference.push(Reverse((time, kind, index)));
            } else {
                let (time, (kind, index)) = agenda.take().unwrap();
                assert_eq!(Some(Reverse((time.0, kind as u64, index))), reference.pop());
            }
        }
        while let Some(Reverse(expected)) = reference.pop() {
            let (time, (kind, index)) = agenda.take().unwrap();
            assert_eq!((time.0, kind as u64, index), expected);
        }
        assert_eq!(agenda.take(), None);
    }
}
