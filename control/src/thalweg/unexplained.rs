//! The packets of a stream that did not arrive, and whether transmission errors explain them.

use crate::pstream::{Gap, Gaps};

/// A stream of which this share of packets is missing, beyond what errors explain, met a full queue.
const MUCH: f64 = 0.25;
/// Losses are explained by errors up to the expected number of errors and this many standard deviations of it.
const DEVIATIONS: f64 = 2.0;

/// Tells losses from transmission errors.
#[derive(Clone, Copy, Debug)]
pub struct Unexplained {
    /// The share of packets whose loss errors explain.
    errors: f64,
}

impl Unexplained {
    /// Errors explain the loss of this share of packets.
    pub fn beyond(errors: f64) -> Unexplained {
        Unexplained { errors }
    }

    /// Whether a quarter of the packets up to index `next` - 1 is missing that errors do not explain; never, if there
    /// are no errors.
    pub fn is_much(&self, gaps: &Gaps, next: u16) -> bool {
        let lost: u32 = gaps.all().iter().map(|gap| u32::from(gap.missing)).sum();
        self.errors > 0.0 && f64::from(lost) > (self.errors + MUCH) * f64::from(next)
    }

    /// How many packets had arrived when more began to be lost than errors explain, in a stream whose packets are known
    /// of up to index `next` - 1. None if that did not happen.
    pub fn cut(&self, gaps: &Gaps, next: u16) -> Option<usize> {
        let (mut lost, mut most, mut cut) = (0.0, 0.0, None);
        for &Gap { index, missing, arrived, .. } in gaps.all().iter().rev() {
            lost += missing as f64;
            let expected = self.errors * next.saturating_sub(index) as f64;
            let excess = lost - expected;
            if missing > 0 && excess > most && excess > DEVIATIONS * libm::sqrt(expected) {
                (most, cut) = (excess, Some(arrived as usize));
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
        let mut gaps = Gaps::new(90);
        (0..).zip(missing).for_each(|(before, &index)| gaps.on_gap(index, index + 1, (index - before) as usize));
        Unexplained::beyond(errors).cut(&gaps, 90)
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
    fn a_quarter_of_the_packets_beyond_errors_is_much() {
        let is_much = |errors, missing: u16| {
            let mut gaps = Gaps::new(90);
            gaps.on_gap(10, 10 + missing, 10);
            Unexplained::beyond(errors).is_much(&gaps, 90)
        };
        assert!(!is_much(0.02, 24) && is_much(0.02, 25) && !is_much(0.0, 60));
    }
}
