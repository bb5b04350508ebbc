//! Reno: one packet more per round trip, half the window on a loss (RFC 5681). The controllers `newreno` and `reno`
//! differ only in how the host repairs losses: by RFC 6582 without selective acknowledgments, by RFC 6675 with them.

use crate::parameters::within;
use crate::protocol::Protocol;
use crate::roles::{Conditions, Sender};
use crate::standard::StandardRule;
use crate::window::Window;
use alloc::{boxed::Box, string::String};

crate::parameters! {
    /// Parameters.
    pub struct Reno {
        /// Window at the start, in packets; RFC 6928 has 10
        pub initial_window: f64,
        /// Share of the window that a reaction to ECN marks leaves, 0 to 1; RFC 8511 has 0.8
        pub beta_ecn: f64,
    }
}

impl Default for Reno {
    fn default() -> Reno {
        Reno { initial_window: 2.0, beta_ecn: 0.5 }
    }
}

impl Protocol for Reno {
    fn check(&self) -> Result<(), String> {
        within("initial-window", self.initial_window, 1.0..=1e6)?;
        within("beta-ecn", self.beta_ecn, 0.01..=0.99)
    }

    fn sender(&self, host: &Conditions) -> Box<dyn Sender> {
        Box::new(Window::new(StandardRule { beta_ecn: self.beta_ecn }, self.initial_window, host.packet))
    }
}
