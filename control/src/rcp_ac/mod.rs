//! RCP-AC: RCP with acceleration control (Dukkipati, McKeown and Fraser, "RCP-AC: Congestion Control to make flows
//! complete quickly in any environment").
//!
//! Routers keep RCP's rate R, but flows approach it only as fast as the queue can absorb: in each interval, a router
//! lets all traffic together grow by no more than phi. phi is bounded by gamma, the share of the buffer that an
//! operator puts at risk. Headers, receiver and sender are those of XCP, except that the sender is paced.

mod router;

pub use router::RcpAcRouter;

use crate::assisted::Assisted;
use crate::parameters::within;
use crate::protocol::Protocol;
use crate::rcp::{self, RateController};
use crate::roles::{Conditions, Receiver, Router, Sender};
use crate::routing::{Port, Routing};
use crate::units::Duration;
use crate::xcp::{XcpReceiver, XcpSender};
use alloc::{boxed::Box, string::String};

crate::parameters! {
    /// Parameters of the sender.
    pub struct RcpAc {
        /// Window of the first round trip that carries data, in packets
        pub initial_window: f64,
    }
}

impl Default for RcpAc {
    /// The paper does not give the first window. **Decided**: a packet, so that a flow that has just begun puts as
    /// little as it can into the queue before the router has granted it anything.
    fn default() -> RcpAc {
        RcpAc { initial_window: 1.0 }
    }
}

impl Protocol for RcpAc {
    fn check(&self) -> Result<(), String> {
        within("initial-window", self.initial_window, 1.0..=1e6)
    }

    fn sender(&self, host: &Conditions) -> Box<dyn Sender> {
        Box::new(Assisted::new(XcpSender::paced(self.initial_window, host.packet), self.initial_window, host.packet))
    }

    fn receiver(&self, _: &Conditions) -> Option<Box<dyn Receiver>> {
        Some(Box::new(XcpReceiver::default()))
    }
}

crate::parameters! {
    /// Parameters of the router.
    pub struct RcpAcRouting {
        /// The share of the buffer by which traffic may grow in an interval beyond the spare capacity: with a small
        /// share queues stay short, with a large one flows approach the rate as fast as RCP's
        pub gamma: f64,
        /// Weight of the spare capacity in phi (equation 2)
        pub phi_alpha: f64,
        /// Weight of the queue in phi (equation 2): no growth while more than gamma/phi-beta of the buffer is full
        pub phi_beta: f64,
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

impl Default for RcpAcRouting {
    /// The paper does not give the alpha and beta of phi. **Decided**: alpha is XCP's, and beta is 2, so that phi is
    /// zero at a queue of gamma B/2. A crowd that begins within a round trip adds to that what was granted before the
    /// queue showed it, and the longest queue is about the largest phi (figure 1 (d)). R is RCP's ("uses the same
    /// equation as RCP", section II).
    fn default() -> RcpAcRouting {
        let rcp = rcp::RcpRouting::default();
        RcpAcRouting {
            gamma: 0.2,
            phi_alpha: 0.4,
            phi_beta: 2.0,
            alpha: rcp.alpha,
            beta: rcp.beta,
            interval: rcp.interval,
            initial_rate: rcp.initial_rate,
            least_rate: rcp.least_rate,
            initial_rtt: rcp.initial_rtt,
        }
    }
}

impl RcpAcRouting {
    /// The parameters of the rate controller, which is RCP's.
    fn rate(&self) -> rcp::RcpRouting {
        let RcpAcRouting { alpha, beta, interval, initial_rate, least_rate, initial_rtt, .. } = *self;
        rcp::RcpRouting { alpha, beta, interval, initial_rate, least_rate, initial_rtt }
    }
}

impl Routing for RcpAcRouting {
    fn check(&self) -> Result<(), String> {
        within("gamma", self.gamma, 1e-6..=1e6)?;
        within("phi-alpha", self.phi_alpha, 0.0..=10.0)?;
        within("phi-beta", self.phi_beta, 0.0..=100.0)?;
        self.rate().check()
    }

    fn router(&self, port: &Port) -> Box<dyn Router> {
        Box::new(RcpAcRouter::new(self, RateController::new(&self.rate(), port.capacity), port.buffer))
    }
}
