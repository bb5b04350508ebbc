//! BBR version 3: sends at the rate that the path was measured to deliver, and keeps little more in flight than fits
//! (draft-ietf-ccwg-bbr-06, Cardwell, Swett and Beshay, "BBR Congestion Control", July 2026).
//!
//! Sections, functions and variables are called as in the draft. Left out is what answers a recovery that turns out to have been
//! unnecessary (section 5.5.11), as no host here says so. **Decided** where the draft leaves a choice:
//! - Chance (PickProbeWait): the bits of the time at which it is asked for, well mixed. Flows ask at different times, and a run
//!   can be repeated.
//! - Packets leave one by one at the pacing rate, not in bursts of C.send_quantum, which a host may do at most; and
//!   BBR.offload_budget is one quantum, as for QUIC.
//! - After a timeout, the window is one packet and grows by what is acknowledged up to BBR.max_inflight; hosts do not tell when
//!   its repair ends.
//! - It needs selective acknowledgments: without them, what arrived long before a hole was filled looks like a burst.
//! - A discontiguous range of losses (section 5.3.1.3) is what one acknowledgment reveals.

mod control;
mod filter;
mod machine;
mod model;
mod probe_bw;
mod probe_rtt;
mod sampler;
mod startup;

pub use machine::Machine;

use crate::registry::Protocol;
use crate::roles::{Conditions, Sender};
use crate::units::Duration;
use crate::window::within;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters. The gains, each the result of an analysis of its own, are constants.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Bbr {
    /// Window at the start, in packets (InitialCwnd; RFC 6928)
    pub initial_window: f64,
    /// Loss rate per round trip that is accepted while probing for bandwidth (LossThresh)
    pub loss_threshold: f64,
    /// Least factor on what is held for safe, per round trip with a loss (Beta)
    pub beta: f64,
    /// Share of the highest safe volume in flight that is left to others (Headroom)
    pub headroom: f64,
    /// Time between looks at the least round-trip time (ProbeRTTInterval)
    pub probe_rtt_interval: Duration,
    /// How long such a look lasts at least (ProbeRTTDuration)
    pub probe_rtt_duration: Duration,
    /// How long the least round-trip time is remembered (MinRTTFilterLen)
    pub min_rtt_memory: Duration,
}

impl Default for Bbr {
    /// Section 2.
    fn default() -> Bbr {
        Bbr {
            initial_window: 10.0,
            loss_threshold: 0.02,
            beta: 0.7,
            headroom: 0.15,
            probe_rtt_interval: Duration::from_millis(5000),
            probe_rtt_duration: Duration::from_millis(200),
            min_rtt_memory: Duration::from_millis(10_000),
        }
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
        within("min-rtt-memory", self.min_rtt_memory.as_secs(), 0.1..=1e6)
    }

    fn sender(&self, host: &Conditions) -> Box<dyn Sender> {
        Box::new(Machine::new(self.clone(), host.packet))
    }
}
