//! Scalable TCP, STCP: the window grows in proportion to its size, so that the time between losses does not depend on
//! the link's rate (Kelly, "Scalable TCP: Improving Performance in Highspeed Wide Area Networks", CCR 33(2), 2003,
//! section 2).

use crate::extensions::Extensions;
use crate::parameters::within;
use crate::protocol::Protocol;
use crate::roles::{Ack, Conditions, Sender};
use crate::slow_start::SlowStart;
use crate::standard;
use crate::units::Time;
use crate::window::{Window, WindowRule};
use alloc::{boxed::Box, string::String};

crate::parameters! {
    /// Parameters.
    pub struct Scalable {
        /// Window at the start, in packets; RFC 6928 has 10
        pub initial_window: f64,
        /// What ends slow start before a loss or mark: nothing ("standard"), HyStart of Linux ("hystart"), RFC 9406
        /// ("hystart++"), or deliveries that no longer keep up with what was sent ("search")
        pub slow_start: SlowStart,
        /// a: growth per acknowledged packet, in packets
        pub increase: f64,
        /// b: share of the window given up on a loss, 0 to 1
        pub decrease: f64,
        /// Up to this window, in packets, it is Reno
        pub low_window: f64,
    }
}

impl Default for Scalable {
    fn default() -> Scalable {
        Scalable {
            initial_window: 2.0,
            slow_start: SlowStart::Standard,
            increase: 0.01,
            decrease: 0.125,
            low_window: 16.0,
        }
    }
}

impl Protocol for Scalable {
    fn check(&self) -> Result<(), String> {
        within("initial-window", self.initial_window, 1.0..=1e6)?;
        within("increase", self.increase, 0.0..=1.0)?;
        within("decrease", self.decrease, 0.0..=1.0)?;
        within("low-window", self.low_window, 0.0..=1e9)
    }

    fn sender(&self, host: &Conditions) -> Box<dyn Sender> {
        let window = Window::new(self.clone(), self.initial_window, host.packet);
        Box::new(window.extended(Extensions::of(self.slow_start, host)))
    }
}

impl WindowRule for Scalable {
    fn increase(&mut self, _: Time, w: f64, _: &Ack) -> f64 {
        if w <= self.low_window { standard::increase(w) } else { self.increase } // cwnd + a
    }

    fn decrease(&mut self, _: Time, w: f64) -> f64 {
        if w <= self.low_window { standard::decrease(w) } else { w * (1.0 - self.decrease) } // cwnd - b cwnd
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::tests::growth_per_rtt;

    /// The paper's claim: the window before a loss is regained in ln(1/(1-b)) / ln(1+a) round trips, about 13, whatever
    /// its size.
    #[test]
    fn recovery_takes_as_long_at_every_window() {
        for w in [100.0, 1_000.0, 100_000.0] {
            let mut rule = Scalable::default();
            let mut now = rule.decrease(Time::ZERO, w);
            let mut rtts = 0;
            while now < w {
                now += growth_per_rtt(&mut rule, now);
                rtts += 1;
            }
            assert!((13..=14).contains(&rtts), "{w}: {rtts}");
        }
    }

    #[test]
    fn is_reno_up_to_the_low_window() {
        let mut rule = Scalable::default();
        assert_eq!(rule.decrease(Time::ZERO, 16.0), 8.0);
        assert_eq!(rule.decrease(Time::ZERO, 24.0), 21.0);
        assert!(growth_per_rtt(&mut rule, 10.0) > 0.9);
    }
}
