//! Compound TCP: the sum of Reno's window and a delay window, which grows fast while no queue builds up and shrinks
//! when one does (Tan, Song, Zhang, Sridharan, "A Compound TCP approach for high-speed and long distance networks",
//! INFOCOM 2006, section III).

use crate::extensions::Extensions;
use crate::parameters::within;
use crate::protocol::Protocol;
use crate::roles::{Ack, Conditions, Sender};
use crate::rounds::Rounds;
use crate::slow_start::SlowStart;
use crate::standard;
use crate::units::Time;
use crate::window::{Window, WindowRule};
use alloc::{boxed::Box, string::String};
use libm::pow;

crate::parameters! {
    /// Parameters.
    pub struct Compound {
        /// Window at the start, in packets; RFC 6928 has 10
        pub initial_window: f64,
        /// What ends slow start before a loss or mark: nothing ("standard"), HyStart of Linux ("hystart"), RFC 9406
        /// ("hystart++"), or deliveries that no longer keep up with what was sent ("search")
        pub slow_start: SlowStart,
        /// Up to this window, in packets, the delay window stays at zero; the paper's window rule has no such limit
        pub low_window: f64,
        /// alpha: without a queue, the window grows by alpha times its k-th power per round trip, in packets
        pub alpha: f64,
        /// beta: share of the window given up on a loss, 0 to 1
        pub beta: f64,
        /// k: the exponent of the growth without a queue, 0 to 1
        pub k: f64,
        /// gamma: with more of its packets in queues, the delay window shrinks
        pub gamma: f64,
        /// zeta: by how many packets per round trip the delay window shrinks for each packet that waits
        pub zeta: f64,
    }
}

impl Default for Compound {
    fn default() -> Compound {
        Compound {
            initial_window: 2.0,
            slow_start: SlowStart::Standard,
            low_window: 0.0,
            alpha: 0.125,
            beta: 0.5,
            k: 0.75,
            gamma: 30.0,
            zeta: 1.0,
        }
    }
}

impl Protocol for Compound {
    fn check(&self) -> Result<(), String> {
        within("initial-window", self.initial_window, 1.0..=1e6)?;
        within("low-window", self.low_window, 0.0..=1e9)?;
        within("alpha", self.alpha, 0.0..=1.0)?;
        within("beta", self.beta, 0.0..=1.0)?;
        within("k", self.k, 0.0..=1.0)?;
        within("gamma", self.gamma, 0.0..=1e6)?;
        within("zeta", self.zeta, 0.0..=1e3)
    }

    fn sender(&self, host: &Conditions) -> Box<dyn Sender> {
        let rule = CompoundRule { compound: self.clone(), rounds: Rounds::new(), rtt: None, dwnd: 0.0, growth: 0.0 };
        let window = Window::new(rule, self.initial_window, host.packet);
        Box::new(window.extended(Extensions::of(self.slow_start, host)))
    }
}

/// Compound TCP's window growth rule: win = cwnd + dwnd, where win is the window, cwnd Reno's and dwnd the delay
/// window.
struct CompoundRule {
    compound: Compound,
    rounds: Rounds,
    /// Mean RTT of the round trip that has just ended, seconds; none once dwnd has been adjusted by it.
    rtt: Option<f64>,
    /// dwnd at the end of the present round trip, packets.
    dwnd: f64,
    /// Growth of dwnd per acknowledged packet in the present round trip, packets.
    growth: f64,
}

impl CompoundRule {
    /// Adjusts dwnd, once per round trip, by the round trip's mean RTT in seconds: equation 5, first two cases.
    fn adjust(&mut self, win: f64, rtt: f64) {
        let Compound { low_window, alpha, k, gamma, zeta, .. } = self.compound;
        let diff = self.rounds.queued(win, rtt);
        let change = if diff < gamma && win < low_window {
            0.0
        } else if diff < gamma {
            (alpha * pow(win, k) - 1.0).max(0.0)
        } else {
            -zeta * diff
        };
        let next = (self.dwnd + change).max(0.0);
        self.growth = (next - self.dwnd) / win;
        self.dwnd = next;
    }
}

impl WindowRule for CompoundRule {
    fn observe(&mut self, now: Time, _: f64, ack: &Ack) {
        self.rtt = self.rounds.on_ack(now, ack).filter(|_| !ack.recovery).or(self.rtt);
    }

    /// Slow start does not call this, so that dwnd is zero in it.
    fn increase(&mut self, _: Time, win: f64, _: &Ack) -> f64 {
        if let Some(rtt) = self.rtt.take() {
            self.adjust(win, rtt);
        }
        1.0 / win + self.growth // equation 3, and the growth of dwnd
    }

    fn decrease(&mut self, _: Time, win: f64) -> f64 {
        let cwnd = (win - self.dwnd).max(0.0) / 2.0;
        self.dwnd = (win * (1.0 - self.compound.beta) - cwnd).max(0.0); // equation 5, third case
        self.growth = 0.0;
        self.rtt = None;
        cwnd + self.dwnd
    }

    /// Slow start follows, in which dwnd is zero.
    fn timeout(&mut self, _: Time, win: f64) -> f64 {
        (self.dwnd, self.growth, self.rtt) = (0.0, 0.0, None);
        standard::decrease(win)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rounds::tests::rounds;
    use crate::window::tests::round;

    fn sum(dwnd: f64) -> CompoundRule {
        CompoundRule { compound: Compound::default(), rounds: rounds(0.1), rtt: None, dwnd, growth: 0.0 }
    }

    #[test]
    fn without_a_queue_both_windows_grow() {
        // Reno's window grows by 1 packet and dwnd by 10000^0.75 / 8 - 1 = 124.
        let mut rule = sum(0.0);
        let (_, end) = round(&mut rule, Time::ZERO, 10_000.0, 0.1);
        assert!((end - 10_125.0).abs() < 0.1 && (rule.dwnd - 124.0).abs() < 0.1, "{end}, {}", rule.dwnd);
    }

    #[test]
    fn a_queue_shrinks_the_delay_window_and_not_renos() {
        // 1000 packets at 105 ms: 47.6 of them wait, more than 30.
        let mut rule = sum(500.0);
        let (_, end) = round(&mut rule, Time::ZERO, 1000.0, 0.105);
        assert!((end - (1000.0 - 47.6 + 1.0)).abs() < 2.0, "{end}");
        let mut rule = sum(20.0);
        let (_, end) = round(&mut rule, Time::ZERO, 1000.0, 0.105);
        assert!((end - (1000.0 - 20.0 + 1.0)).abs() < 1.0 && rule.dwnd == 0.0, "{end}");
    }

    #[test]
    fn the_delay_window_of_a_small_window_does_not_grow() {
        // 16^0.75 / 8 = 1.
        let mut rule = sum(0.0);
        let (_, end) = round(&mut rule, Time::ZERO, 15.0, 0.1);
        assert!((end - 16.0).abs() < 0.05 && rule.dwnd == 0.0, "{end}");
    }

    #[test]
    fn a_loss_halves_both_and_a_timeout_leaves_no_delay_window() {
        let mut rule = sum(400.0);
        assert_eq!((rule.decrease(Time::ZERO, 1000.0), rule.dwnd), (500.0, 200.0));
        assert_eq!((rule.timeout(Time::ZERO, 500.0), rule.dwnd), (250.0, 0.0));
    }
}
