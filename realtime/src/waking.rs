//! How long before something is due sleep must end, and spinning begin.

use control::{Duration, Time};

/// As long as it takes to be woken, but for a few times.
#[derive(Debug)]
pub struct Waking {
    takes: Duration,
    /// One time in so many, it takes longer.
    times: u64,
}

/// It is not less, and so much more that nothing else would run is not waited for.
const WITHIN: (Duration, Duration) = (Duration::from_micros(2), Duration::from_micros(50));
/// By how much it is corrected if it was enough; if it was too little, by so much more that both balance.
const STEP: Duration = Duration(100_000); // 0.1 us

impl Waking {
    /// One time in so many (at least 2), waking may take longer.
    pub fn new(times: u64) -> Waking {
        Waking { takes: WITHIN.1, times }
    }

    /// How long it takes.
    pub fn takes(&self) -> Duration {
        self.takes
    }

    /// Sleep was to end at `until`, and did at `woken`; if that is earlier, there was another reason.
    pub fn learn(&mut self, until: Time, woken: Time) {
        if woken >= until {
            let enough = woken.since(until) <= self.takes;
            self.takes = if enough { self.takes - STEP } else { self.takes + Duration(STEP.0 * (self.times - 1)) };
            self.takes = self.takes.clamp(WITHIN.0, WITHIN.1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleep_ends_early_enough_all_but_one_time_in_so_many() {
        for times in [10, 50] {
            let mut waking = Waking::new(times);
            let mut learn = |i: u64| {
                let late = Duration::from_micros(10 + i * 7 % 20);
                let enough = late <= waking.takes();
                waking.learn(Time::ZERO, Time::ZERO + late);
                enough
            };
            let late = (0..20_000).map(&mut learn).filter(|&enough| !enough).count() as u64;
            assert!((17_500..=22_500).contains(&(late * times)), "{late} of 20,000, wanted one in {times}");
            (0..20_000).for_each(|_| waking.learn(Time::ZERO, Time::ZERO + Duration::from_millis(3)));
            assert_eq!(waking.takes(), WITHIN.1);
            (0..20_000).for_each(|_| waking.learn(Time::ZERO, Time::ZERO));
            assert_eq!(waking.takes(), WITHIN.0);
        }
    }
}
