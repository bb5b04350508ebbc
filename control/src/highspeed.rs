//! HighSpeed TCP, HSTCP: AIMD(a(w), b(w)), where `a` rises and `b` falls with the window `w`, so that a window of
//! 83,000 packets needs a loss rate of no less than 10^-7 (RFC 3649, section 5).

use crate::extensions::Extensions;
use crate::parameters::within;
use crate::protocol::Protocol;
use crate::roles::{Ack, Conditions, Sender};
use crate::slow_start::SlowStart;
use crate::standard;
use crate::units::Time;
use crate::window::{Window, WindowRule};
use alloc::{boxed::Box, format, string::String};
use libm::log;

crate::parameters! {
    /// Parameters.
    pub struct HighSpeed {
        /// Window at the start, in packets; RFC 6928 has 10
        pub initial_window: f64,
        /// What ends slow start before a loss or mark: nothing ("standard"), HyStart of Linux ("hystart"), RFC 9406
        /// ("hystart++"), or deliveries that no longer keep up with what was sent ("search")
        pub slow_start: SlowStart,
        /// Up to this window, in packets, it is Reno; BIC-2004 has 31
        pub low_window: f64,
        /// The window, in packets, for which high-p and high-decrease are given
        pub high_window: f64,
        /// The loss event rate, per packet, at which the mean window is to be high-window
        pub high_p: f64,
        /// Share of the window given up on a loss at high-window and above, 0 to 1
        pub high_decrease: f64,
        /// Above this window, in packets, slow start adds no more than half of it per round trip, or a(w) if that is
        /// more (RFC 3742, which recommends 100); zero: slow start doubles the window until the first loss
        pub max_ssthresh: f64,
    }
}

impl Default for HighSpeed {
    fn default() -> HighSpeed {
        HighSpeed {
            initial_window: 2.0,
            slow_start: SlowStart::Standard,
            low_window: 38.0,
            high_window: 83_000.0,
            high_p: 1e-7,
            high_decrease: 0.1,
            max_ssthresh: 0.0,
        }
    }
}

impl Protocol for HighSpeed {
    fn check(&self) -> Result<(), String> {
        within("initial-window", self.initial_window, 1.0..=1e6)?;
        within("low-window", self.low_window, 2.0..=1e9)?;
        within("high-window", self.high_window, 2.0..=1e12)?;
        within("high-p", self.high_p, 1e-24..=1.0)?;
        within("high-decrease", self.high_decrease, 0.001..=0.5)?;
        within("max-ssthresh", self.max_ssthresh, 0.0..=1e12)?;
        if self.low_window < self.high_window {
            Ok(())
        } else {
            Err(format!("low-window = {} is not below high-window = {}; write less", self.low_window, self.high_window))
        }
    }

    fn sender(&self, host: &Conditions) -> Box<dyn Sender> {
        let window = Window::new(HighSpeedRule::new(self), self.initial_window, host.packet);
        Box::new(window.extended(Extensions::of(self.slow_start, host)))
    }
}

/// HSTCP's window growth rule: the a(w) and b(w) that give its response function.
pub(crate) struct HighSpeedRule {
    parameters: HighSpeed,
    /// `p(low_window)`, per packet.
    low_p: f64,
    /// Slope of ln p over ln w.
    slope: f64,
    /// ln(high_window / low_window).
    span: f64,
    /// a(w) at the present window in whole packets, so that a logarithm and a power are computed once per packet of
    /// growth, not once per acknowledgment; none before the first growth.
    cached: Option<Cached>,
}

/// a(w) at a window of whole packets.
#[derive(Clone, Copy)]
struct Cached {
    /// Packets.
    window: f64,
    /// Packets per round trip.
    a: f64,
}

impl HighSpeedRule {
    /// The rule with these parameters.
    pub(crate) fn new(parameters: &HighSpeed) -> HighSpeedRule {
        let parameters = parameters.clone();
        // At low_window, HSTCP's response function meets Reno's, w = 1.2 / sqrt(p) (RFC 3649, section 3).
        let low_p = 1.44 / (parameters.low_window * parameters.low_window);
        let span = log(parameters.high_window / parameters.low_window);
        let slope = log(parameters.high_p / low_p) / span; // 1/S in RFC 3649, section 5
        HighSpeedRule { parameters, low_p, slope, span, cached: None }
    }

    /// Where `w` lies between low_window (0) and high_window (1), on a logarithmic scale.
    fn position(&self, w: f64) -> f64 {
        log(w / self.parameters.low_window) / self.span
    }

    /// b(w), the share of the window given up on a loss: linear in ln w (RFC 3649, section 5). Above high_window it
    /// stays constant, as it would become zero and negative in the end.
    fn b(&self, w: f64) -> f64 {
        let high = self.parameters.high_decrease;
        0.5 + (high - 0.5) * self.position(w).min(1.0)
    }

    /// a(w), the growth per round trip in packets, and never less than Reno's 1 (RFC 3649, section 5).
    fn a(&self, w: f64) -> f64 {
        let p = self.low_p * libm::exp(self.slope * self.span * self.position(w));
        let b = self.b(w);
        (w * w * p * 2.0 * b / (2.0 - b)).max(1.0) // a(w) = w^2 p(w) 2 b(w) / (2 - b(w))
    }

