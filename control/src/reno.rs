//! Reno: one packet more per round trip, half the window on a loss (RFC 5681). The controllers `newreno` and `reno`
//! differ only in how the host repairs losses: by RFC 6582 without selective acknowledgments, by RFC 6675 with them.

use crate::extensions::Extensions;
use crate::parameters::within;
use crate::protocol::Protocol;
use crate::roles::{Conditions, Sender};
use crate::slow_start::SlowStart;
use crate::standard::StandardRule;
use crate::window::Window;
use alloc::{boxed::Box, string::String};

crate::parameters! {
    /// Parameters.
    pub struct Reno {
        /// Window at the start, in packets; RFC 6928 has 10
        pub initial_window: f64,
        /// What ends slow start before a loss or mark: nothing ("standard"), HyStart of Linux ("hystart"), RFC 9406
        /// ("hystart++"), or deliveries that no longer keep up with what was sent ("search")
        pub slow_start: SlowStart,
        /// Share of the window that a reaction to ECN marks leaves, 0 to 1; RFC 8511 has 0.8
        pub beta_ecn: f64,
    }
}

impl Default for Reno {
    fn default() -> Reno {
        Reno { initial_window: 2.0, slow_start: SlowStart::Standard, beta_ecn: 0.5 }
    }
}

impl Protocol for Reno {
    fn check(&self) -> Result<(), String> {
        within("initial-window", self.initial_window, 1.0..=1e6)?;
        within("beta-ecn", self.beta_ecn, 0.01..=0.99)
    }

    fn sender(&self, host: &Conditions) -> Box<dyn Sender> {
        let window = Window::new(StandardRule { beta_ecn: self.beta_ecn }, self.initial_window, host.packet);
        Box::new(window.extended(Extensions::of(self.slow_start, host)))
    }
}
