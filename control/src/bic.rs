//! BIC: after a loss, a binary search between the window that the loss left and the window at which it occurred
//! (BIC-2004: Xu, Harfoush, Rhee, "Binary Increase Congestion Control for Fast Long-Distance Networks", INFOCOM 2004).
//!
//! The code is section VI-A's pseudo-code. Which step it takes depends on the window `w` and on W_max, the window at
//! the last loss:
//!
//! ```text
//!   w >= low_window:
//!                        (W_max - w)/B <= S_max           w >= W_max              w - W_max > S_max (B - 1)
//!     AdditiveIncrease -----------------> BinarySearch ------------> MaxProbing -----------------> AdditiveIncrease
//!       S_max per RTT                     (W_max - w)/B               (w - W_max)/(B - 1)           S_max per RTT
//!
//!   w < low_window: CongestionAvoidance, as standard TCP
//!   a loss:         W_max becomes w, or less for a flow in decline; w becomes (1 - beta) w
//! ```

use crate::extensions::Extensions;
use crate::parameters::within;
use crate::protocol::Protocol;
use crate::roles::{Ack, Conditions, Phase, Sender};
use crate::slow_start::SlowStart;
use crate::standard;
use crate::units::Time;
use crate::window::{Window, WindowRule};
use alloc::{boxed::Box, format, string::String};

crate::parameters! {
    /// Parameters.
    pub struct Bic {
        /// Window at the start, in packets; RFC 6928 has 10
        pub initial_window: f64,
        /// What ends slow start before a loss or mark: nothing ("standard"), HyStart of Linux ("hystart"), RFC 9406
        /// ("hystart++"), or deliveries that no longer keep up with what was sent ("search")
        pub slow_start: SlowStart,
        /// Below this window, in packets, it is Reno
        pub low_window: f64,
        /// S_max: the most by which the window grows per round trip, in packets
        pub smax: f64,
        /// S_min: the least by which the window grows per round trip, in packets
        pub smin: f64,
        /// beta: share of the window given up on a loss, 0 to 1
        pub beta: f64,
        /// B: a step covers one B-th of the distance to the maximum; 2 gives the paper's binary search
        pub divisor: f64,
    }
}

impl Default for Bic {
    fn default() -> Bic {
        Bic {
            initial_window: 2.0,
            slow_start: SlowStart::Standard,
            low_window: 14.0,
            smax: 32.0,
            smin: 0.01,
            beta: 0.125,
            divisor: 2.0,
        }
    }
}

impl Bic {
    /// The constants of Linux's `tcp_bic`: a loss leaves 819/1024 of the window, growth is at most 16 packets per round
    /// trip, a step covers a quarter of the distance, and growth near the maximum is 4 packets in 20 round trips.
    ///
    /// What Linux does beyond that is not here: integer arithmetic; growth of exactly 4/20 within 4 packets of the
    /// maximum; growth of at least 1/20 of the window before the first loss; forgetting the maximum on a timeout.
    pub fn linux() -> Bic {
        Bic { smax: 16.0, smin: 4.0 / 20.0, beta: 205.0 / 1024.0, divisor: 4.0, ..Bic::default() }
    }
}

impl Protocol for Bic {
    fn check(&self) -> Result<(), String> {
        within("initial-window", self.initial_window, 1.0..=1e6)?;
        within("low-window", self.low_window, 0.0..=1e9)?;
        within("smax", self.smax, 1e-6..=1e6)?;
        within("smin", self.smin, 1e-6..=1e6)?;
        within("beta", self.beta, 0.0..=1.0)?;
        within("divisor", self.divisor, 1.01..=1e3)?;
        if self.smin <= self.smax {
            Ok(())
        } else {
            Err(format!("smin = {} is above smax = {}; write less", self.smin, self.smax))
        }
    }

    fn sender(&self, host: &Conditions) -> Box<dyn Sender> {
        let window = Window::new(BicRule::new(self), self.initial_window, host.packet);
        Box::new(window.extended(Extensions::of(self.slow_start, host)))
    }
}

/// BIC's window growth rule.
pub(crate) struct BicRule {
    bic: Bic,
    maximum: Maximum,
}

/// W_max, the window for which the rule searches.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Maximum {
    /// No packet has been lost yet. Every window counts as far above the maximum.
    Unknown,
    /// The window at the last loss, or less for a flow in decline, in packets.
    Known(f64),
}

impl BicRule {
    /// The rule before the first loss.
    pub(crate) fn new(bic: &Bic) -> BicRule {
        BicRule { bic: bic.clone(), maximum: Maximum::Unknown }
    }

    /// By how many packets a window of `w` would grow in a round trip without the limits S_max and S_min.
    fn step(&self, w: f64) -> f64 {
        let past = self.bic.divisor - 1.0;
        match self.maximum {
            Maximum::Known(wmax) if w < wmax => (wmax - w) / self.bic.divisor, // binary search or additive increase
            Maximum::Known(wmax) => (w - wmax) / past,                         // slow start or additive increase
            Maximum::Unknown => w / past,
        }
    }

    /// Whether the window is still below the maximum.
    fn is_below_maximum(&self, w: f64) -> bool {
        matches!(self.maximum, Maximum::Known(wmax) if w < wmax)
    }
}

