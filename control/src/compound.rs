//! Compound TCP: Reno's window plus one that grows fast while no queue builds up, and gives way when one does (Tan, Song, Zhang,
//! Sridharan, "A Compound TCP approach for high-speed and long distance networks", INFOCOM 2006, section III).

use crate::registry::Protocol;
use crate::reno;
use crate::roles::{Ack, Conditions, Sender};
use crate::units::Time;
use crate::window::{Law, Rounds, Window, within};
use libm::pow;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Compound {
    /// Window at the start, in packets; RFC 6928 has 10
    pub initial_window: f64,
    /// alpha: growth per round trip without a queue is alpha times the window to the k, in packets
    pub alpha: f64,
    /// beta: share of the window given up on a loss, 0 to 1
    pub beta: f64,
    /// k: see alpha, 0 to 1
    pub k: f64,
    /// gamma: with more of its packets in queues, the delay window gives way
    pub gamma: f64,
    /// zeta: by how many packets per round trip, for each that waits
    pub zeta: f64,
}

impl Default for Compound {
    fn default() -> Compound {
        Compound { initial_window: 2.0, alpha: 0.125, beta: 0.5, k: 0.75, gamma: 30.0, zeta: 1.0 }
    }
}

impl Protocol for Compound {
    fn check(&self) -> Result<(), String> {
        within("initial-window", self.initial_window, 1.0..=1e6)?;
        within("alpha", self.alpha, 0.0..=1.0)?;
        within("beta", self.beta, 0.0..=1.0)?;
        within("k", self.k, 0.0..=1.0)?;
        within("gamma", self.gamma, 0.0..=1e6)?;
        within("zeta", self.zeta, 0.0..=1e3)
    }

    fn sender(&self, host: &Conditions) -> Box<dyn Sender> {
        let law = Sum { compound: self.clone(), rounds: Rounds::new(), rtt: None, dwnd: 0.0, growth: 0.0 };
        Box::new(Window::new(law, self.initial_window, host.packet))
    }
}

/// win = cwnd + dwnd, where win is the window.
struct Sum {
    compound: Compound,
    rounds: Rounds,
    /// Mean RTT of the round trip that has just ended, seconds.
    rtt: Option<f64>,
    /// The delay window at the end of this round trip, packets.
    dwnd: f64,
    /// What its change amounts to per packet.
    growth: f64,
}

impl Sum {
    /// The delay window, once per round trip of `rtt` seconds: equation 5, first two cases.
    fn adjust(&mut self, win: f64, rtt: f64) {
        let Compound { alpha, k, gamma, zeta, .. } = self.compound;
        let diff = self.rounds.queued(win, rtt);
        let change = if diff < gamma { (alpha * pow(win, k) - 1.0).max(0.0) } else { -zeta * diff };
        let next = (self.dwnd + change).max(0.0);
        self.growth = (next - self.dwnd) / win;
        self.dwnd = next;
    }
}

impl Law for Sum {
    fn observe(&mut self, now: Time, _: f64, ack: &Ack) {
        self.rtt = self.rounds.on_ack(now, ack).filter(|_| !ack.recovery).or(self.rtt);
    }

    /// Not called in slow start, in which there is no delay window.
    fn increase(&mut self, _: Time, win: f64, _: &Ack) -> f64 {
        if let Some(rtt) = self.rtt.take() {
            self.adjust(win, rtt);
        }
        1.0 / win + self.growth // equation 3, and the delay window's part
    }

    fn decrease(&mut self, _: Time, win: f64) -> f64 {
        let cwnd = (win - self.dwnd).max(0.0) / 2.0;
        self.dwnd = (win * (1.0 - self.compound.beta) - cwnd).max(0.0); // equation 5, third case
        self.growth = 0.0;
        self.rtt = None;
        cwnd + self.dwnd
    }

    /// Without a delay window: slow start follows.
    fn timeout(&mut self, _: Time, win: f64) -> f64 {
        (self.dwnd, self.growth, self.rtt) = (0.0, 0.0, None);
        reno::decrease(win)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::tests::{round, rounds};

    fn sum(dwnd: f64) -> Sum {
        Sum { compound: Compound::default(), rounds: rounds(0.1), rtt: None, dwnd, growth: 0.0 }
    }

    #[test]
    fn without_a_queue_both_windows_grow() {
        // 1 of Reno's, and 10000^0.75 / 8 - 1 = 124.
        let mut law = sum(0.0);
        let (_, end) = round(&mut law, Time::ZERO, 10_000.0, 0.1);
        assert!((end - 10_125.0).abs() < 0.1 && (law.dwnd - 124.0).abs() < 0.1, "{end}, {}", law.dwnd);
    }

    #[test]
    fn a_queue_shrinks_the_delay_window_and_only_that() {
        // 1000 packets at 105 ms: 47.6 of them wait, more than 30.
        let mut law = sum(500.0);
        let (_, end) = round(&mut law, Time::ZERO, 1000.0, 0.105);
        assert!((end - (1000.0 - 47.6 + 1.0)).abs() < 2.0, "{end}");
        let mut law = sum(20.0);
        let (_, end) = round(&mut law, Time::ZERO, 1000.0, 0.105);
        assert!((end - (1000.0 - 20.0 + 1.0)).abs() < 1.0 && law.dwnd == 0.0, "{end}");
    }

    #[test]
    fn small_windows_are_renos() {
        // 16^0.75 / 8 = 1.
        let mut law = sum(0.0);
        let (_, end) = round(&mut law, Time::ZERO, 15.0, 0.1);
        assert!((end - 16.0).abs() < 0.05 && law.dwnd == 0.0, "{end}");
    }

    #[test]
    fn a_loss_halves_both_and_a_timeout_leaves_no_delay_window() {
        let mut law = sum(400.0);
        assert_eq!((law.decrease(Time::ZERO, 1000.0), law.dwnd), (500.0, 200.0));
        assert_eq!((law.timeout(Time::ZERO, 500.0), law.dwnd), (250.0, 0.0));
    }
}
