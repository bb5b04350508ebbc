//! Traffic that does not react to congestion: when each packet of a source leaves.

use control::{Duration, Time};
use experiment::traffic::{Random, Stream};
use experiment::{Cross, Pattern};

/// One source.
pub struct CrossSource {
    pattern: Pattern,
    /// The time between two packets: constant, the mean, or the time while the source is on.
    interval: Duration,
    /// The rest of the current on-period.
    on: Duration,
    random: Random,
}

impl CrossSource {
    /// Source number `index` of a run with this `seed`.
    pub fn new(cross: &Cross, seed: u64, index: usize) -> CrossSource {
        let interval = cross.rate.time_for(cross.packet).max(Duration(1));
        CrossSource {
            pattern: cross.pattern,
            interval,
            on: Duration::ZERO,
            random: Random::new(seed, Stream::Cross, &[index as u64]),
        }
    }

    /// When the first packet leaves, if the source starts at `start`.
    pub fn first(&mut self, start: Time) -> Time {
        match self.pattern {
            Pattern::Constant => start,
            // The number of packets in any interval is Poisson distributed, also in the first one.
            Pattern::Poisson => start + self.gap(),
            // The source is on or off with the probabilities of the long run, so that many sources do not start
            // together.
            Pattern::OnOff { on, off, shape } => {
                let off_share = off.as_secs() / (on.as_secs() + off.as_secs());
                let silent = self.random.uniform() <= off_share;
                self.on = draw(&mut self.random, on, shape);
                if silent { start + draw(&mut self.random, off, shape) } else { start }
            }
        }
    }

    /// How long after a packet the next one leaves.
    #[inline]
    pub fn gap(&mut self) -> Duration {
        match self.pattern {
            Pattern::Constant => self.interval,
            Pattern::Poisson => Duration(self.random.exponential(self.interval.0 as f64) as u64),
            Pattern::OnOff { on, off, shape } => {
                // Only time while the source is on counts: the rest of an interval that does not fit into an on-period
                // is left to the next one, so that the mean rate is `rate` on / (on + off) whatever the periods are.
                let (mut gap, mut left) = (Duration::ZERO, self.interval);
                while left > self.on {
                    left -= self.on;
                    gap += self.on + draw(&mut self.random, off, shape);
                    self.on = draw(&mut self.random, on, shape);
                }
                self.on -= left;
                gap + left
            }
        }
    }
}

/// A random period with this mean, at least a picosecond.
fn draw(random: &mut Random, mean: Duration, shape: f64) -> Duration {
    Duration(random.pareto(mean.0 as f64, shape) as u64).max(Duration(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::{Bytes, Rate};
    use path::Route;

    /// When the packets of a source leave, in seconds, in the first `seconds`.
    fn departures(pattern: Pattern, index: usize, seconds: f64) -> Vec<f64> {
        let cross = Cross {
            rate: Rate::from_mbps(8.0),
            pattern,
            packet: Bytes(1000),
            route: Route { links: vec![0], reverse: false },
            start: Time::ZERO,
            stop: Time::MAX,
        };
        let mut source = CrossSource::new(&cross, 1, index);
        let mut now = source.first(cross.start);
        let mut all = Vec::new();
        while now.as_secs() < seconds {
            all.push(now.as_secs());
            now += source.gap();
        }
        all
    }

    #[test]
    fn constant_traffic_has_equal_gaps() {
        let all = departures(Pattern::Constant, 0, 1.0);
        assert_eq!((all.len(), all[0], all[999]), (1000, 0.0, 0.999));
    }

    /// The number of packets in an interval has a variance equal to its mean, and the numbers in two intervals are
    /// independent.
    #[test]
    fn poisson_counts_have_the_variance_of_their_mean() {
        let seconds = 1000.0;
        let all = departures(Pattern::Poisson, 0, seconds);
        let bins = (seconds * 100.0) as usize; // 10 packets in each on average
        let mut counts = vec![0.0; bins];
        all.iter().for_each(|time| counts[(time * 100.0) as usize] += 1.0);
        let mean = counts.iter().sum::<f64>() / bins as f64;
        let centred: Vec<f64> = counts.iter().map(|n| n - mean).collect();
        let variance = centred.iter().map(|x| x * x).sum::<f64>() / bins as f64;
        let covariance = centred.windows(2).map(|w| w[0] * w[1]).sum::<f64>() / bins as f64;
        println!("mean {mean:.3}, variance {variance:.3}, covariance {covariance:.3}");
        // Five standard errors: sqrt(10 / 1e5), 10 sqrt(2.1 / 1e5), 10 / sqrt(1e5).
        assert!((mean - 10.0).abs() < 0.05 && (variance - 10.0).abs() < 0.23 && covariance.abs() < 0.16);
    }

    #[test]
    fn on_off_sources_keep_their_mean_rate_and_their_peak() {
        let ms = Duration::from_millis;
        for (on, off, shape, tolerance) in [(ms(50), ms(150), 3.0, 0.02), (ms(500), ms(500), 1.5, 0.15)] {
            let seconds = 2000.0;
            let all = departures(Pattern::OnOff { on, off, shape }, 0, seconds);
            let expected = 1000.0 * seconds * on.as_secs() / (on.as_secs() + off.as_secs());
            assert!((all.len() as f64 / expected - 1.0).abs() < tolerance, "{} of {expected}", all.len());
            let least = all.windows(2).map(|w| w[1] - w[0]).fold(f64::INFINITY, f64::min);
            assert!(least > 0.001 - 1e-9, "{least}");
        }
    }

    #[test]
    fn periods_shorter_than_a_packet_do_not_raise_the_rate() {
        let us = Duration::from_micros;
        let all = departures(Pattern::OnOff { on: us(100), off: us(300), shape: 1.9 }, 0, 200.0);
        assert!((all.len() as f64 / 50_000.0 - 1.0).abs() < 0.05, "{}", all.len());
    }

    #[test]
    fn sources_are_independent() {
        let (one, other) = (departures(Pattern::Poisson, 0, 1.0), departures(Pattern::Poisson, 1, 1.0));
        assert!(one[0] != other[0] && one == departures(Pattern::Poisson, 0, 1.0));
    }
}
