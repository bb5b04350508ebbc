//! PCC Vivace: tries a rate a little above its own and one a little below, and moves towards the better one by a step
//! that grows with the difference (M. Dong, T. Meng, D. Zarchy, E. Arslan, Y. Gilad, P. B. Godfrey and M. Schapira,
//! "PCC Vivace: Online-Learning Congestion Control", NSDI 2018).
//!
//! ```text
//!   Opening -- first RTT --> SlowStart -- a doubled rate has less utility, or a timeout --> Comparing
//! ```
//! How good a rate is, its utility (`utility.rs`), follows from a monitor interval of about one round trip
//! (`monitor.rs`): much is sent, the RTT does not grow, and little is lost. `step.rs` is the size of a step. Losses and
//! RTTs count in no other way, but for a timeout, which halves the rate.
//!
//! Left out is the second look at pairs in which the higher rate loses less than the lower one (section 4.3): it lets
//! chance speak twice on one side only, and so lowers the rate where losses are random. **Decided** where the paper is
//! silent:
//! - Which rate of a pair comes first is drawn by a hash of the present time, so that a trend of the path does not
//!   always count for the same one.
//! - Until a pair's result is known, about a round trip after its end, the sender keeps its own rate. So does slow
//!   start between two rates: it doubles every other round trip, and loses less at its end.
//! - Before the first RTT is known, the initial window leaves at once (RFC 6928). Slow start begins with that window
//!   per RTT.
//! - An interval has at least 10 packets, and the rate is at least two packets per RTT.
//! - An interval in which the application limits the rate says nothing: it is repeated.

mod sender;
mod step;
mod utility;

pub use sender::VivaceSender;

use crate::parameters::within;
use crate::protocol::Protocol;
use crate::roles::{Conditions, Sender};
use alloc::{boxed::Box, string::String};

crate::parameters! {
    /// Parameters.
    pub struct Vivace {
        /// t: exponent of the sending rate in the utility
        pub exponent: f64,
        /// b: weight of the RTT's growth in the utility
        pub latency: f64,
        /// c: weight of losses in the utility; with t, a flow alone bears random losses of up to t C^(t-1)/c on C Mbps
        pub loss: f64,
        /// Growth of the RTT, in seconds per second, up to which it counts as noise
        pub noise: f64,
        /// epsilon: by which share of the rate a pair's rates are above and below it
        pub difference: f64,
        /// theta_0: step in Mbps, where a Mbps more would raise the utility by one
        pub conversion: f64,
        /// omega_0: the largest step at first, as a share of the rate
        pub boundary: f64,
        /// delta: by how much the largest step grows for each step that reached it
        pub boundary_growth: f64,
        /// Packets sent before the first RTT is known (RFC 6928)
        pub initial_window: f64,
    }
}

impl Default for Vivace {
    /// The values of sections 4.3 and 5; theta_0, omega_0, delta and the amplifier (`step.rs`) at second hand.
    fn default() -> Vivace {
        Vivace {
            exponent: 0.9,
            latency: 900.0,
            loss: 11.35,
            noise: 0.01,
            difference: 0.05,
            conversion: 1.0,
            boundary: 0.05,
            boundary_growth: 0.1,
            initial_window: 10.0,
        }
    }
}

impl Protocol for Vivace {
    fn check(&self) -> Result<(), String> {
        within("exponent", self.exponent, 0.1..=1.0)?;
        within("latency", self.latency, 0.0..=1e6)?;
        within("loss", self.loss, 0.0..=1e6)?;
        within("noise", self.noise, 0.0..=1.0)?;
        within("difference", self.difference, 0.001..=0.5)?;
        within("conversion", self.conversion, 1e-3..=1e3)?;
        within("boundary", self.boundary, 0.001..=1.0)?;
        within("boundary-growth", self.boundary_growth, 0.0..=1.0)?;
        within("initial-window", self.initial_window, 1.0..=1e6)
    }

    fn sender(&self, host: &Conditions) -> Box<dyn Sender> {
        Box::new(VivaceSender::new(self.clone(), host.packet))
    }
}
