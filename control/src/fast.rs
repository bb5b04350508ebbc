//! FAST TCP: keeps `alpha` of its own packets in the queue, and lets the distance to that decide how fast the window changes (Wei,
//! Jin, Low, Hegde, "FAST TCP: motivation, architecture, algorithms, performance", IEEE/ACM ToN 14(6), 2006, section IV).
//!
//! baseRTT is the shortest RTT that the flow itself has seen. Who starts while others keep a queue takes that for the path and keeps
//! alpha packets on top of it: n flows that start one after the other queue more than n alpha packets, and the last gets most.

use crate::registry::Protocol;
use crate::reno;
use crate::roles::{Ack, Conditions, Sender};
use crate::units::{Duration, Time};
use crate::window::{Law, Rounds, Window, within};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Fast {
    /// Window at the start, in packets; RFC 6928 has 10
    pub initial_window: f64,
    /// alpha: how many of its packets are to wait in queues
    pub alpha: f64,
    /// gamma: share of the way to the window with which they would, gone per round trip, 0 to 1
    pub gamma: f64,
    /// Queueing delay below which the window doubles per round trip, as in the ns-2 module of Cui and Andrew; zero: it doubles once,
    /// until alpha packets wait
    pub mi_threshold: Duration,
}

impl Default for Fast {
    fn default() -> Fast {
        // PACKET-SCALE-2017, section IV: alpha
        Fast { initial_window: 2.0, alpha: 200.0, gamma: 0.5, mi_threshold: Duration::ZERO }
    }
}

impl Protocol for Fast {
    fn check(&self) -> Result<(), String> {
        within("initial-window", self.initial_window, 1.0..=1e6)?;
        within("alpha", self.alpha, 1.0..=1e6)?;
        within("gamma", self.gamma, 1e-3..=1.0)?;
        within("mi-threshold", self.mi_threshold.as_secs(), 0.0..=1e3)
    }

    fn sender(&self, host: &Conditions) -> Box<dyn Sender> {
        let law = Equation { fast: self.clone(), rounds: Rounds::new(), rtt: 0.0, growth: 0.0 };
        Box::new(Window::new(law, self.initial_window, host.packet))
    }
}

struct Equation {
    fast: Fast,
    rounds: Rounds,
    /// Average RTT, seconds.
    rtt: f64,
    /// Growth per packet in this round trip.
    growth: f64,
}

impl Equation {
    fn doubles(&self) -> bool {
        let threshold = self.fast.mi_threshold;
        threshold > Duration::ZERO && self.rtt - self.rounds.base < threshold.as_secs()
    }
}

impl Law for Equation {
    fn observe(&mut self, now: Time, w: f64, ack: &Ack) {
        let Some(rtt) = ack.rtt.map(Duration::as_secs) else { return };
        let weight = (3.0 / w).min(0.25); // section IV-B
        self.rtt = if self.rtt > 0.0 { self.rtt + weight * (rtt - self.rtt) } else { rtt };
        if self.rounds.on_ack(now, ack).is_some() {
            let Fast { alpha, gamma, .. } = self.fast;
            let next = (1.0 - gamma) * w + gamma * (w * self.rounds.base / self.rtt + alpha); // equation 2
            self.growth = (next.min(2.0 * w) - w) / w; // once per round trip, spread over it
        }
    }

    fn increase(&mut self, _: Time, _: f64, _: &Ack) -> f64 {
        if self.doubles() { 1.0 } else { self.growth }
    }

    /// **Decided**: the window doubles until as many packets wait as are to wait in the end. (The paper's alpha is proportional to
    /// the window while there is no queueing delay at all, of which the first pair of packets sees some.)
    fn slow_start(&mut self, w: f64) -> Option<f64> {
        let short = match self.fast.mi_threshold {
            Duration::ZERO => self.rounds.queued(w, self.rtt) < self.fast.alpha,
            _ => self.doubles(),
        };
        short.then_some(1.0)
    }

    fn decrease(&mut self, _: Time, w: f64) -> f64 {
        self.growth = 0.0; // it was that of the window before
        reno::decrease(w)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::tests::{round, rounds};

    fn equation(base: f64, rtt: f64) -> Equation {
        Equation { fast: Fast::default(), rounds: rounds(base), rtt, growth: 0.0 }
    }

    #[test]
    fn a_round_trip_goes_half_the_way_to_alpha_packets_in_the_queue() {
        // Equation 2 by hand. At 125 ms for 100 ms, 1250 of 6250 packets wait; at 104, 200 of 5200: equilibrium.
        for (w, rtt, next) in
            [(5000.0, 0.1, 5100.0), (6250.0, 0.125, 5725.0), (5200.0, 0.104, 5200.0), (50.0, 0.1, 100.0)]
        {
            let mut law = equation(0.1, rtt);
            let (now, same) = round(&mut law, Time::ZERO, w, rtt);
            let (_, end) = round(&mut law, now, same, rtt);
            let two = (0.5 * same + 0.5 * (same * 0.1 / rtt + 200.0)).min(2.0 * same);
            assert!((same - next).abs() < 1.5 + 0.01 * w / 100.0, "{w}: {same} instead of {next}");
            assert!((end - two).abs() < 2.0, "{same}: {end} instead of {two}");
        }
    }

    #[test]
    fn the_average_rtt_forgets_a_third_of_a_window() {
        let mut law = equation(0.1, 0.1);
        let ack = Ack { rtt: Some(Duration::from_secs(0.2)), ..Ack::default() };
        for _ in 0..1000 {
            law.observe(Time::ZERO, 3000.0, &ack);
        }
        assert!((law.rtt - (0.2 - 0.1 * (-1.0f64).exp())).abs() < 1e-4, "{}", law.rtt);
    }

    #[test]
    fn slow_start_ends_with_alpha_packets_in_the_queue() {
        assert_eq!(equation(0.1, 0.11).slow_start(2190.0), Some(1.0)); // 199
        assert_eq!(equation(0.1, 0.11).slow_start(2210.0), None); // 201
    }

    #[test]
    fn the_ns_2_module_doubles_the_window_while_the_queue_is_short() {
        let with = |rtt| {
            let fast = Fast { mi_threshold: Duration::from_micros(750), ..Fast::default() };
            Equation { fast, growth: 0.1, ..equation(0.1, rtt) }
        };
        let ack = Ack::default();
        for (rtt, growth) in [(0.1007, 1.0), (0.1008, 0.1)] {
            assert_eq!(with(rtt).increase(Time::ZERO, 9000.0, &ack), growth);
            assert_eq!(with(rtt).slow_start(9000.0).is_some(), growth == 1.0);
        }
    }
}
