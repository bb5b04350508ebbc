//! XCP: routers distribute spare bandwidth and the reduction of queues packet by packet (Katabi, Handley and Rohrs,
//! "Congestion Control for High Bandwidth-Delay Product Networks", SIGCOMM 2002).
//!
//! Every packet carries its sender's window and round-trip time, and returns by how much the window may grow or must
//! shrink. A router's efficiency controller computes by how much all traffic together is to change (phi, the aggregate
//! feedback). Its fairness controller divides phi among the packets: additive increase, multiplicative decrease.

mod receiver;
mod router;
mod sender;

pub use receiver::XcpReceiver;
pub use router::XcpRouter;
pub use sender::XcpSender;

use crate::assisted::Assisted;
use crate::parameters::{seconds, within};
use crate::protocol::Protocol;
use crate::roles::{Conditions, Receiver, Router, Sender};
use crate::routing::{Port, Routing};
use crate::units::Duration;
use alloc::{boxed::Box, string::String};

crate::parameters! {
    /// Parameters of the sender.
    pub struct Xcp {
        /// Window of the first round trip that carries data, in packets
        pub initial_window: f64,
    }
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
        Box::new(Assisted::new(XcpSender::new(self.initial_window, host.packet), self.initial_window, host.packet))
    }

    fn receiver(&self, _: &Conditions) -> Option<Box<dyn Receiver>> {
        Some(Box::new(XcpReceiver::default()))
    }
}

crate::parameters! {
    /// Parameters of the router.
    pub struct XcpRouting {
        /// Weight of the spare bandwidth in phi (equation 1)
        pub alpha: f64,
        /// Weight of the queue in phi (equation 1)
        pub beta: f64,
        /// gamma: the share of the traffic that is taken from all flows and given to all flows in each interval, so
        /// that rates become equal
        pub shuffle: f64,
        /// The control interval before packets have told their round-trip times
        pub initial_rtt: Duration,
    }
}

impl Default for XcpRouting {
    fn default() -> XcpRouting {
        XcpRouting { alpha: 0.4, beta: 0.226, shuffle: 0.1, initial_rtt: Duration::from_millis(100) }
    }
}

impl Routing for XcpRouting {
    fn check(&self) -> Result<(), String> {
        within("alpha", self.alpha, 1e-3..=10.0)?;
        within("beta", self.beta, 0.0..=10.0)?;
        within("shuffle", self.shuffle, 0.0..=1.0)?;
        seconds("initial-rtt", self.initial_rtt)
    }

    fn router(&self, port: &Port) -> Box<dyn Router> {
        Box::new(XcpRouter::new(self, port.capacity))
    }
}