    /// The growth per acknowledged packet, in packets.
    fn growth(&mut self, w: f64) -> f64 {
        if w <= self.parameters.low_window {
            return standard::increase(w);
        }
        let window = libm::floor(w);
        let a = match self.cached {
            Some(cached) if cached.window == window => cached.a,
            _ => self.a(window),
        };
        self.cached = Some(Cached { window, a });
        a / w
    }
}

impl WindowRule for HighSpeedRule {
    fn increase(&mut self, _: Time, w: f64, _: &Ack) -> f64 {
        self.growth(w)
    }

    fn slow_start(&mut self, w: f64) -> Option<f64> {
        let half = self.parameters.max_ssthresh / 2.0;
        if half == 0.0 || w <= 2.0 * half {
            return Some(1.0);
        }
        let k = libm::floor(w / half); // RFC 3742, section 2: one packet per K acknowledged
        Some(self.growth(w).max(1.0 / k))
    }

    fn decrease(&mut self, _: Time, w: f64) -> f64 {
        if w <= self.parameters.low_window { standard::decrease(w) } else { w * (1.0 - self.b(w)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::tests::growth_per_rtt;

    /// RFC 3649, appendix B: w, a(w), b(w). The program in the appendix rounds p(w) to 1 / (12.8 w^1.2), which differs
    /// by up to 3.2 % from the definition in section 5.
    const TABLE: [(f64, f64, f64); 12] = [
        (118.0, 2.0, 0.44),
        (221.0, 3.0, 0.41),
        (347.0, 4.0, 0.38),
        (495.0, 5.0, 0.37),
        (1058.0, 8.0, 0.33),
        (2076.0, 12.0, 0.29),
        (5036.0, 20.0, 0.25),
        (10661.0, 30.0, 0.21),
        (19965.0, 41.0, 0.17),
        (40808.0, 56.0, 0.14),
        (68113.0, 67.0, 0.11),
        (84035.0, 71.0, 0.10),
    ];

    #[test]
    fn a_and_b_follow_the_table_of_rfc_3649() {
        let response = HighSpeedRule::new(&HighSpeed::default());
        for (w, a, b) in TABLE {
            assert!((response.a(w) / a - 1.0).abs() < 0.033, "a({w}) = {} instead of {a}", response.a(w));
            assert!((response.b(w) - b).abs() < 0.0051, "b({w}) = {} instead of {b}", response.b(w));
        }
        // At high_window the loss rate is high_p: a = w^2 p 2 b / (2 - b) without rounding.
        assert!((response.a(83_000.0) - 83_000f64.powi(2) * 1e-7 * 0.2 / 1.9).abs() < 1e-6);
        assert!((response.low_p / 1e-3 - 1.0).abs() < 0.01); // RFC 3649, section 5: Low_P
        assert!((1.0 / response.slope + 0.835).abs() < 0.001); // RFC 3649, section 5: S
    }

    #[test]
    fn grows_by_a_per_round_trip_and_falls_by_b() {
        let mut response = HighSpeedRule::new(&HighSpeed::default());
        for (w, a, b) in TABLE {
            let grown = growth_per_rtt(&mut response, w);
            assert!((grown / a - 1.0).abs() < 0.033, "{w}: {grown} instead of {a}");
            assert!((response.decrease(Time::ZERO, w) / w - (1.0 - b)).abs() < 0.0051);
        }
    }

    /// RFC 3742, section 2: from 2 to 100 packets in 6 round trips, then by 50 each, up to where a(w) is more.
    #[test]
    fn limited_slow_start_adds_half_of_max_ssthresh_per_round_trip() {
        let mut rule = HighSpeedRule::new(&HighSpeed { max_ssthresh: 100.0, ..HighSpeed::default() });
        let grown =
            |rule: &mut HighSpeedRule, w: f64| (0..w as u64).fold(w, |w, _| w + rule.slow_start(w).unwrap()) - w;
        assert_eq!(grown(&mut rule, 40.0), 40.0);
        for w in [1000.0, 10_000.0, 30_000.0] {
            assert!((grown(&mut rule, w) / 50.0 - 1.0).abs() < 0.06, "{w}: {}", grown(&mut rule, w));
        }
        assert!((grown(&mut rule, 68_113.0) / 67.0 - 1.0).abs() < 0.033);
        assert_eq!(HighSpeedRule::new(&HighSpeed::default()).slow_start(1e5), Some(1.0));
    }

    #[test]
    fn it_is_reno_up_to_low_window_and_gives_up_a_tenth_far_above_high_window() {
        let mut response = HighSpeedRule::new(&HighSpeed::default());
        assert_eq!(response.decrease(Time::ZERO, 38.0), 19.0);
        assert!((growth_per_rtt(&mut response, 37.0) - 1.0).abs() < 0.02);
        assert!((response.decrease(Time::ZERO, 1e7) - 0.9e7).abs() < 1.0);
    }
}
