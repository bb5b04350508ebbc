//! The packets of a stream that did not arrive.

use alloc::vec::Vec;

/// The gaps in a stream, in the order of their packets.
#[derive(Clone, Debug)]
pub struct Gaps {
    gaps: Vec<Gap>,
}

/// Neighbouring packets of a stream, none of which arrived before a later one.
#[derive(Clone, Copy, Debug)]
pub struct Gap {
    /// The index of its first packet.
    pub index: u16,
    /// The index after its last packet.
    pub next: u16,
    /// How many of its packets are missing still, as others arrived reordered.
    pub missing: u16,
    /// How many packets of the stream had arrived before it.
    pub arrived: u16,
}

impl Gaps {
    /// No gaps yet, in streams of up to `longest` packets.
    pub fn new(longest: usize) -> Gaps {
        Gaps { gaps: Vec::with_capacity(longest) }
    }

    /// A new stream begins.
    pub fn clear(&mut self) {
        self.gaps.clear();
    }

    /// Packets `index` to `next` - 1 are missing, after `arrived` packets that arrived.
    pub fn on_gap(&mut self, index: u16, next: u16, arrived: usize) {
        if self.gaps.len() < self.gaps.capacity() {
            self.gaps.push(Gap { index, next, missing: next - index, arrived: arrived as u16 });
        }
    }

    /// Packet `index` arrived after later ones.
    pub fn on_reordered(&mut self, index: u16) {
        if let Some(gap) = self.gaps.iter_mut().rfind(|gap| (gap.index..gap.next).contains(&index)) {
            gap.missing = gap.missing.saturating_sub(1);
        }
    }

    /// The gaps, in the order of their packets; some may have been filled since.
    pub fn all(&self) -> &[Gap] {
        &self.gaps
    }

    /// How many packets had arrived before the first one that is missing still.
    pub fn arrived_before_first(&self) -> Option<usize> {
        self.gaps.iter().find(|gap| gap.missing > 0).map(|gap| usize::from(gap.arrived))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_that_arrive_reordered_are_not_missing() {
        let mut gaps = Gaps::new(90);
        assert_eq!(gaps.arrived_before_first(), None);
        gaps.on_gap(7, 9, 7);
        gaps.on_reordered(10); // a duplicate
        assert_eq!(gaps.arrived_before_first(), Some(7));
        [8, 7].into_iter().for_each(|index| gaps.on_reordered(index));
        assert_eq!(gaps.arrived_before_first(), None);
        gaps.on_gap(30, 31, 30);
        gaps.on_gap(40, 41, 39);
        assert_eq!(gaps.arrived_before_first(), Some(30));
    }
}
