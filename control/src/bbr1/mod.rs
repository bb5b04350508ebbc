//! BBR version 1: paces at the largest rate at which the path has delivered in the last ten round trips, keeps at most
//! twice the bandwidth-delay product in flight, and takes no loss for congestion (N. Cardwell, Y. Cheng, C. S. Gunn, S.
//! H. Yeganeh and V. Jacobson, "BBR: Congestion-Based Congestion Control", ACM Queue 14(5), 2016;
//! draft-cardwell-iccrg-bbr-congestion-control-00, July 2017).
//!
//! ```text
//!   Startup --> Drain --> ProbeBW, with the pacing gains 5/4, 3/4, 1, 1, 1, 1, 1, 1 in turn
//!   any state -- no RTT as short as RTprop for 10 s --> ProbeRTT --> ProbeBW, or Startup if the path was never full
//! ```
//! Sections, functions and variables have the draft's names. Delivery rates are measured as by version 3
//! (`delivery_rate.rs`).
//!
//! Left out are what Linux has beyond the draft: the long-term bandwidth of a policer, the window for aggregated
//! acknowledgments, and pacing by 1 % below the bandwidth. **Decided** where the draft leaves a choice:
//! - The phase in which ProbeBW begins is drawn by a hash of the present time. Flows draw at different times, and a run
//!   can be repeated.
//! - Packets leave one by one at the pacing rate, not in bursts of BBR.send_quantum. The quantum counts in the window
//!   all the same (section 4.2.3.2).
//! - The first RTT sample sets the pacing rate anew, as in Linux: section 4.2.1 begins with an assumed RTT of 1 ms, and
//!   Startup does not lower a rate.
//! - After a timeout, the window is one packet and grows by what is acknowledged up to its target, as hosts do not
//!   report when the repair ends.
//! - The host repairs losses by selective acknowledgments. Without them, the data that has arrived before a hole is
//!   filled would be acknowledged at once and look like a burst.

mod control;
mod machine;
mod model;
mod sender;

pub use sender::Bbr1Sender;

use crate::parameters::within;
use crate::protocol::Protocol;
use crate::roles::{Conditions, Sender};
use crate::units::Duration;
use alloc::{boxed::Box, string::String};

crate::parameters! {
    /// Parameters. The pacing gains are constants, as each follows from an analysis.
    pub struct Bbr1 {
        /// InitialCwnd: window at the start, in packets (RFC 6928)
        pub initial_window: f64,
        /// BBR.cwnd_gain in ProbeBW: how many bandwidth-delay products may be in flight
        pub cwnd_gain: f64,
        /// RTpropFilterLen: how long the least round-trip time is remembered before it is measured again
        pub min_rtt_memory: Duration,
        /// ProbeRTTDuration: how long such a measurement lasts at least
        pub probe_rtt_duration: Duration,
    }
}

impl Default for Bbr1 {
    /// The constants of sections 4.1.2.2, 4.2.3.1, 4.3.4.1 and 4.3.5.
    fn default() -> Bbr1 {
        Bbr1 {
            initial_window: 10.0,
            cwnd_gain: 2.0,
            min_rtt_memory: Duration::from_millis(10_000),
            probe_rtt_duration: Duration::from_millis(200),
        }
    }
}

impl Protocol for Bbr1 {
    fn check(&self) -> Result<(), String> {
        within("initial-window", self.initial_window, 1.0..=1e6)?;
        within("cwnd-gain", self.cwnd_gain, 1.0..=100.0)?;
        within("min-rtt-memory", self.min_rtt_memory.as_secs(), 0.1..=1e6)?;
        within("probe-rtt-duration", self.probe_rtt_duration.as_secs(), 0.0..=10.0)
    }

    fn sender(&self, host: &Conditions) -> Box<dyn Sender> {
        Box::new(Bbr1Sender::new(self.clone(), host.packet))
    }
}
