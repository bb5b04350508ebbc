//! Vegas: compares the rate that the window gives without a queue with the actual rate, and so keeps between `alpha`
//! and `beta` of its packets in the queue (Brakmo, Peterson, "TCP Vegas: end to end congestion avoidance on a global
//! Internet", IEEE JSAC 13(8), 1995, sections III-B and III-C).
//!
//! Losses are detected by the host and halve the window, as in Reno; the paper's own retransmission mechanism (III-A)
//! is left out.

use crate::parameters::within;
use crate::protocol::Protocol;
use crate::roles::{Ack, Conditions, Sender};
use crate::rounds::Rounds;
use crate::standard;
use crate::units::Time;
use crate::window::{Window, WindowRule};
use alloc::{boxed::Box, format, string::String};

crate::parameters! {
    /// Parameters.
    pub struct Vegas {
        /// Window at the start, in packets; RFC 6928 has 10
        pub initial_window: f64,
        /// alpha: with fewer of its packets in queues, the window grows
        pub alpha: f64,
        /// beta: with more of its packets in queues, the window shrinks
        pub beta: f64,
        /// gamma: with more of its packets in queues, slow start ends
        pub gamma: f64,
    }
}

impl Default for Vegas {
    fn default() -> Vegas {
        Vegas { initial_window: 2.0, alpha: 1.0, beta: 3.0, gamma: 1.0 }
    }
}

impl Protocol for Vegas {
    fn check(&self) -> Result<(), String> {
        within("initial-window", self.initial_window, 1.0..=1e6)?;
        within("alpha", self.alpha, 0.1..=1e6)?;
        within("beta", self.beta, 0.1..=1e6)?;
        within("gamma", self.gamma, 0.1..=1e6)?;
        if self.alpha <= self.beta {
            Ok(())
        } else {
            Err(format!("alpha = {} is above beta = {}; write less", self.alpha, self.beta))
        }
    }

    fn sender(&self, host: &Conditions) -> Box<dyn Sender> {
        let rule = VegasRule { vegas: self.clone(), rounds: Rounds::new(), diff: 0.0, slow_start: SlowStart::Doubling };
        Box::new(Window::new(rule, self.initial_window, host.packet))
    }
}

/// Vegas' window growth rule.
struct VegasRule {
    vegas: Vegas,
    rounds: Rounds,
    /// Diff = (Expected - Actual) baseRTT in the last round trip: the packets that waited in queues.
    diff: f64,
    slow_start: SlowStart,
}

/// What slow start does in the present round trip. Round trips of both kinds alternate (section III-C).
#[derive(Clone, Copy)]
enum SlowStart {
    /// The window doubles.
    Doubling,
    /// The window stays fixed, so that the actual rate can be compared with the expected.
    Comparing,
}

impl WindowRule for VegasRule {
    fn observe(&mut self, now: Time, w: f64, ack: &Ack) {
        if let Some(rtt) = self.rounds.on_ack(now, ack) {
            self.diff = self.rounds.queued(w, rtt);
            self.slow_start = match self.slow_start {
                SlowStart::Doubling => SlowStart::Comparing,
                SlowStart::Comparing => SlowStart::Doubling,
            };
        }
    }

    /// Section III-B: by one packet per round trip up or down.
    fn increase(&mut self, _: Time, w: f64, _: &Ack) -> f64 {
        let Vegas { alpha, beta, .. } = self.vegas;
        if self.diff < alpha {
            1.0 / w
        } else if self.diff > beta && w > 2.0 {
            -1.0 / w
        } else {
            0.0
        }
    }

    fn slow_start(&mut self, _: f64) -> Option<f64> {
        let growth = match self.slow_start {
            SlowStart::Doubling => 1.0,
            SlowStart::Comparing => 0.0,
        };
        (self.diff <= self.vegas.gamma).then_some(growth)
    }

    fn decrease(&mut self, _: Time, w: f64) -> f64 {
        standard::decrease(w)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rounds::tests::rounds;
    use crate::window::tests::round;

    fn compare(base: f64) -> VegasRule {
        VegasRule { vegas: Vegas::default(), rounds: rounds(base), diff: 0.0, slow_start: SlowStart::Doubling }
    }

    #[test]
    fn grows_below_alpha_shrinks_above_beta_and_stays_between() {
        // Of 100 packets on a path of 100 ms, 100 (1 - 100 ms/RTT) wait.
        for (rtt, waiting, growth) in [(0.1, 0.0, 1.0), (0.1009, 0.9, 1.0), (0.102, 2.0, 0.0), (0.104, 3.8, -1.0)] {
            let mut rule = compare(0.1);
            let (now, _) = round(&mut rule, Time::ZERO, 100.0, rtt);
            assert!((rule.diff - waiting).abs() < 0.1, "{rtt}: {} instead of {waiting}", rule.diff);
            rule.diff = rule.rounds.queued(100.0, rtt);
            let (_, end) = round(&mut rule, now, 100.0, rtt);
            assert!((end - 100.0 - growth).abs() < 0.02, "{rtt}: {end}");
        }
    }

    #[test]
    fn the_window_does_not_shrink_below_two_packets() {
        let mut rule = compare(0.1);
        rule.diff = 5.0;
        assert_eq!(
            (rule.increase(Time::ZERO, 2.0, &Ack::default()), rule.increase(Time::ZERO, 4.0, &Ack::default())),
            (0.0, -0.25)
        );
    }

    #[test]
    fn slow_start_doubles_in_every_other_round_trip_until_gamma_packets_wait() {
        let mut rule = compare(0.1);
        let mut now = Time::ZERO;
        let growth: Vec<Option<f64>> = (0..4)
            .map(|_| {
                now = round(&mut rule, now, 8.0, 0.1).0;
                rule.slow_start(8.0)
            })
            .collect();
        assert!(
            growth.windows(2).all(|pair| pair[0] != pair[1] && pair.contains(&Some(1.0)) && pair.contains(&Some(0.0)))
        );
        rule.diff = 1.1;
        assert_eq!(rule.slow_start(8.0), None);
    }
}
