//! HighSpeed TCP, HSTCP: an AIMD whose `a` and `b` depend on the window, such that it gets along with the loss rates of fast,
//! long paths (RFC 3649, section 5).

use crate::registry::Protocol;
use crate::reno;
use crate::roles::{Ack, Conditions, Sender};
use crate::units::Time;
use crate::window::{Law, Window, within};
use libm::log;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct HighSpeed {
    /// Window at the start, in packets; RFC 6928 has 10
    pub initial_window: f64,
    /// Up to this window, in packets, it is Reno; BIC-2004 has 31
    pub low_window: f64,
    /// The window, in packets, for which high-p and high-decrease are given
    pub high_window: f64,
    /// The loss event rate, per packet, at which the mean window is to be high-window
    pub high_p: f64,
    /// Share of the window given up on a loss at high-window and above, 0 to 1
    pub high_decrease: f64,
    /// Above this window, in packets, slow start adds no more than half of it per round trip, or what the law adds if that is
    /// more (RFC 3742, which recommends 100); zero: it doubles the window until the first loss
    pub max_ssthresh: f64,
}

impl Default for HighSpeed {
    fn default() -> HighSpeed {
        HighSpeed {
            initial_window: 2.0,
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
        Box::new(Window::new(Response::new(self), self.initial_window, host.packet))
    }
}

/// The response function, as the `a(w)` and `b(w)` that bring it about.
pub(crate) struct Response {
    parameters: HighSpeed,
    /// `p(low_window)`, per packet.
    low_p: f64,
    /// Slope of ln p over ln w.
    slope: f64,
    /// ln(high_window / low_window).
    span: f64,
    /// The last whole window asked for, and its `a`: a logarithm and a power per packet more of window, not per packet sent.
    cached: (f64, f64),
}

impl Response {
    pub(crate) fn new(parameters: &HighSpeed) -> Response {
        let parameters = parameters.clone();
        // Where HSTCP takes over, it starts from Reno's response function, w = 1.2 / sqrt(p) (RFC 3649, section 3).
        let low_p = 1.44 / (parameters.low_window * parameters.low_window);
        let span = log(parameters.high_window / parameters.low_window);
        let slope = log(parameters.high_p / low_p) / span; // 1/S in RFC 3649, section 5
        Response { parameters, low_p, slope, span, cached: (0.0, 0.0) }
    }

    /// How far `w` is on the way from the low to the high window, on a log scale.
    fn position(&self, w: f64) -> f64 {
        log(w / self.parameters.low_window) / self.span
    }

    /// Share of the window given up on a loss. RFC 3649, section 5: b(w), linear in ln w. Above the high window, where it
    /// would reach zero and less in the end, it stays.
    fn b(&self, w: f64) -> f64 {
        let high = self.parameters.high_decrease;
        0.5 + (high - 0.5) * self.position(w).min(1.0)
    }

    /// Growth per round trip, packets. RFC 3649, section 5: a(w) = w^2 p(w) 2 b(w) / (2 - b(w)), and never less than Reno's.
    fn a(&self, w: f64) -> f64 {
        let p = self.low_p * libm::exp(self.slope * self.span * self.position(w));
        let b = self.b(w);
        (w * w * p * 2.0 * b / (2.0 - b)).max(1.0)
    }

    /// Growth per acknowledged packet.
    fn growth(&mut self, w: f64) -> f64 {
        if w <= self.parameters.low_window {
            return reno::increase(w);
        }
        let whole = w.floor();
        if self.cached.0 != whole {
            self.cached = (whole, self.a(whole));
        }
        self.cached.1 / w
    }
}

impl Law for Response {
    fn increase(&mut self, _: Time, w: f64, _: &Ack) -> f64 {
        self.growth(w)
    }

    fn slow_start(&mut self, w: f64) -> Option<f64> {
        let half = self.parameters.max_ssthresh / 2.0;
        if half == 0.0 || w <= 2.0 * half {
            return Some(1.0);
        }
        let k = (w / half).floor(); // RFC 3742, section 2: one packet per K acknowledged
        Some(self.growth(w).max(1.0 / k))
    }

    fn decrease(&mut self, _: Time, w: f64) -> f64 {
        if w <= self.parameters.low_window { reno::decrease(w) } else { w * (1.0 - self.b(w)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::tests::growth_per_rtt;

    /// RFC 3649, appendix B: w, a(w), b(w). Its program rounds p(w) to 1 / (12.8 w^1.2), which is up to 3.2 % off what its
    /// own section 5 defines.
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
    fn follows_the_table_of_rfc_3649() {
        let response = Response::new(&HighSpeed::default());
        for (w, a, b) in TABLE {
            assert!((response.a(w) / a - 1.0).abs() < 0.033, "a({w}) = {} instead of {a}", response.a(w));
            assert!((response.b(w) - b).abs() < 0.0051, "b({w}) = {} instead of {b}", response.b(w));
        }
        // The high window is to be the mean at high-p: a = w^2 p 2 b / (2 - b) there, without rounding.
        assert!((response.a(83_000.0) - 83_000f64.powi(2) * 1e-7 * 0.2 / 1.9).abs() < 1e-6);
        assert!((response.low_p / 1e-3 - 1.0).abs() < 0.01); // RFC 3649, section 5: Low_P
        assert!((1.0 / response.slope + 0.835).abs() < 0.001); // RFC 3649, section 5: S
    }

    #[test]
    fn grows_by_a_per_round_trip_and_falls_by_b() {
        let mut response = Response::new(&HighSpeed::default());
        for (w, a, b) in TABLE {
            let grown = growth_per_rtt(&mut response, w);
            assert!((grown / a - 1.0).abs() < 0.033, "{w}: {grown} instead of {a}");
            assert!((response.decrease(Time::ZERO, w) / w - (1.0 - b)).abs() < 0.0051);
        }
    }

    /// RFC 3742, section 2: from 2 to 100 packets in 6 round trips, then by 50 each, up to where a(w) is more.
    #[test]
    fn a_limited_slow_start_climbs_by_half_of_its_limit() {
        let mut law = Response::new(&HighSpeed { max_ssthresh: 100.0, ..HighSpeed::default() });
        let grown = |law: &mut Response, w: f64| (0..w as u64).fold(w, |w, _| w + law.slow_start(w).unwrap()) - w;
        assert_eq!(grown(&mut law, 40.0), 40.0);
        for w in [1000.0, 10_000.0, 30_000.0] {
            assert!((grown(&mut law, w) / 50.0 - 1.0).abs() < 0.06, "{w}: {}", grown(&mut law, w));
        }
        assert!((grown(&mut law, 68_113.0) / 67.0 - 1.0).abs() < 0.033);
        assert_eq!(Response::new(&HighSpeed::default()).slow_start(1e5), Some(1.0));
    }

    #[test]
    fn is_reno_up_to_the_low_window_and_stays_tame_far_above_the_high_one() {
        let mut response = Response::new(&HighSpeed::default());
        assert_eq!(response.decrease(Time::ZERO, 38.0), 19.0);
        assert!((growth_per_rtt(&mut response, 37.0) - 1.0).abs() < 0.02);
        assert!((response.decrease(Time::ZERO, 1e7) - 0.9e7).abs() < 1.0);
    }
}
