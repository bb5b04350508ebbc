//! AIMD(a, b), additive increase and multiplicative decrease: the window grows by `a` packets per round trip and loses
//! the share `b` on a loss. Reno is AIMD(1, 0.5). BIC-2004 compares BIC with AIMD(32, 0.125), whose response function
//! BIC's approaches at low loss rates (section VI-B).

use crate::extensions::Extensions;
use crate::parameters::within;
use crate::protocol::Protocol;
use crate::roles::{Ack, Conditions, Sender};
use crate::slow_start::SlowStart;
use crate::units::Time;
use crate::window::{Window, WindowRule};
use alloc::{boxed::Box, string::String};

crate::parameters! {
    /// Parameters.
    pub struct Aimd {
        /// Window at the start, in packets; RFC 6928 has 10
        pub initial_window: f64,
        /// What ends slow start before a loss or mark: nothing ("standard"), HyStart of Linux ("hystart"), RFC 9406
        /// ("hystart++"), or deliveries that no longer keep up with what was sent ("search")
        pub slow_start: SlowStart,
        /// a: growth per round trip, in packets
        pub increase: f64,
        /// b: share of the window given up on a loss, 0 to 1
        pub decrease: f64,
    }
}

impl Default for Aimd {
    fn default() -> Aimd {
        Aimd { initial_window: 2.0, slow_start: SlowStart::Standard, increase: 32.0, decrease: 0.125 }
    }
}

impl Protocol for Aimd {
    fn check(&self) -> Result<(), String> {
        within("initial-window", self.initial_window, 1.0..=1e6)?;
        within("increase", self.increase, 0.0..=1e6)?;
        within("decrease", self.decrease, 0.0..=1.0)
    }

    fn sender(&self, host: &Conditions) -> Box<dyn Sender> {
        let window = Window::new(self.clone(), self.initial_window, host.packet);
        Box::new(window.extended(Extensions::of(self.slow_start, host)))
    }
}

impl WindowRule for Aimd {
    fn increase(&mut self, _: Time, w: f64, _: &Ack) -> f64 {
        self.increase / w // a per round trip, in which w packets are acknowledged
    }

    fn decrease(&mut self, _: Time, w: f64) -> f64 {
        w * (1.0 - self.decrease) // what the share b leaves
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::tests::growth_per_rtt;

    #[test]
    fn the_window_grows_by_a_per_round_trip_and_falls_by_the_share_b() {
        let mut rule = Aimd::default();
        let grown = growth_per_rtt(&mut rule, 10_000.0);
        assert!((grown - 32.0).abs() < 0.1, "{grown}"); // a little less than 32, as w grows during the round trip
        assert_eq!(rule.decrease(Time::ZERO, 800.0), 700.0);
    }
}
