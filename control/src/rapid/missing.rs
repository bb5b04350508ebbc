//! The packets of a p-stream that did not arrive, and whether transmission errors explain them.

use alloc::vec::Vec;

/// A stream's gaps.
#[derive(Clone, Debug)]
pub(super) struct Missing {
    /// Share of packets whose loss errors explain.
    errors: f64,
    gaps: Vec<Gap>,
}

#[derive(Clone, Copy, Debug)]
struct Gap {
    /// Its first packet.
    index: u16,
    /// The one after it.
    next: u16,
    /// How many of its packets are missing still: others come late.
    count: u16,
    /// Packets that had arrived before it.
    arrived: u16,
}

impl Missing {
    /// In streams of up to `longest` packets.
    pub(super) fn new(errors: f64, longest: usize) -> Missing {
        Missing { errors, gaps: Vec::with_capacity(longest) }
    }

    /// In a stream of which `index` is the first to arrive: without tolerance, one whose beginning was lost is analysed from what arrived.
    pub(super) fn first_of_interest(&self, index: u16) -> u16 {
        if self.errors == 0.0 { index } else { 0 }
    }

    /// Whether, if errors are tolerated, a quarter of a stream is missing that they do not explain; packets up to `next` - 1 are known of.
    pub(super) fn is_much(&self, next: u16) -> bool {
        let lost: u32 = self.gaps.iter().map(|gap| u32::from(gap.count)).sum();
        self.errors > 0.0 && f64::from(lost) > (self.errors + 0.25) * f64::from(next)
    }

    /// A new stream begins.
    pub(super) fn clear(&mut self) {
        self.gaps.clear();
    }

    /// Packets `index` to `next` - 1 are missing, after so many that arrived.
    pub(super) fn on_gap(&mut self, index: u16, next: u16, arrived: usize) {
        if self.gaps.len() < self.gaps.capacity() {
            self.gaps.push(Gap { index, next, count: next - index, arrived: arrived as u16 });
        }
    }

    /// This packet came after later ones.
    pub(super) fn on_late(&mut self, index: u16) {
        if let Some(gap) = self.gaps.iter_mut().rfind(|gap| (gap.index..gap.next).contains(&index)) {
            gap.count = gap.count.saturating_sub(1);
        }
    }

    /// How many packets had arrived when more began to be lost than errors explain (the mean number of errors and two standard deviations),
    /// in a stream of which packets up to `next` - 1 are known of. None if that did not happen.
    pub(super) fn cut(&self, next: u16) -> Option<usize> {
        let (mut lost, mut most, mut cut) = (0.0, 0.0, None);
        for gap in self.gaps.iter().rev() {
            lost += gap.count as f64;
            let expected = self.errors * next.saturating_sub(gap.index) as f64;
            let excess = lost - expected;
            if gap.count > 0 && excess > most && excess > 2.0 * libm::sqrt(expected) {
                (most, cut) = (excess, Some(gap.arrived as usize));
            }
        }
        cut
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 90 packets, these are missing.
    fn cut(errors: f64, missing: &[u16]) -> Option<usize> {
        let mut all = Missing::new(errors, 90);
        (0..).zip(missing).for_each(|(before, &index)| all.on_gap(index, index + 1, (index - before) as usize));
        all.cut(90)
    }

    #[test]
    fn without_errors_the_first_gap_counts() {
        assert_eq!((cut(0.0, &[]), cut(0.0, &[40]), cut(0.0, &[40, 41, 80])), (None, Some(40), Some(40)));
    }

    #[test]
    fn errors_are_few_and_scattered() {
        assert_eq!(cut(0.02, &[3, 20, 41, 60]), None);
        assert_eq!(cut(0.02, &[3, 60, 64, 68, 72, 76, 80, 84]), Some(59), "the first one was an error");
        assert_eq!(cut(0.02, &[3, 89]), Some(88), "near the end, one is enough");
    }

    #[test]
    fn what_comes_late_is_not_missing() {
        let mut missing = Missing::new(0.0, 90);
        missing.on_gap(7, 9, 7);
        missing.on_late(10); // it came twice
        assert_eq!(missing.cut(90), Some(7));
        [8, 7].into_iter().for_each(|index| missing.on_late(index));
        assert_eq!(missing.cut(90), None);
        missing.on_gap(30, 31, 30);
        assert_eq!(missing.cut(90), Some(30));
    }
}
