//! BBR version 3: sends at the rate that the path was measured to deliver, and keeps little more in flight than the
//! path holds (draft-ietf-ccwg-bbr-06, Cardwell, Swett and Beshay, "BBR Congestion Control", July 2026).
//!
//! ```text
//!   Startup --> Drain --> ProbeBW_DOWN --> ProbeBW_CRUISE --> ProbeBW_REFILL --> ProbeBW_UP
//!                           ^   |                                ^                  |
//!                           |   +--------------------------------+                  |
//!                           +-------------------------------------------------------+
//!   any state -- no lower RTT for 5 s --> ProbeRTT --> ProbeBW_CRUISE, or Startup if the path has never been full
//! ```
//! Sections, functions and variables have the draft's names. The answer to a recovery that turns out to have been
//! unnecessary (section 5.5.11) is left out, as no host reports one. **Decided** where the draft leaves a choice:
//! - Random numbers (PickProbeWait): a hash of the present time. Flows draw at different times, and a run can be
//!   repeated.
//! - Packets leave one by one at the pacing rate, not in bursts of C.send_quantum, which the draft gives as the most
//!   that a host may send at once. BBR.offload_budget is one quantum, as for QUIC.
//! - After a timeout, the window is one packet and grows by what is acknowledged up to BBR.max_inflight, as hosts do
//!   not report when the repair ends.
//! - The host repairs losses by selective acknowledgments. Without them, the data that has arrived before a hole is
//!   filled would be acknowledged at once and look like a burst.
//! - A discontiguous range of losses (section 5.3.1.3) is what one acknowledgment reports as lost.

mod control;
mod ecn;
mod model;
mod probe_bw;
mod probe_rtt;
mod sender;
mod startup;
mod state;

pub use sender::BbrSender;
pub(crate) use state::ProbeRtt;

use crate::parameters::within;
use crate::protocol::Protocol;
use crate::roles::{Conditions, Sender};
use crate::units::Duration;
use alloc::{boxed::Box, string::String};

crate::parameters! {
    /// Parameters. The gains are constants, as each follows from an analysis.
    pub struct Bbr {
        /// InitialCwnd: window at the start, in packets (RFC 6928)
        pub initial_window: f64,
        /// LossThresh: the share of packets lost per round trip that is accepted while probing for bandwidth
        pub loss_threshold: f64,
        /// Beta: the least factor on the limits of bandwidth and volume in flight per round trip with a loss
        pub beta: f64,
        /// Headroom: the share of the highest volume in flight without losses that is left to other flows
        pub headroom: f64,
        /// ProbeRTTInterval: time between measurements of the least round-trip time
        pub probe_rtt_interval: Duration,
        /// ProbeRTTDuration: how long such a measurement lasts at least
        pub probe_rtt_duration: Duration,
        /// MinRTTFilterLen: how long the least round-trip time is remembered
        pub min_rtt_memory: Duration,
        /// Whether it responds to marks, as in Linux; fixed: true in `bbr-ecn`, false in `bbr`
        pub ecn: bool,
        /// bbr_ecn_max_rtt_us: above this round-trip time it does not respond to marks
        pub ecn_max_rtt: Duration,
    }
}

impl Default for Bbr {
    /// The constants of section 2.
    fn default() -> Bbr {
        Bbr {
            initial_window: 10.0,
            loss_threshold: 0.02,
            beta: 0.7,
            headroom: 0.15,
            probe_rtt_interval: Duration::from_millis(5000),
            probe_rtt_duration: Duration::from_millis(200),
            min_rtt_memory: Duration::from_millis(10_000),
            ecn: false,
            ecn_max_rtt: Duration::from_millis(5),
        }
    }
}

impl Bbr {
    /// For networks whose queues mark early.
    pub fn with_ecn() -> Bbr {
        Bbr { ecn: true, ..Bbr::default() }
    }
}

impl Protocol for Bbr {
    fn check(&self) -> Result<(), String> {
        within("initial-window", self.initial_window, 1.0..=1e6)?;
        within("loss-threshold", self.loss_threshold, 0.0..=0.5)?;
        within("beta", self.beta, 0.01..=1.0)?;
        within("headroom", self.headroom, 0.0..=0.9)?;
        within("probe-rtt-interval", self.probe_rtt_interval.as_secs(), 0.1..=1e6)?;
        within("probe-rtt-duration", self.probe_rtt_duration.as_secs(), 0.0..=10.0)?;
        within("min-rtt-memory", self.min_rtt_memory.as_secs(), 0.1..=1e6)?;
        within("ecn-max-rtt", self.ecn_max_rtt.as_secs(), 0.0..=1e6)
    }

    fn sender(&self, host: &Conditions) -> Box<dyn Sender> {
        Box::new(BbrSender::new(self.clone(), host.packet))
    }
}
