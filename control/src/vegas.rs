//! Vegas: compares the rate that the window should give with the one it gives, and so keeps between `alpha` and `beta` of its
//! packets in the queue (Brakmo, Peterson, "TCP Vegas: end to end congestion avoidance on a global Internet", IEEE JSAC 13(8),
//! 1995, section III-B and C). Losses are detected by the host and halve the window, as Reno's; Vegas's own retransmission is not here.

use crate::registry::Protocol;
use crate::reno;
use crate::roles::{Ack, Conditions, Sender};
use crate::units::Time;
use crate::window::{Law, Rounds, Window, within};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Vegas {
    /// Window at the start, in packets; RFC 6928 has 10
    pub initial_window: f64,
    /// alpha: with fewer of its packets in queues, the window grows
    pub alpha: f64,
    /// beta: with more, it shrinks
    pub beta: f64,
    /// gamma: with more, slow start ends
    pub gamma: f64,
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
        let law = Compare { vegas: self.clone(), rounds: Rounds::new(), diff: 0.0, doubling: true };
        Box::new(Window::new(law, self.initial_window, host.packet))
    }
}

struct Compare {
    vegas: Vegas,
    rounds: Rounds,
    /// (Expected - Actual) baseRTT in the last round trip, packets.
    diff: f64,
    /// Slow start doubles in every other round trip, so that the one between shows what the window does.
    doubling: bool,
}

impl Law for Compare {
    fn observe(&mut self, now: Time, w: f64, ack: &Ack) {
        if let Some(rtt) = self.rounds.on_ack(now, ack) {
            self.diff = self.rounds.queued(w, rtt);
            self.doubling = !self.doubling;
        }
    }

    /// One packet per round trip.
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
        (self.diff <= self.vegas.gamma).then_some(if self.doubling { 1.0 } else { 0.0 })
    }

    fn decrease(&mut self, _: Time, w: f64) -> f64 {
        reno::decrease(w)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::tests::{round, rounds};

    fn compare(base: f64) -> Compare {
        Compare { vegas: Vegas::default(), rounds: rounds(base), diff: 0.0, doubling: true }
    }

    #[test]
    fn grows_below_alpha_shrinks_above_beta_and_stays_between() {
        // 100 packets at a base of 100 ms: of them 100 (1 - 100/RTT) wait.
        for (rtt, waiting, growth) in [(0.1, 0.0, 1.0), (0.1009, 0.9, 1.0), (0.102, 2.0, 0.0), (0.104, 3.8, -1.0)] {
            let mut law = compare(0.1);
            let (now, _) = round(&mut law, Time::ZERO, 100.0, rtt);
            assert!((law.diff - waiting).abs() < 0.1, "{rtt}: {} instead of {waiting}", law.diff);
            law.diff = law.rounds.queued(100.0, rtt);
            let (_, end) = round(&mut law, now, 100.0, rtt);
            assert!((end - 100.0 - growth).abs() < 0.02, "{rtt}: {end}");
        }
    }

    #[test]
    fn two_packets_are_the_least() {
        let mut law = compare(0.1);
        law.diff = 5.0;
        assert_eq!(
            (law.increase(Time::ZERO, 2.0, &Ack::default()), law.increase(Time::ZERO, 4.0, &Ack::default())),
            (0.0, -0.25)
        );
    }

    #[test]
    fn slow_start_doubles_every_other_round_trip_until_gamma() {
        let mut law = compare(0.1);
        let mut now = Time::ZERO;
        let growth: Vec<Option<f64>> = (0..4)
            .map(|_| {
                now = round(&mut law, now, 8.0, 0.1).0;
                law.slow_start(8.0)
            })
            .collect();
        assert!(
            growth.windows(2).all(|pair| pair[0] != pair[1] && pair.contains(&Some(1.0)) && pair.contains(&Some(0.0)))
        );
        law.diff = 1.1;
        assert_eq!(law.slow_start(8.0), None);
    }
}
