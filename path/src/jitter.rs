//! Jitter: an extra delay that varies at random over time and keeps packets in order.
//!
//! Let x and y be two independent Ornstein-Uhlenbeck processes of mean 0, variance 1 and correlation time 2 c. The
//! extra delay at time t is D(t) = mean * (x(t)^2 + y(t)^2) / 2. Its distribution is exponential with that mean,
//! because x^2 + y^2 has the chi-squared distribution with two degrees of freedom. Its autocorrelation is exp(-|t| /
//! c): that of the square of a normal process is the square of the process's own, here exp(-|t| / 2c)^2.
//!
//! The process is drawn at the multiples of c / 16, exactly, and is a straight line between them. So it is a function
//! of the seed and the time alone: it does not depend on how many packets are sent, nor on when.

use control::{Duration, Time};
use core::f64::consts::TAU;
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The jitter of one direction of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jitter {
    /// The mean of the extra delay.
    pub mean: Duration,
    /// The time after which its autocorrelation has fallen to 1/e.
    pub correlation: Duration,
}

/// How many points are drawn in a correlation time.
const POINTS: u64 = 16;
/// After this many points, 64 correlation times, the factor of what x and y were is exp(-32), or 1e-14: after a longer
/// pause they need not be drawn for all points in it.
const MEMORY: u64 = 64 * POINTS;
/// The difference between the seeds of two points. It is not the increment with which SplitMix64 makes a generator's
/// state of its seed.
const POINT: u64 = 0xd1b5_4a32_d192_ed03;

/// The extra delay over time. Times must not decrease from call to call.
#[derive(Debug)]
pub(crate) struct ExtraDelay {
    /// The mean, in picoseconds.
    mean: f64,
    /// The time between two points, in picoseconds.
    step: u64,
    /// The correlation of x with itself, one point later.
    decay: f64,
    /// The standard deviation of what comes to x from one point to the next.
    spread: f64,
    seed: u64,
    /// The number of the point that was drawn last, and x and y there.
    point: u64,
    state: [f64; 2],
    /// The extra delay at the point before it and at that point, in picoseconds.
    delays: [f64; 2],
}

impl ExtraDelay {
    /// The extra delay of `jitter`. It follows from `seed`.
    pub fn new(jitter: &Jitter, seed: u64) -> ExtraDelay {
        let decay = libm::exp(-0.5 / POINTS as f64);
        let mut delay = ExtraDelay {
            mean: jitter.mean.0 as f64,
            step: (jitter.correlation.0 / POINTS).max(1),
            decay,
            spread: libm::sqrt(1.0 - decay * decay),
            seed: seed.wrapping_sub(POINT),
            point: 0,
            state: [0.0; 2],
            delays: [0.0; 2],
        };
        delay.begin(0);
        delay
    }

    /// The extra delay at `time`.
    pub fn at(&mut self, time: Time) -> Duration {
        let (before, into) = (time.0 / self.step, time.0 % self.step);
        let after = before + 1;
        if after - self.point > MEMORY {
            self.begin(after - MEMORY);
        }
        while self.point < after {
            self.next();
        }
        let [from, to] = self.delays;
        Duration((from + (to - from) * (into as f64 / self.step as f64)) as u64)
    }

    /// Draws the point number `point`, whatever was before.
    fn begin(&mut self, point: u64) {
        self.point = point;
        self.state = self.normals();
        self.delays = [self.here(); 2];
    }

    /// Draws the next point: the exact step of an Ornstein-Uhlenbeck process (D. Gillespie, "Exact numerical simulation
    /// of the Ornstein-Uhlenbeck process and its integral", Phys. Rev. E 54, 1996).
    fn next(&mut self) {
        self.point += 1;
        let normals = self.normals();
        for (x, normal) in self.state.iter_mut().zip(normals) {
            *x = self.decay * *x + self.spread * normal;
        }
        self.delays = [self.delays[1], self.here()];
    }

    /// The extra delay at the point that was drawn last.
    fn here(&self) -> f64 {
        let [x, y] = self.state;
        self.mean * 0.5 * (x * x + y * y)
    }

    /// Two normal random numbers of mean 0 and variance 1, which belong to the current point (G. Box and M. Muller, "A
    /// Note on the Generation of Random Normal Deviates", 1958).
    fn normals(&self) -> [f64; 2] {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(self.seed.wrapping_add(self.point.wrapping_mul(POINT)));
        let mut bits = || (rng.next_u64() >> 11) as f64;
        let scale = 1.0 / (1u64 << 53) as f64;
        // Uniform in (0, 1], so that its logarithm is finite.
        let radius = libm::sqrt(-2.0 * libm::log((bits() + 1.0) * scale));
        let angle = TAU * bits() * scale;
        [radius * libm::cos(angle), radius * libm::sin(angle)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    fn delay(seed: u64) -> ExtraDelay {
        ExtraDelay::new(&Jitter { mean: MS(5), correlation: MS(48) }, seed)
    }

    /// The extra delays in units of their mean, each 12 ms, a quarter of the correlation time, for 50,000 of these.
    fn samples(seed: u64) -> Vec<f64> {
        let mut delay = delay(seed);
        (0..200_000).map(|n| delay.at(Time(12_000_000_000 * n)).as_millis() / 5.0).collect()
    }

    /// The mean of 50,000 correlation times varies by sqrt(2 / 50,000), 0.6 %, and the others by about as much: 3 % are
    /// five standard deviations.
    #[test]
    fn the_distribution_is_exponential() {
        let all = samples(1);
        let share = |most: f64| all.iter().filter(|&&delay| delay > most).count() as f64 / all.len() as f64;
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        assert!((mean - 1.0).abs() < 0.03, "{mean}");
        for most in [0.1, 0.5, 1.0, 2.0, 3.0] {
            assert!((share(most) - f64::exp(-most)).abs() < 0.015, "{most}: {}", share(most));
        }
    }

    #[test]
    fn the_autocorrelation_is_exponential() {
        let all = samples(2);
        for lag in [1, 2, 4, 8, 40] {
            let pairs = all.iter().zip(&all[lag..]).map(|(a, b)| (a - 1.0) * (b - 1.0));
            let correlation = pairs.sum::<f64>() / (all.len() - lag) as f64;
            let expected = f64::exp(-(lag as f64) / 4.0);
            assert!((correlation - expected).abs() < 0.06, "lag {lag}: {correlation} instead of {expected}");
        }
    }

    /// What is asked between two times changes nothing at the second, also across a pause of many correlation times;
    /// and each seed has delays of its own.
    #[test]
    fn it_is_a_function_of_seed_and_time() {
        let (mut often, mut seldom, mut other) = (delay(3), delay(3), delay(4));
        let mut same = 0;
        for n in 0..50_000 {
            // Up to 50 s, and then some at greater and greater distances.
            let time = Time(1_000_000_000 * if n < 49_985 { n } else { 50_000 << (n - 49_985) });
            let now = often.at(time);
            if n % 7777 == 0 || n >= 49_985 {
                let apart = now.0.abs_diff(seldom.at(time).0);
                assert!(apart <= 1, "{apart} ps at {n}");
                same += u32::from(now == other.at(time));
            }
        }
        assert!(same < 3, "{same}");
    }

    /// Between two points, which are 3 ms apart, the delay is on the straight line.
    #[test]
    fn between_points_it_is_a_line() {
        let mut delay = delay(5);
        let [a, b, c] = [30, 31, 33].map(|ms| delay.at(Time::ZERO + MS(ms)).0 as f64);
        assert!((b - (a + (c - a) / 3.0)).abs() <= 2.0, "{a} {b} {c}");
    }
}
