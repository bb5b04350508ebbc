//! Illinois: AIMD(alpha, beta), where alpha falls and beta rises with the queueing delay, so that the window as a
//! function of time is concave between losses (Liu, Basar, Srikant, "TCP-Illinois: a loss- and delay-based congestion
//! control algorithm for high-speed networks", Performance Evaluation 65, 2008, section 3).
//!
//! ```text
//!             delay > eta_1 d_m, or a timeout
//!   Largest ---------------------------------> Reduced
//!           <---------------------------------
//!             theta round trips with a delay of no more than eta_1 d_m
//! ```

use crate::extensions::Extensions;
use crate::parameters::within;
use crate::protocol::Protocol;
use crate::roles::{Ack, Conditions, Sender};
use crate::rounds::Rounds;
use crate::slow_start::SlowStart;
use crate::units::Time;
use crate::window::{Window, WindowRule};
use alloc::{boxed::Box, format, string::String};

crate::parameters! {
    /// Parameters.
    pub struct Illinois {
        /// Window at the start, in packets; RFC 6928 has 10
        pub initial_window: f64,
        /// What ends slow start before a loss or mark: nothing ("standard"), HyStart of Linux ("hystart"), RFC 9406
        /// ("hystart++"), or deliveries that no longer keep up with what was sent ("search")
        pub slow_start: SlowStart,
        /// alpha_max: growth per round trip without a queue, in packets
        pub largest_increase: f64,
        /// alpha_min: growth per round trip at the longest queueing delay, in packets; 0.1 in the paper's first version
        pub least_increase: f64,
        /// beta_max: share of the window given up on a loss at long queueing delays, 0 to 1
        pub largest_decrease: f64,
        /// beta_min: share of the window given up on a loss at short queueing delays, 0 to 1
        pub least_decrease: f64,
        /// W_thresh: below this window, in packets, it is Reno
        pub low_window: f64,
        /// eta_1: up to this share of the longest queueing delay, growth is largest
        pub eta1: f64,
        /// eta_2: up to this share, the decrease is least
        pub eta2: f64,
        /// eta_3: from this share on, the decrease is largest
        pub eta3: f64,
        /// theta: for how many round trips the delay must be that short before growth is largest again
        pub theta: u32,
    }
}

impl Default for Illinois {
    fn default() -> Illinois {
        Illinois {
            initial_window: 2.0,
            slow_start: SlowStart::Standard,
            largest_increase: 10.0,
            least_increase: 0.3,
            largest_decrease: 0.5,
            least_decrease: 0.125,
            low_window: 10.0,
            eta1: 0.01,
            eta2: 0.1,
            eta3: 0.8,
            theta: 5,
        }
    }
}

impl Protocol for Illinois {
    fn check(&self) -> Result<(), String> {
        within("initial-window", self.initial_window, 1.0..=1e6)?;
        within("largest-increase", self.largest_increase, 1e-3..=1e3)?;
        within("least-increase", self.least_increase, 1e-3..=1e3)?;
        within("largest-decrease", self.largest_decrease, 0.0..=1.0)?;
        within("least-decrease", self.least_decrease, 0.0..=1.0)?;
        within("low-window", self.low_window, 0.0..=1e9)?;
        within("eta1", self.eta1, 0.0..=0.99)?;
        within("eta2", self.eta2, 0.0..=1.0)?;
        within("eta3", self.eta3, 0.0..=1.0)?;
        let ordered = |low: &str, a: f64, high: &str, b: f64| {
            if a < b { Ok(()) } else { Err(format!("{low} = {a} is not below {high} = {b}; write less")) }
        };
        ordered("least-increase", self.least_increase, "largest-increase", self.largest_increase)?;
        ordered("least-decrease", self.least_decrease, "largest-decrease", self.largest_decrease)?;
        ordered("eta2", self.eta2, "eta3", self.eta3)
    }

    fn sender(&self, host: &Conditions) -> Box<dyn Sender> {
        let window = Window::new(IllinoisRule::new(self), self.initial_window, host.packet);
        Box::new(window.extended(Extensions::of(self.slow_start, host)))
    }
}

/// Illinois' window growth rule.
struct IllinoisRule {
    illinois: Illinois,
    rounds: Rounds,
    /// T_max: the longest RTT so far, seconds; zero before the first.
    longest: f64,
    growth: Growth,
    /// Growth per round trip, packets.
    alpha: f64,
    /// Share of the window given up on a loss.
    beta: f64,
}

/// What alpha is at short queueing delays, up to eta_1 d_m.
#[derive(Clone, Copy)]
enum Growth {
    /// At short delays, alpha is alpha_max.
    Largest,
    /// A long delay has reduced alpha, which short delays leave as it is.
    Reduced {
        /// The number of round trips with short delays since the last long one.
        short: u32,
    },
}

/// Reno's alpha and beta.
const RENO: (f64, f64) = (1.0, 0.5);

impl IllinoisRule {
    fn new(illinois: &Illinois) -> IllinoisRule {
        let (alpha, beta) = RENO;
        let illinois = illinois.clone();
        IllinoisRule { illinois, rounds: Rounds::new(), longest: 0.0, growth: Growth::Largest, alpha, beta }
    }

