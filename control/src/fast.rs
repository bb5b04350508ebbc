//! FAST TCP: keeps `alpha` of its own packets in the queue, and changes its window the faster, the further it is from
//! that (Wei, Jin, Low, Hegde, "FAST TCP: motivation, architecture, algorithms, performance", IEEE/ACM ToN 14(6), 2006,
//! section IV).
//!
//! baseRTT is the shortest RTT that the flow itself has seen. A flow that starts while other flows keep a queue takes
//! their queueing delay for a part of the path's delay, and keeps alpha packets on top of it. So n flows that start one
//! after the other queue more than n alpha packets, and the last flow gets the largest rate.

use crate::parameters::within;
use crate::protocol::Protocol;
use crate::roles::{Ack, Conditions, Sender};
use crate::rounds::Rounds;
use crate::standard;
use crate::units::{Duration, Time};
use crate::window::{Window, WindowRule};
use alloc::{boxed::Box, string::String};

crate::parameters! {
    /// Parameters.
    pub struct Fast {
        /// Window at the start, in packets; RFC 6928 has 10
        pub initial_window: f64,
        /// alpha: how many of its packets are to wait in queues
        pub alpha: f64,
        /// gamma: share of the distance to the window of equation 2 that is covered per round trip, 0 to 1
        pub gamma: f64,
        /// Queueing delay below which the window doubles per round trip, as in the ns-2 module of Cui and Andrew; zero:
        /// it doubles only in slow start, until alpha packets wait
        pub mi_threshold: Duration,
    }
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
        let rule = FastRule { fast: self.clone(), rounds: Rounds::new(), rtt: None, growth: 0.0 };
        Box::new(Window::new(rule, self.initial_window, host.packet))
    }
}

/// FAST's window growth rule.
struct FastRule {
    fast: Fast,
    rounds: Rounds,
    /// Average RTT, seconds; none before the first sample.
    rtt: Option<f64>,
    /// Growth per acknowledged packet in the present round trip, packets.
    growth: f64,
}

impl FastRule {
    /// Whether the queueing delay is below the threshold, if there is one.
    fn doubles(&self) -> bool {
        let threshold = self.fast.mi_threshold;
        threshold > Duration::ZERO && self.rtt.is_none_or(|rtt| rtt - self.rounds.base < threshold.as_secs())
    }
}

impl WindowRule for FastRule {
    fn observe(&mut self, now: Time, w: f64, ack: &Ack) {
        let Some(rtt) = ack.rtt.map(Duration::as_secs).filter(|&rtt| rtt > 0.0) else { return };
        let weight = (3.0 / w).min(0.25); // section IV-B
        let average = self.rtt.map_or(rtt, |average| average + weight * (rtt - average));
        self.rtt = Some(average);
        if self.rounds.on_ack(now, ack).is_some() {
            let Fast { alpha, gamma, .. } = self.fast;
            let next = (1.0 - gamma) * w + gamma * (w * self.rounds.base / average + alpha); // equation 2
            self.growth = (next.min(2.0 * w) - w) / w; // computed once per round trip, spread over the next
        }
    }

    fn increase(&mut self, _: Time, _: f64, _: &Ack) -> f64 {
        if self.doubles() { 1.0 } else { self.growth }
    }

    /// **Decided**: without a threshold, the window doubles until alpha packets wait, as many as in equilibrium. (In
    /// the paper, alpha is proportional to the window as long as there is no queueing delay at all; but already the
    /// first pair of packets sees some.)
    fn slow_start(&mut self, w: f64) -> Option<f64> {
        let doubles = match self.fast.mi_threshold {
            Duration::ZERO => self.rtt.is_none_or(|rtt| self.rounds.queued(w, rtt) < self.fast.alpha),
            _ => self.doubles(),
        };
        doubles.then_some(1.0)
    }

    fn decrease(&mut self, _: Time, w: f64) -> f64 {
        self.growth = 0.0; // it was computed for the window before the loss
        standard::decrease(w)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rounds::tests::rounds;
    use crate::window::tests::round;

    fn equation(base: f64, rtt: f64) -> FastRule {
        FastRule { fast: Fast::default(), rounds: rounds(base), rtt: Some(rtt), growth: 0.0 }
    }

    #[test]
    fn a_round_trip_covers_half_of_the_distance_to_alpha_packets_in_the_queue() {
        // Equation 2 by hand, on a path of 100 ms. At an RTT of 125 ms, 1250 of 6250 packets wait; at 104 ms, 200 of
        // 5200 do, which is equilibrium.
        for (w, rtt, next) in
            [(5000.0, 0.1, 5100.0), (6250.0, 0.125, 5725.0), (5200.0, 0.104, 5200.0), (50.0, 0.1, 100.0)]
        {
            let mut rule = equation(0.1, rtt);
            let (now, same) = round(&mut rule, Time::ZERO, w, rtt);
            let (_, end) = round(&mut rule, now, same, rtt);
            let two = (0.5 * same + 0.5 * (same * 0.1 / rtt + 200.0)).min(2.0 * same);
            assert!((same - next).abs() < 1.5 + 0.01 * w / 100.0, "{w}: {same} instead of {next}");
            assert!((end - two).abs() < 2.0, "{same}: {end} instead of {two}");
        }
    }

    #[test]
    fn the_average_rtt_spans_a_third_of_a_window() {
        let mut rule = equation(0.1, 0.1);
        let ack = Ack { rtt: Some(Duration::from_secs(0.2)), ..Ack::default() };
        for _ in 0..1000 {
            rule.observe(Time::ZERO, 3000.0, &ack);
        }
        assert!((rule.rtt.unwrap() - (0.2 - 0.1 * (-1.0f64).exp())).abs() < 1e-4, "{:?}", rule.rtt);
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
            FastRule { fast, growth: 0.1, ..equation(0.1, rtt) }
        };
        let ack = Ack::default();
        for (rtt, growth) in [(0.1007, 1.0), (0.1008, 0.1)] {
            assert_eq!(with(rtt).increase(Time::ZERO, 9000.0, &ack), growth);
            assert_eq!(with(rtt).slow_start(9000.0).is_some(), growth == 1.0);
        }
    }
}
