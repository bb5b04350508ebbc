//! How long before its time a thread must end its sleep and begin to spin.

use crate::from_std;
use control::Duration;
use std::time::Instant;

/// How long it takes to be woken, apart from a small share of the cases.
#[derive(Debug)]
pub struct Waking {
    takes: Duration,
    /// The longest time that waking is taken to last.
    most: Duration,
    /// In one case of this many it takes longer.
    cases: u64,
}

/// Bounds of the time that waking is taken to last. A longer one would leave no processor time to others.
const BOUNDS: (Duration, Duration) = (Duration::from_micros(2), Duration::from_micros(50));
/// By how much the time shrinks after a case in which it was enough. After one in which it was too short it grows by so
/// much more that both balance at the wanted share of cases.
const STEP: Duration = Duration(100_000); // 0.1 us

impl Waking {
    /// In one case in `cases` (at least 2), waking may take longer.
    pub fn new(cases: u64) -> Waking {
        Waking::within(cases, BOUNDS.1)
    }

    /// The same, for a thread that spins for no longer than `most` (2 to 50 microseconds) and accepts to be late more
    /// often than that.
    pub fn within(cases: u64, most: Duration) -> Waking {
        let most = most.clamp(BOUNDS.0, BOUNDS.1);
        Waking { takes: most, most, cases }
    }

    /// How long waking takes: 2 to 50 microseconds.
    pub fn takes(&self) -> Duration {
        self.takes
    }

    /// Sleep was to end at `until`, and ended at `woken`. If that is earlier, the thread was woken for another reason,
    /// and nothing is learnt.
    pub fn learn(&mut self, until: Instant, woken: Instant) {
        if let Some(late) = woken.checked_duration_since(until) {
            let enough = from_std(late) <= self.takes;
            self.takes = if enough { self.takes - STEP } else { self.takes + Duration(STEP.0 * (self.cases - 1)) };
            self.takes = self.takes.clamp(BOUNDS.0, self.most);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::to_std;

    #[test]
    fn sleep_ends_early_enough_in_all_but_one_of_so_many_cases() {
        let until = Instant::now();
        for cases in [10, 50] {
            let mut waking = Waking::new(cases);
            let mut learn = |i: u64| {
                let late = Duration::from_micros(10 + i * 7 % 20);
                let enough = late <= waking.takes();
                waking.learn(until, until + to_std(late));
                enough
            };
            let late = (0..20_000).map(&mut learn).filter(|&enough| !enough).count() as u64;
            assert!((17_500..=22_500).contains(&(late * cases)), "{late} of 20,000, wanted one in {cases}");
            (0..20_000).for_each(|_| waking.learn(until, until + to_std(Duration::from_millis(3))));
            assert_eq!(waking.takes(), BOUNDS.1);
            (0..20_000).for_each(|_| waking.learn(until, until));
            assert_eq!(waking.takes(), BOUNDS.0);
        }
    }
}
