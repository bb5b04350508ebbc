//! The state of RACK-TLP (RFC 8985) at a source.

use crate::host::rack::Rack;
use control::{Duration, Time};

/// What a source with RACK-TLP knows beside the scoreboard.
pub struct RackTlp {
    /// When packets were sent, and which of them are lost by now.
    pub rack: Rack,
    /// When the reordering window of packets ends that would be lost then.
    pub window_ends: Option<Time>,
    /// What the timer waits for.
    pub waits_for: Expiry,
    /// The probe that has been sent and neither arrived nor was overtaken by a recovery.
    pub probe: Option<Probe>,
    /// The round-trip time was measured since the last probe.
    pub sampled: bool,
    /// By how much an acknowledgment of a single packet may be late (`TLP.max_ack_delay`).
    pub ack_delay: Duration,
}

/// What the one timer of a source waits for (section 8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expiry {
    /// The retransmission timeout.
    Timeout,
    /// The end of the reordering window.
    Window,
    /// The time for a probe.
    Probe,
}

/// A tail loss probe.
#[derive(Clone, Copy, Debug)]
pub struct Probe {
    /// It has arrived, or the packet that it repeats, when everything before this segment has (`TLP.end_seq`).
    pub end: u64,
    /// Its order among the flow's packets.
    pub order: u32,
    /// It repeats the last segment (`TLP.is_retrans`).
    pub repeats: bool,
}

impl RackTlp {
    /// Of a flow that has sent nothing.
    pub fn new(ack_delay: Duration) -> RackTlp {
        RackTlp {
            rack: Rack::default(),
            window_ends: None,
            waits_for: Expiry::Timeout,
            probe: None,
            sampled: false,
            ack_delay,
        }
    }

    /// Packet number `order`, which carries `segment`, is sent.
    pub fn on_send(&mut self, now: Time, order: u32, segment: u64) {
        self.rack.on_send(now, order, segment);
    }

    /// Losses begin to be repaired (section 7.1).
    pub fn forget_probe(&mut self) {
        self.probe = None;
    }
}
