//! BIC: a binary search for the window between the last loss and what it left (BIC-2004: Xu, Harfoush, Rhee, "Binary
//! Increase Congestion Control for Fast Long-Distance Networks", INFOCOM 2004). The code is section VI-A's pseudo-code.

use crate::registry::Protocol;
use crate::reno;
use crate::roles::{Ack, Conditions, Phase, Sender};
use crate::units::Time;
use crate::window::{Law, Window, within};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Bic {
    /// Window at the start, in packets; RFC 6928 has 10
    pub initial_window: f64,
    /// Below this window, in packets, it is Reno
    pub low_window: f64,
    /// S_max: the most by which the window grows per round trip, in packets
    pub smax: f64,
    /// S_min: the least by which the window grows per round trip, in packets
    pub smin: f64,
    /// beta: share of the window given up on a loss, 0 to 1
    pub beta: f64,
    /// B: a step covers one B-th of the distance to the maximum; 2 is the paper's binary search
    pub divisor: f64,
}

impl Default for Bic {
    fn default() -> Bic {
        Bic { initial_window: 2.0, low_window: 14.0, smax: 32.0, smin: 0.01, beta: 0.125, divisor: 2.0 }
    }
}

impl Bic {
    /// The constants of Linux's `tcp_bic`: it keeps 819/1024 of the window, grows by at most 16, searches in quarters, and
    /// needs 20 round trips for the 4 packets on either side of the maximum. Not its integer arithmetic, nor that it grows by
    /// 4/20 all through those 4 packets, at least by 1/20 of the window before the first loss, and forgets all on a timeout.
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
        Box::new(Window::new(Search::new(self), self.initial_window, host.packet))
    }
}

/// The binary search.
pub(crate) struct Search {
    bic: Bic,
    /// W_max: the window at the last loss, packets; zero before it, from where every window is far above the maximum.
    wmax: f64,
}

impl Search {
    /// Before the first loss.
    pub(crate) fn new(bic: &Bic) -> Search {
        Search { bic: bic.clone(), wmax: 0.0 }
    }

    /// By how much a window of `w` would grow in a round trip without limits.
    fn step(&self, w: f64) -> f64 {
        if w < self.wmax {
            (self.wmax - w) / self.bic.divisor // binary search or additive increase
        } else {
            (w - self.wmax) / (self.bic.divisor - 1.0) // slow start or additive increase
        }
    }
}

impl Law for Search {
    /// "When not in fast recovery and an acknowledgment for a new packet arrives."
    fn increase(&mut self, _: Time, w: f64, _: &Ack) -> f64 {
        let Bic { low_window, smax, smin, .. } = self.bic;
        if w < low_window {
            return reno::increase(w); // normal TCP
        }
        self.step(w).clamp(smin, smax) / w // bic_inc is per round trip
    }

    fn phase(&self, w: f64) -> Phase {
        if w < self.bic.low_window {
            Phase::CongestionAvoidance
        } else if self.step(w) > self.bic.smax {
            Phase::AdditiveIncrease
        } else if w < self.wmax {
            Phase::BinarySearch
        } else {
            Phase::MaxProbing
        }
    }

    /// "When entering fast recovery."
    fn decrease(&mut self, _: Time, w: f64) -> f64 {
        let Bic { low_window, beta, .. } = self.bic;
        if w < low_window {
            return reno::decrease(w); // normal TCP
        }
        self.wmax = if w < self.wmax { w * (2.0 - beta) / 2.0 } else { w }; // fast convergence
        w * (1.0 - beta)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::tests::growth_per_rtt;

    fn at(wmax: f64, bic: Bic) -> Search {
        Search { bic, wmax }
    }

    #[test]
    fn searches_between_the_clamps() {
        // Distance to W_max = 1000, and the growth per round trip that VI-A gives for it: S_max up to a distance of
        // 2 S_max, then half the distance down to S_min; past W_max the distance itself, doubling it.
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
    fn says_what_it_is_doing() {
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
        assert_eq!(search.wmax, 750.0); // the midpoint of 800 and 700
        assert_eq!(search.decrease(Time::ZERO, 880.0), 770.0);
        assert_eq!(search.wmax, 880.0);
    }

    #[test]
    fn is_reno_below_the_low_window() {
        let mut search = at(1000.0, Bic::default());
        assert_eq!((search.decrease(Time::ZERO, 13.9), search.wmax), (6.95, 1000.0));
        assert_eq!(search.increase(Time::ZERO, 10.0, &Ack::default()), 0.1);
    }

    #[test]
    fn linux_keeps_four_fifths_and_searches_in_quarters() {
        let mut search = at(1000.0, Bic::linux());
        assert!((search.decrease(Time::ZERO, 2048.0) - 2.0 * 819.0).abs() < 1e-9);
        for (w, step) in [(1900.0, 16.0), (2016.0, 8.0), (2047.9, 0.2), (2060.0, 4.0), (2100.0, 16.0)] {
            let per_rtt = search.increase(Time::ZERO, w, &Ack::default()) * w;
            assert!((per_rtt - step).abs() < 1e-9, "{w}: {per_rtt} instead of {step}");
        }
    }
}
