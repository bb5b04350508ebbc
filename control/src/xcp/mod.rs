//! XCP: routers share out spare bandwidth and queues packet by packet (Katabi, Handley and Rohrs, "Congestion Control for High
//! Bandwidth-Delay Product Networks", SIGCOMM 2002).
//!
//! Every packet carries its sender's window and round-trip time, and brings home by how much the window may grow or must shrink.
//! A router's efficiency controller says by how much all traffic together should (phi), and its fairness controller divides that:
//! additive increase, multiplicative decrease.

mod receiver;
mod router;
mod sender;

pub use receiver::Sum;
pub use router::Machine;
pub use sender::Guided;

use crate::assisted::Assisted;
use crate::rcp::seconds;
use crate::registry::Protocol;
use crate::roles::{Conditions, Receiver, Router, Sender};
use crate::routers::{Port, Routing};
use crate::units::Duration;
use crate::window::within;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of the sender.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Xcp {
    /// Window of the first round trip that carries data, in packets
    pub initial_window: f64,
}

impl Default for Xcp {
    fn default() -> Xcp {
        Xcp { initial_window: 2.0 }
    }
}

impl Protocol for Xcp {
    fn check(&self) -> Result<(), String> {
        within("initial-window", self.initial_window, 1.0..=1e6)
    }

    fn sender(&self, host: &Conditions) -> Box<dyn Sender> {
        Box::new(Assisted::new(Guided::new(self.initial_window, host.packet), self.initial_window, host.packet))
    }

    fn receiver(&self, _: &Conditions) -> Option<Box<dyn Receiver>> {
        Some(Box::new(Sum::default()))
    }
}

/// Parameters of the router.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Routers {
    /// Weight of the spare bandwidth in phi (equation 1)
    pub alpha: f64,
    /// Weight of the queue in phi (equation 1)
    pub beta: f64,
    /// The share of the traffic that is taken from all and given to all in each interval, so that shares become equal (gamma)
    pub shuffle: f64,
    /// The control interval until packets have brought their round-trip times
    pub initial_rtt: Duration,
}

impl Default for Routers {
    fn default() -> Routers {
        Routers { alpha: 0.4, beta: 0.226, shuffle: 0.1, initial_rtt: Duration::from_millis(100) }
    }
}

impl Routing for Routers {
    fn check(&self) -> Result<(), String> {
        within("alpha", self.alpha, 1e-3..=10.0)?;
        within("beta", self.beta, 0.0..=10.0)?;
        within("shuffle", self.shuffle, 0.0..=1.0)?;
        seconds("initial-rtt", self.initial_rtt)
    }

    fn router(&self, port: &Port) -> Box<dyn Router> {
        Box::new(Machine::new(self, port.capacity))
    }
}
