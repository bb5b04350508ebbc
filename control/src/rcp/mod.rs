//! RCP: routers tell every flow the same rate (RCP-AC, section II and equation 1; Dukkipati et al., "Processor Sharing Flows in
//! the Internet", IWQoS 2005).
//!
//! A router keeps one rate R for all flows. Every packet carries the least R of the routers that it passed; the receiver sends it
//! back with each acknowledgment, and the sender sends at it, from its first round trip on. No work per flow, and next to none per
//! packet.

mod rate;
mod receiver;
mod router;
mod sender;

pub use rate::RateController;
pub use receiver::Echo;
pub use router::Machine;
pub use sender::Obedient;
pub(crate) use sender::SmoothedRtt;

use crate::assisted::Assisted;
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
pub struct Rcp {
    /// On a path without such routers: Reno's window at the start, in packets
    pub fallback_window: f64,
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
        Box::new(Assisted::new(Obedient::new(host.packet), self.fallback_window, host.packet))
    }

    fn receiver(&self, _: &Conditions) -> Option<Box<dyn Receiver>> {
        Some(Box::new(Echo))
    }
}

/// Parameters of the router.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Routers {
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
    /// The paper refers to its simulation scripts for the values: alpha, beta, T and the initial rate are theirs. The clamp keeps
    /// R a rate whatever the load: **decided**.
    fn default() -> Routers {
        Routers {
            alpha: 0.4,
            beta: 0.4,
            interval: Duration::from_millis(10),
            initial_rate: 0.05,
            least_rate: 1e-6,
            initial_rtt: Duration::from_millis(100),
        }
    }
}

impl Routing for Routers {
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
        Box::new(Machine::new(RateController::new(self, port.capacity)))
    }
}

/// Checks a time that must be some, and no more than a minute.
pub(crate) fn seconds(name: &str, time: Duration) -> Result<(), String> {
    let fine = time >= Duration::from_micros(1) && time.as_secs() <= 60.0;
    if fine { Ok(()) } else { Err(format!("{name} = {time} is no such time; write \"1 us\" to \"60 s\"")) }
}