impl WindowRule for BicRule {
    /// "When not in fast recovery and an acknowledgment for a new packet arrives."
    fn increase(&mut self, _: Time, w: f64, _: &Ack) -> f64 {
        let Bic { low_window, smax, smin, .. } = self.bic;
        if w < low_window {
            return standard::increase(w); // normal TCP
        }
        self.step(w).clamp(smin, smax) / w // bic_inc is per round trip
    }

    fn phase(&self, w: f64) -> Phase {
        if w < self.bic.low_window {
            Phase::CongestionAvoidance
        } else if self.step(w) > self.bic.smax {
            Phase::AdditiveIncrease
        } else if self.is_below_maximum(w) {
            Phase::BinarySearch
        } else {
            Phase::MaxProbing
        }
    }

    /// "When entering fast recovery."
    fn decrease(&mut self, _: Time, w: f64) -> f64 {
        let Bic { low_window, beta, .. } = self.bic;
        if w < low_window {
            return standard::decrease(w); // normal TCP
        }
        // Fast convergence: a flow that loses packets below its last maximum is in decline.
        let wmax = if self.is_below_maximum(w) { w * (2.0 - beta) / 2.0 } else { w };
        self.maximum = Maximum::Known(wmax);
        w * (1.0 - beta)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::tests::growth_per_rtt;

    /// The rule after a loss at a window of `wmax`.
    fn at(wmax: f64, bic: Bic) -> BicRule {
        BicRule { bic, maximum: Maximum::Known(wmax) }
    }

    #[test]
    fn a_step_is_half_the_distance_to_the_maximum_within_its_limits() {
        // Windows, and the growth per round trip that section VI-A gives for W_max = 1000: S_max while the distance is
        // more than 2 S_max, then half the distance, but no less than S_min; past W_max the distance itself, which
        // doubles it.
        for (w, step) in
            [(900.0, 32.0), (936.0, 32.0), (960.0, 20.0), (999.99, 0.01), (1000.0, 0.01), (1008.0, 8.0), (1500.0, 32.0)]
        {
            let per_rtt = at(1000.0, Bic::default()).increase(Time::ZERO, w, &Ack::default()) * w;
            assert!((per_rtt / step - 1.0).abs() < 1e-9, "{w}: {per_rtt} instead of {step}");
        }
    }

    #[test]
    fn growth_slows_toward_the_old_maximum_and_speeds_up_past_it() {
        let mut search = at(1000.0, Bic::default());
        let mut w = 875.0;
        let mut steps = Vec::new();
        while w < 1100.0 {
            let step = growth_per_rtt(&mut search, w);
            steps.push(step);
            w += step;
        }
        let slowest = (0..steps.len()).min_by(|&i, &j| steps[i].total_cmp(&steps[j])).unwrap();
        assert!((steps[slowest] / 0.01 - 1.0).abs() < 0.01);
        assert!(steps[..slowest].is_sorted_by(|a, b| a >= b) && steps[slowest..].is_sorted(), "{steps:?}");
    }

    #[test]
    fn the_phase_tells_which_step_it_takes() {
        use Phase::{AdditiveIncrease, BinarySearch, CongestionAvoidance, MaxProbing};
        let search = at(1000.0, Bic::default());
        for (w, phase) in [
            (13.0, CongestionAvoidance),
            (900.0, AdditiveIncrease),
            (960.0, BinarySearch),
            (1000.0, MaxProbing),
            (1020.0, MaxProbing),
            (1100.0, AdditiveIncrease),
        ] {
            assert_eq!(search.phase(w), phase, "{w}");
        }
    }

    #[test]
    fn fast_convergence_aims_lower_for_a_flow_in_decline() {
        let mut search = at(1000.0, Bic::default());
        assert_eq!(search.decrease(Time::ZERO, 800.0), 700.0);
        assert_eq!(search.maximum, Maximum::Known(750.0)); // the midpoint of 800 and 700
        assert_eq!(search.decrease(Time::ZERO, 880.0), 770.0);
        assert_eq!(search.maximum, Maximum::Known(880.0));
    }

    #[test]
    fn is_reno_below_the_low_window() {
        let mut search = at(1000.0, Bic::default());
        assert_eq!((search.decrease(Time::ZERO, 13.9), search.maximum), (6.95, Maximum::Known(1000.0)));
        assert_eq!(search.increase(Time::ZERO, 10.0, &Ack::default()), 0.1);
    }

    #[test]
    fn linux_keeps_four_fifths_of_the_window_and_steps_by_quarters() {
        let mut search = at(1000.0, Bic::linux());
        assert!((search.decrease(Time::ZERO, 2048.0) - 2.0 * 819.0).abs() < 1e-9);
        for (w, step) in [(1900.0, 16.0), (2016.0, 8.0), (2047.9, 0.2), (2060.0, 4.0), (2100.0, 16.0)] {
            let per_rtt = search.increase(Time::ZERO, w, &Ack::default()) * w;
            assert!((per_rtt - step).abs() < 1e-9, "{w}: {per_rtt} instead of {step}");
        }
    }
}
