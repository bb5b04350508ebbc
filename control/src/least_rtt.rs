//! The least round-trip time of the last 10 to 20 s: that of the path without queues, if these were empty once in that
//! time. An earlier one may be that of a shorter route.

use crate::units::{Duration, Time};

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct LeastRtt {
    /// The least in the previous window of time and in the present one.
    least: [Duration; 2],
    /// When the present window of time began.
    since: Time,
}

/// The length of a window of time, which is the time for which BBR remembers the least round-trip time.
const WINDOW: Duration = Duration::from_millis(10_000);

impl LeastRtt {
    /// None is known yet.
    pub fn new() -> LeastRtt {
        LeastRtt { least: [Duration::MAX; 2], since: Time::ZERO }
    }

    /// A packet was acknowledged after this round-trip time. Returns whether a window of time has begun with it.
    pub fn on_rtt(&mut self, now: Time, rtt: Duration) -> bool {
        let begins = now >= self.since + WINDOW;
        if begins {
            let before = if now < self.since + WINDOW + WINDOW { self.least[1] } else { Duration::MAX };
            (self.least, self.since) = ([before, Duration::MAX], now);
        }
        self.least[1] = self.least[1].min(rtt);
        begins
    }

    /// The least round-trip time; [`Duration::MAX`] before the first.
    pub fn get(&self) -> Duration {
        self.least[0].min(self.least[1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_trip_time_is_remembered_for_ten_to_twenty_seconds() {
        let mut least = LeastRtt::new();
        assert_eq!(least.get(), Duration::MAX);
        let after = |(second, ms): (u64, u64)| {
            least.on_rtt(Time::ZERO + Duration::from_millis(1000 * second), Duration::from_millis(ms));
            least.get().0 / Duration::from_millis(1).0
        };
        let heard = [(1, 100), (9, 150), (12, 150), (19, 150), (22, 150), (23, 140), (300, 200)];
        assert_eq!(heard.map(after), [100, 100, 100, 100, 150, 140, 200]);
    }
}