    /// alpha = f1(da) for a queueing delay of `delay` where the longest is d_m = `longest`, both in seconds.
    fn increase_at(&mut self, delay: f64, longest: f64) -> f64 {
        let Illinois { largest_increase: max, least_increase: min, eta1, theta, .. } = self.illinois;
        let d1 = eta1 * longest;
        if delay <= d1 {
            // Once reduced, alpha is the largest again only after theta round trips with a short delay, as a single one
            // may be due to chance.
            self.growth = match self.growth {
                Growth::Reduced { short } if short + 1 < theta => Growth::Reduced { short: short + 1 },
                Growth::Reduced { .. } | Growth::Largest => Growth::Largest,
            };
            return match self.growth {
                Growth::Largest => max,
                Growth::Reduced { .. } => self.alpha,
            };
        }
        self.growth = Growth::Reduced { short: 0 };
        let k1 = (longest - d1) * min * max / (max - min);
        let k2 = (longest - d1) * min / (max - min) - d1;
        k1 / (k2 + delay) // kappa_1 / (kappa_2 + da)
    }

    /// beta = f2(da), of the same delays.
    fn decrease_at(&self, delay: f64, longest: f64) -> f64 {
        let Illinois { largest_decrease: max, least_decrease: min, eta2, eta3, .. } = self.illinois;
        let (d2, d3) = (eta2 * longest, eta3 * longest);
        if delay <= d2 {
            min
        } else if delay < d3 {
            min + (max - min) * (delay - d2) / (d3 - d2) // kappa_3 + kappa_4 da
        } else {
            max
        }
    }
}

impl WindowRule for IllinoisRule {
    fn observe(&mut self, now: Time, w: f64, ack: &Ack) {
        self.longest = self.longest.max(ack.rtt.map_or(0.0, |rtt| rtt.as_secs()));
        if let Some(rtt) = self.rounds.on_ack(now, ack) {
            let longest = self.longest - self.rounds.base; // dm
            let delay = (rtt - self.rounds.base).min(longest); // da; rounding may make a mean larger than the largest
            (self.alpha, self.beta) = if w < self.illinois.low_window {
                RENO
            } else {
                (self.increase_at(delay, longest), self.decrease_at(delay, longest))
            };
        }
    }

    fn increase(&mut self, _: Time, w: f64, _: &Ack) -> f64 {
        self.alpha / w
    }

    fn decrease(&mut self, _: Time, w: f64) -> f64 {
        w * (1.0 - self.beta)
    }

    fn timeout(&mut self, _: Time, w: f64) -> f64 {
        (self.alpha, self.beta) = RENO;
        self.growth = Growth::Reduced { short: 0 };
        w * (1.0 - self.beta)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::tests::round;

    /// alpha and beta after round trips with a queueing delay of `delay` seconds, where the longest so far is 100 ms.
    fn after(rule: &mut IllinoisRule, delay: f64) -> (f64, f64) {
        (rule.rounds.base, rule.longest) = (0.1, 0.2);
        let (now, _) = round(rule, Time::ZERO, 100.0, 0.1 + delay);
        round(rule, now, 100.0, 0.1 + delay);
        (rule.alpha, rule.beta)
    }

    #[test]
    fn alpha_falls_and_beta_rises_with_the_delay() {
        // Section 3: f1 and f2 between their ends, d1 = 1 ms, d2 = 10 ms, d3 = 80 ms of 100 ms.
        let expected = |delay: f64| {
            let k1 = 0.099 * 0.3 * 10.0 / 9.7;
            let alpha = if delay <= 0.001 { 10.0 } else { k1 / (0.099 * 0.3 / 9.7 - 0.001 + delay) };
            (alpha, (0.125 + 0.375 * (delay - 0.01) / 0.07).clamp(0.125, 0.5))
        };
        for delay in [0.0005, 0.002, 0.01, 0.03, 0.079, 0.09, 0.1] {
            let (alpha, beta) = after(&mut IllinoisRule::new(&Illinois::default()), delay);
            let wanted = expected(delay);
            assert!(
                (alpha / wanted.0 - 1.0).abs() < 1e-6 && (beta - wanted.1).abs() < 1e-6,
                "{delay}: {alpha}, {beta}"
            );
        }
        let (alpha, beta) = after(&mut IllinoisRule::new(&Illinois::default()), 0.1);
        assert!((alpha - 0.3).abs() < 1e-6 && (beta - 0.5).abs() < 1e-6); // the ends themselves
    }

    #[test]
    fn growth_is_the_largest_again_after_theta_short_round_trips() {
        let mut rule = IllinoisRule::new(&Illinois::default());
        assert_eq!(rule.increase_at(0.0, 0.1), 10.0);
        rule.alpha = rule.increase_at(0.05, 0.1);
        let low = rule.alpha;
        let alphas: Vec<f64> = (0..6).map(|_| rule.increase_at(0.0, 0.1)).collect();
        assert_eq!(alphas, [low, low, low, low, 10.0, 10.0]);
    }

    #[test]
    fn small_windows_and_timeouts_are_treated_as_by_reno() {
        let mut rule = IllinoisRule::new(&Illinois::default());
        let (now, _) = round(&mut rule, Time::ZERO, 9.0, 0.1);
        assert_eq!((rule.alpha, rule.decrease(Time::ZERO, 8.0)), (1.0, 4.0));
        round(&mut rule, now, 100.0, 0.1);
        assert_eq!((rule.alpha, rule.decrease(Time::ZERO, 80.0)), (10.0, 70.0));
        assert_eq!((rule.timeout(Time::ZERO, 80.0), rule.alpha), (40.0, 1.0));
    }
}
