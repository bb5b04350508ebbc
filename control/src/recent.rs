//! The least and the largest value of the recent past.

use crate::units::{Duration, Time};

/// The extremes of samples, slot by slot, in up to `N` slots of equal length. Samples older than the span are forgotten
/// with their slot, so that between (N-1)/N of the span and the whole span is remembered.
#[derive(Clone, Debug)]
pub(crate) struct Recent<const N: usize> {
    slots: [Slot; N],
    newest: usize,
}

/// What was seen from `begin` until the next slot began.
#[derive(Clone, Copy, Debug)]
struct Slot {
    begin: Time,
    least: f64,
    largest: f64,
}

impl<const N: usize> Recent<N> {
    /// Before the first sample.
    pub(crate) fn new() -> Recent<N> {
        let empty = Slot { begin: Time::ZERO, least: f64::INFINITY, largest: f64::NEG_INFINITY };
        Recent { slots: [empty; N], newest: 0 }
    }

    /// Adds a sample. `span` is how long samples are remembered; it may differ from call to call.
    pub(crate) fn add(&mut self, now: Time, span: Duration, value: f64) {
        if now.since(self.slots[self.newest].begin) >= Duration(span.0 / N as u64) {
            self.newest = (self.newest + 1) % N;
            self.slots[self.newest] = Slot { begin: now, least: value, largest: value };
        }
        let slot = &mut self.slots[self.newest];
        (slot.least, slot.largest) = (slot.least.min(value), slot.largest.max(value));
    }

    /// The least sample of the last `span`; infinite if there is none.
    pub(crate) fn least(&self, now: Time, span: Duration) -> f64 {
        self.within(now, span).map(|slot| slot.least).fold(f64::INFINITY, f64::min)
    }

    /// The largest sample of the last `span`; minus infinity if there is none.
    pub(crate) fn largest(&self, now: Time, span: Duration) -> f64 {
        self.within(now, span).map(|slot| slot.largest).fold(f64::NEG_INFINITY, f64::max)
    }

    fn within(&self, now: Time, span: Duration) -> impl Iterator<Item = &Slot> {
        self.slots.iter().filter(move |slot| now.since(slot.begin) <= span)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extremes_are_forgotten_after_the_span_and_not_long_before() {
        let (mut recent, span) = (Recent::<10>::new(), Duration::from_millis(1000));
        let at = |ms| Time::ZERO + Duration::from_millis(ms);
        let mut extremes = Vec::new();
        for i in 0..300u64 {
            // 5 except for a 1 at one second and a 9 at 1.2 seconds.
            let value = if i == 100 {
                1.0
            } else if i == 120 {
                9.0
            } else {
                5.0
            };
            recent.add(at(10 * i), span, value);
            extremes.push((recent.least(at(10 * i), span), recent.largest(at(10 * i), span)));
        }
        assert!(extremes[..100].iter().all(|&both| both == (5.0, 5.0)));
        assert!(extremes[100..120].iter().all(|&both| both == (1.0, 5.0)));
        assert!(extremes[120..190].iter().all(|&both| both == (1.0, 9.0)));
        assert!(extremes[201..210].iter().all(|&both| both == (5.0, 9.0)));
        assert!(extremes[221..].iter().all(|&both| both == (5.0, 5.0)));
    }

    #[test]
    fn a_pause_that_is_longer_than_the_span_leaves_the_new_sample_alone() {
        let (mut recent, span) = (Recent::<4>::new(), Duration::from_millis(100));
        for (ms, value) in [(0, 1.0), (30, 2.0), (60, 3.0), (500, 7.0)] {
            recent.add(Time::ZERO + Duration::from_millis(ms), span, value);
        }
        let now = Time::ZERO + Duration::from_millis(500);
        assert_eq!((recent.least(now, span), recent.largest(now, span)), (7.0, 7.0));
    }
}
