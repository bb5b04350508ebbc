//! RCP-AC: RCP with acceleration control (Dukkipati, McKeown and Fraser, "RCP-AC: Congestion Control to make flows complete quickly
//! in any environment").
//!
//! Routers keep RCP's rate, but flows climb towards it only as fast as the queue can take: in each interval, a router lets all
//! traffic together grow by phi, which gamma, the share of the buffer that an operator puts at risk, bounds. Headers, receiver and
//! sender are XCP's; the sender is paced.

mod router;

pub use router::Machine;

use crate::assisted::Assisted;
use crate::rcp::{self, RateController};
use crate::registry::Protocol;
use crate::roles::{Conditions, Receiver, Router, Sender};
use crate::routers::{Port, Routing};
use crate::units::Duration;
use crate::window::within;
use crate::xcp::{Guided, Sum};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of the sender.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RcpAc {
    /// Window of the first round trip that carries data, in packets
    pub initial_window: f64,
}

impl Default for RcpAc {
    fn default() -> RcpAc {
        RcpAc { initial_window: 2.0 }
    }
}

impl Protocol for RcpAc {
    fn check(&self) -> Result<(), String> {
        within("initial-window", self.initial_window, 1.0..=1e6)
    }

    fn sender(&self, host: &Conditions) -> Box<dyn Sender> {
        Box::new(Assisted::new(Guided::paced(self.initial_window, host.packet), self.initial_window, host.packet))
    }

    fn receiver(&self, _: &Conditions) -> Option<Box<dyn Receiver>> {
        Some(Box::new(Sum::default()))
    }
}

/// Parameters of the router.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Routers {
    /// The share of the buffer by which traffic may grow in an interval beyond what the link has to spare: small, and queues stay
    /// short; large, and flows climb as fast as RCP's
    pub gamma: f64,
    /// Weight of the spare capacity in phi (equation 2)
    pub phi_alpha: f64,
    /// Weight of the queue in phi (equation 2): no growth while more than gamma/phi-beta of the buffer is full
    pub phi_beta: f64,
    /// Weight of the spare capacity in the rate's change (equation 1)
    pub alpha: f64,
    /// Weight of the queue in the rate's change (equation 1)
    pub beta: f64,
    /// T, how often the rate is updated; each mean round-trip time if that is shorter
    pub interval: Duration,
    /// The rate at the start, as a share of the capacity
    pub initial_rate: f64,
    /// The least rate, as a share of the capacity
    pub least_rate: f64,
    /// The mean round-trip time until packets have brought theirs
    pub initial_rtt: Duration,
}

impl Default for Routers {
    /// phi's alpha and beta are not in the paper: **decided**, alpha as XCP's, and beta such that phi is zero at a queue of 2 gamma B.
    /// In figure 1's flash crowd the worst queue is then 2.1 gamma B, whatever gamma. R must then fall by that queue:
    /// **decided**, twice RCP's beta, with which it does within 20 round trips at gamma = 0.2, and is as stable.
    fn default() -> Routers {
        let rcp = rcp::Routers::default();
        Routers {
            gamma: 0.2,
            phi_alpha: 0.4,
            phi_beta: 0.5,
            alpha: rcp.alpha,
            beta: 0.8,
            interval: rcp.interval,
            initial_rate: rcp.initial_rate,
            least_rate: rcp.least_rate,
            initial_rtt: rcp.initial_rtt,
        }
    }
}

impl Routers {
    /// Those of the rate controller.
    fn rate(&self) -> rcp::Routers {
        let Routers { alpha, beta, interval, initial_rate, least_rate, initial_rtt, .. } = *self;
        rcp::Routers { alpha, beta, interval, initial_rate, least_rate, initial_rtt }
    }
}

impl Routing for Routers {
    fn check(&self) -> Result<(), String> {
        within("gamma", self.gamma, 1e-6..=1e6)?;
        within("phi-alpha", self.phi_alpha, 0.0..=10.0)?;
        within("phi-beta", self.phi_beta, 0.0..=100.0)?;
        self.rate().check()
    }

    fn router(&self, port: &Port) -> Box<dyn Router> {
        Box::new(Machine::new(self, RateController::new(&self.rate(), port.capacity), port.buffer))
    }
}
