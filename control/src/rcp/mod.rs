//! RCP: routers tell every flow the same rate (RCP-AC, section II and equation 1; Dukkipati et al., "Processor Sharing
//! Flows in the Internet", IWQoS 2005).
//!
//! A router keeps one rate, R, for all flows. Every packet carries the least R of the routers that it has passed. The
//! receiver sends that rate back with each acknowledgment, and the sender sends at it from its first round trip on. A
//! router keeps no state per flow, and does a few arithmetic operations per packet.

mod rate;
mod receiver;
mod router;
mod sender;

pub use rate::RateController;
pub use receiver::RcpReceiver;
pub use router::RcpRouter;
pub use sender::RcpSender;

use crate::assisted::Assisted;
use crate::parameters::{seconds, within};
use crate::protocol::Protocol;
use crate::roles::{Conditions, Receiver, Router, Sender};
use crate::routing::{Port, Routing};
use crate::units::Duration;
use alloc::{boxed::Box, format, string::String};

crate::parameters! {
    /// Parameters of the sender.
    pub struct Rcp {
        /// On a path without such routers: Reno's window at the start, in packets
        pub fallback_window: f64,
    }
}

impl Default for Rcp {
    fn default() -> Rcp {
        Rcp { fallback_window: 2.0 }
    }
}

impl Protocol for Rcp {
    fn check(&self) -> Result<(), String> {
        within("fallback-window", self.fallback_window, 1.0..=1e6)
    }

    fn sender(&self, host: &Conditions) -> Box<dyn Sender> {
        Box::new(Assisted::new(RcpSender::new(host.packet), self.fallback_window, host.packet))
    }

    fn receiver(&self, _: &Conditions) -> Option<Box<dyn Receiver>> {
        Some(Box::new(RcpReceiver))
    }
}

crate::parameters! {
    /// Parameters of the router.
    pub struct RcpRouting {
        /// Weight of the spare capacity in the rate's change (equation 1)
        pub alpha: f64,
        /// Weight of the queue in the rate's change (equation 1)
        pub beta: f64,
        /// T: the interval between updates of the rate, or the mean round-trip time if that is shorter
        pub interval: Duration,
        /// The rate at the start, as a share of the capacity
        pub initial_rate: f64,
        /// The least rate, as a share of the capacity
        pub least_rate: f64,
        /// The mean round-trip time that is assumed before packets have told theirs
        pub initial_rtt: Duration,
    }
}

impl Default for RcpRouting {
    /// The paper refers to its simulation scripts for the values: alpha, beta, T and the initial rate are those of the
    /// scripts. **Decided**: the least rate, which keeps R positive whatever the load is.
    fn default() -> RcpRouting {
        RcpRouting {
            alpha: 0.4,
            beta: 0.4,
            interval: Duration::from_millis(10),
            initial_rate: 0.05,
            least_rate: 1e-6,
            initial_rtt: Duration::from_millis(100),
        }
    }
}

impl Routing for RcpRouting {
    fn check(&self) -> Result<(), String> {
        within("alpha", self.alpha, 1e-3..=10.0)?;
        within("beta", self.beta, 0.0..=10.0)?;
        seconds("interval", self.interval)?;
        seconds("initial-rtt", self.initial_rtt)?;
        within("least-rate", self.least_rate, 1e-12..=1.0)?;
        within("initial-rate", self.initial_rate, 1e-12..=1.0)?;
        if self.least_rate > self.initial_rate {
            let (least, initial) = (self.least_rate, self.initial_rate);
            return Err(format!("least-rate = {least} is above initial-rate = {initial}; write less"));
        }
        Ok(())
    }

    fn router(&self, port: &Port) -> Box<dyn Router> {
        Box::new(RcpRouter::new(RateController::new(self, port.capacity)))
    }
}
