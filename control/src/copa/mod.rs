//! Copa: moves its window towards a target rate that is inversely proportional to the queueing delay (V. Arun, H.
//! Balakrishnan, "Copa: Practical Delay-Based Congestion Control for the Internet", NSDI 2018).
//!
//! With Copa flows alone, the queue empties every five round trips (section 3), so that every flow sees the path's
//! round-trip time. Where it does not, a flow that fills the buffer takes part, and Copa competes with it. While it
//! does not compete, losses change nothing.
//!
//! **Decided** where the paper is silent:
//! - A window changes by no more than a packet per acknowledged packet, whatever the velocity: by no more than slow
//!   start does. A step against the direction of a fast window makes the velocity 1 at once.
//! - The window is two packets at least. After a timeout it is one packet, and slow start begins again.
//! - If more than a quarter of the packets of a round trip are lost, the window is halved. A buffer that is shorter
//!   than what the flows aim at never empties. After ten seconds, RTTmin is the round-trip time with a full buffer, no
//!   queueing delay is measured, and nothing else would stop the window.
//! - Round trips count towards competition only in steady state, where the velocity is 1, as section 3 is about that
//!   state. It takes more than five to empty the queue that slow start leaves on a long path.
//!
//! **Decided** against the paper: a queue is nearly empty up to 0.3 of its range, not 0.1 (`nearly-empty`). The range
//! of n flows alone is 5 n packets, so that a tenth is half a packet per flow. Queues consist of whole packets, and
//! packets wait for the one in transmission: with 0.1, flows alone take each other for flows that fill the buffer.

mod competition;
mod sender;
mod velocity;

pub use sender::CopaSender;

use crate::parameters::within;
use crate::protocol::Protocol;
use crate::roles::{Conditions, Sender};
use crate::units::Duration;
use alloc::{boxed::Box, string::String};

crate::parameters! {
    /// Parameters.
    pub struct Copa {
        /// Window at the start, in packets; RFC 6928 has 10
        pub initial_window: f64,
        /// delta: the weight of delay against throughput; one flow aims at 1/delta packets in the queue
        pub delta: f64,
        /// Whether it competes with flows that fill the buffer; otherwise it always gives way to them
        pub competitive_mode: bool,
        /// Share of its range in the last four round trips up to which the queueing delay means a nearly empty queue;
        /// if there is none in five round trips, it competes. The paper has 0.1
        pub nearly_empty: f64,
        /// How long the least round-trip time is remembered
        pub min_rtt_memory: Duration,
    }
}

impl Default for Copa {
    fn default() -> Copa {
        // Sections 2.1 and 2.2.
        Copa {
            initial_window: 2.0,
            delta: 0.5,
            competitive_mode: true,
            nearly_empty: 0.3,
            min_rtt_memory: Duration::from_millis(10_000),
        }
    }
}

impl Protocol for Copa {
    fn check(&self) -> Result<(), String> {
        within("initial-window", self.initial_window, 1.0..=1e6)?;
        within("delta", self.delta, 1e-4..=10.0)?;
        within("nearly-empty", self.nearly_empty, 0.0..=1.0)?;
        within("min-rtt-memory", self.min_rtt_memory.as_secs(), 0.1..=1e6)
    }

    fn sender(&self, host: &Conditions) -> Box<dyn Sender> {
        Box::new(CopaSender::new(self, host.packet))
    }
}
