//! RRRP: rate control by relative rate reduction (RRR-2008: Hága et al., "Relative Rate Reduction Based Control with
//! Adjustable Congestion Level", TRIDENTCOM 2008).
//!
//! The receiver measures the rate at which packets arrive, X_out, and reports it with every acknowledgment. The share
//! by which it is lower than the rate at which they were sent, RRR = (X_in - X_out)/X_in (equation 8), says how
//! congested the path is, long before a loss rate could. The sender sends at X_in = X_out/(1 - p_T(X_out)) (equation
//! 13): faster while the congestion is below the target p_T, slower above it, and at rest where it is p_T. Losses as
//! such do not matter to it.
//!
//! An application that pauses is measured as well: the first packets after a pause report its rate, and the flow grows
//! from there.

mod feedback;
mod receiver;
mod sender;

pub use feedback::{Feedback, Function};
pub use receiver::RrrpReceiver;
pub use sender::RrrpSender;

use crate::parameters::within;
use crate::protocol::Protocol;
use crate::roles::{Conditions, Receiver, Sender};
use crate::units::Rate;
use alloc::{boxed::Box, format, string::String};

crate::parameters! {
    /// Parameters.
    pub struct Rrrp {
        /// p_T, the congestion aimed at, as a function of the rate X that arrives: "tcp-like", (scale/X)^2; "linear",
        /// target (1 - X/limit); or "fixed", target
        pub function: Function,
        /// p_fix of "fixed", the congestion aimed at; p_Tlim of "linear", the congestion aimed at near rate zero
        pub target: f64,
        /// X_Tlim of "linear", the rate from which on the flow aims at no congestion
        pub limit: Rate,
        /// X_T of "tcp-like": the larger it is, the larger is the flow's share beside TCP
        pub scale: Rate,
        /// n: number of packets over which the receiver averages
        pub average: u16,
        /// Whether the rate that arrives counts as no more than the rate at which the same packets were sent, as
        /// equation 1 has it; if not, a flow also follows the rate at which a queue drains
        pub bounded: bool,
        /// Rate of the first packets
        pub initial_rate: Rate,
        /// X_min: least rate
        pub least_rate: Rate,
        /// C_max: the highest rate at which the sender can send
        pub highest_rate: Rate,
    }
}

impl Default for Rrrp {
    /// Of the functions, the paper finds only the TCP-like one fit for general use (section 5.1), and evaluates it with
    /// an X_T of 0.6 Mbps; the others' parameters are those of figure 3. It gives neither n nor X_min, and C_max is a
    /// matter of the host: **decided**. An n of 64 is about a round trip of its simulations (10 Mbps, 60 to 120 ms).
    /// With 32, a flow beside a Poisson background loses 1.6 % where it aims at 1 %; with 100, it takes longer to find
    /// its rate. Its figure 3 needs a meter without the bound of equation 1, and its figure 6 one with it.
    fn default() -> Rrrp {
        Rrrp {
            function: Function::TcpLike,
            target: 0.01,
            limit: Rate::from_mbps(4.0),
            scale: Rate::from_mbps(0.6),
            average: 64,
            bounded: false,
            initial_rate: Rate::from_mbps(1.6),
            least_rate: Rate::from_mbps(0.01),
            highest_rate: Rate::from_gbps(10.0),
        }
    }
}

impl Protocol for Rrrp {
    fn check(&self) -> Result<(), String> {
        let rate = |name, rate: Rate| within(name, rate.as_bps(), 1.0..=1e15);
        within("target", self.target, 0.0..=0.9)?;
        rate("limit", self.limit)?;
        rate("scale", self.scale)?;
        within("average", self.average as f64, 2.0..=10_000.0)?;
        rate("initial-rate", self.initial_rate)?;
        rate("least-rate", self.least_rate)?;
        rate("highest-rate", self.highest_rate)?;
        if self.least_rate.as_bps() > self.highest_rate.as_bps() {
            return Err(format!(
                "least-rate = {} is above highest-rate = {}; write less",
                self.least_rate, self.highest_rate
            ));
        }
        Ok(())
    }

    fn sender(&self, _: &Conditions) -> Box<dyn Sender> {
        Box::new(RrrpSender::new(self))
    }

    fn receiver(&self, _: &Conditions) -> Option<Box<dyn Receiver>> {
        Some(Box::new(RrrpReceiver::new(self.average, self.bounded)))
    }
}
