//! The distribution of how late packets left.

use control::Duration;

/// Times up to this many microseconds are counted by the microsecond.
const MICROSECONDS: usize = 20_000;

/// A distribution of short times.
#[derive(Clone, Debug)]
pub struct Histogram {
    /// Counts by whole microseconds; the last one is of all longer times.
    counts: Vec<u64>,
    count: u64,
    longest: Duration,
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram { counts: vec![0; MICROSECONDS + 1], count: 0, longest: Duration::ZERO }
    }
}

impl Histogram {
    /// Adds a time.
    pub fn add(&mut self, time: Duration) {
        self.counts[((time.0 / 1_000_000) as usize).min(MICROSECONDS)] += 1;
        self.count += 1;
        self.longest = self.longest.max(time);
    }

    /// Number of times.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Number of times of at least `us` microseconds, which is less than 20,000.
    pub fn above(&self, us: usize) -> u64 {
        self.counts.iter().skip(us).sum()
    }

    /// The longest time.
    pub fn longest(&self) -> Duration {
        self.longest
    }

    /// The time that the share `q`, 0 to 1, does not exceed, rounded up to a microsecond, or the longest; none if there
    /// is no time.
    pub fn quantile(&self, q: f64) -> Option<Duration> {
        let rank = ((q * self.count as f64).ceil() as u64).clamp(1, self.count.max(1));
        let mut before = 0;
        let found = self.counts.iter().position(|count| {
            before += count;
            before >= rank
        })?;
        let us = if found == MICROSECONDS { u64::MAX } else { Duration::from_micros(found as u64 + 1).0 };
        Some(Duration(us).min(self.longest))
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.counts.fill(0);
        (self.count, self.longest) = (0, Duration::ZERO);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_exact_to_the_microsecond() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.quantile(0.5), None);
        (0..1000).for_each(|us| histogram.add(Duration::from_micros(us)));
        histogram.add(Duration::from_millis(70));
        assert_eq!(histogram.quantile(0.5), Some(Duration::from_micros(501)));
        assert_eq!(histogram.quantile(0.99), Some(Duration::from_micros(991)));
        assert_eq!(histogram.quantile(1.0), Some(Duration::from_millis(70)));
        assert_eq!((histogram.above(900), histogram.longest()), (101, Duration::from_millis(70)));
    }
}
