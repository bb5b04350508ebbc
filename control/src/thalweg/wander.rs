//! How far the delay of a path wanders by itself, as it does over radio.
//!
//! A queue that flows fill and drain goes the same way for several streams, as they hear of it only after a round trip
//! and a stream. A delay that wanders turns back at every second stream. So it shows in the *reversals* of a series of
//! the least or the low delays of streams: where a change goes the other way than the change before, the reversal is
//! the smaller of the two, and otherwise it is zero. The scale is a quantile of the last reversals, which is zero while
//! fewer than two fifths of the changes turn back. If the changes are normal and independent of each other, it is a
//! tenth of their deviation.
//!
//! Packets that a full queue drops make the delay turn back, too. So what is known is forgotten with each such loss.

/// The scale on which the delay of a path wanders.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wander {
    /// The scale, ps; zero if too little is known.
    scale: i64,
    /// The last reversals, of which `noted` were written since they were last forgotten.
    reversals: [i64; NOTED],
    noted: usize,
    /// When the last of them was written.
    at: i64,
    /// The last delay and the last change, if they are known.
    delay: Option<i64>,
    change: Option<i64>,
}

/// Where the delay wanders by less than this, ps, it does not count as wandering: queues that a few flows fill and
/// drain move it by as much.
pub const LEAST_WANDER: i64 = 10_000_000_000;

/// The number of reversals that are remembered, and the least number that shows anything.
const NOTED: usize = 32;
const ENOUGH: usize = 16;
/// The scale is the reversal that this share of them does not exceed.
const QUANTILE: (usize, usize) = (9, 16);
/// Reversals are noted at most this often, ps, so that they are of a time in which queues grow as well as drain.
const SPACING: i64 = 50_000_000_000;

impl Wander {
    /// The least of some delays until `now`; both in ps, plus constants.
    pub fn on_least(&mut self, now: i64, delay: i64) {
        let change = self.delay.replace(delay).map(|before| delay.wrapping_sub(before));
        let (Some(before), Some(change)) = (core::mem::replace(&mut self.change, change), change) else {
            self.at = now;
            return;
        };
        if now.wrapping_sub(self.at) >= SPACING {
            let turned_back = (change < 0) != (before < 0);
            let reversal = if turned_back { change.saturating_abs().min(before.saturating_abs()) } else { 0 };
            self.reversals[self.noted % NOTED] = reversal;
            (self.noted, self.at) = (self.noted + 1, now);
            self.scale = self.quantile();
        }
    }

    /// Forgets all reversals.
    pub fn forget(&mut self) {
        (self.noted, self.scale) = (0, 0);
    }

    /// The scale, ps; zero if too little is known.
    pub fn scale(&self) -> i64 {
        self.scale
    }

    /// The quantile of the reversals; zero if there are too few.
    fn quantile(&self) -> i64 {
        let noted = self.noted.min(NOTED);
        if noted < ENOUGH {
            return 0;
        }
        let mut sorted = self.reversals;
        sorted[..noted].sort_unstable();
        sorted[noted * QUANTILE.0 / QUANTILE.1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000_000;

    /// The scale in ms after these delays, one each 60 ms.
    fn scale(delays: impl IntoIterator<Item = i64>) -> i64 {
        let mut wander = Wander::default();
        (0..).zip(delays).for_each(|(i, delay)| wander.on_least(i * 60 * MS, delay * MS));
        wander.scale() / MS
    }

    #[test]
    fn a_delay_that_turns_back_at_every_second_stream_wanders() {
        assert_eq!(scale((0..100).map(|i| [0, 5, 9, 4][i % 4])), 4, "changes of 5, 4, -5 and -4");
        assert_eq!(scale((0..100).map(|i| [0, 5][i % 2])), 5);
    }

    #[test]
    fn a_queue_that_grows_and_drains_does_not() {
        let queue = |period: i64| (0..100).map(move |i| 10 * (i % period).min(period - i % period));
        assert_eq!(scale(queue(10)), 0, "ten streams from one overload to the next");
        assert_eq!(scale((0..100).map(|i| 10 * i)), 0);
        assert_eq!(scale([7; 100]), 0);
    }

    #[test]
    fn few_reversals_show_nothing_and_old_ones_are_forgotten() {
        assert_eq!(scale((0..17).map(|i| [0, 5][i % 2])), 0, "fifteen reversals");
        assert_eq!(scale((0..18).map(|i| [0, 5][i % 2])), 5);
        assert_eq!(scale((0..100).map(|i| [0, 5][i % 2]).chain([0; 20])), 0);
        let mut wander = Wander::default();
        let mut hear = |steps: core::ops::Range<i64>, step: i64| {
            steps.for_each(|i| wander.on_least(i * step, [0, 5 * MS][i as usize % 2]));
            wander.scale()
        };
        assert_eq!(hear(0..700, MS), 0, "within less than a second");
        assert_eq!(hear(700..1000, MS), 5 * MS);
        wander.forget();
        assert_eq!(wander.scale(), 0);
    }

    #[test]
    fn the_clocks_of_two_hosts_may_wrap_and_differ() {
        let mut wander = Wander::default();
        (0..100).for_each(|i| {
            let [now, delay] =
                [(i64::MAX - 3000 * MS).wrapping_add(i * 60 * MS), [i64::MIN, i64::MAX - 5 * MS][i as usize % 2]];
            wander.on_least(now, delay);
        });
        assert_eq!(wander.scale(), 5 * MS + 1);
    }
}
