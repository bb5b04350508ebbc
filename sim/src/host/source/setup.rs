//! What a source is made of, and what it counts.

use crate::host::round_trips::RoundTrips;
use control::{Bytes, Duration, Recovery, Sender};
use path::Ecn;

/// How a flow is sent.
pub struct Setup {
    /// The congestion controller's sending party.
    pub controller: Box<dyn Sender>,
    /// How losses are repaired.
    pub recovery: Recovery,
    /// How many bytes there are to send, on the wire; none for a flow that does not end.
    pub size: Option<Bytes>,
    /// Size of a full packet on the wire.
    pub packet: Bytes,
    /// The receiver's window, in packets; none if it is no limit.
    pub receive_window: Option<u64>,
    /// The most packets that leave together for one acknowledgment or timer; none if that is no limit.
    pub max_burst: Option<u64>,
    /// How many windows leave per smoothed round-trip time, if the packets of a window protocol are to be spaced.
    pub pacing: Option<f64>,
    /// The least margin of the retransmission timeout over the smoothed round-trip time.
    pub min_rto: Duration,
    /// Whether the controller is told when data comes after an idle period.
    pub idle_restart: bool,
    /// The flow's number.
    pub flow: u32,
    /// The position in the topology at which the flow's data begins.
    pub way_out: u32,
    /// The ECN field of its packets.
    pub ecn: Ecn,
}

/// Totals of a source since its start.
#[derive(Clone, Copy, Debug, Default)]
pub struct SourceCounters {
    /// Packets sent again.
    pub retransmitted: u64,
    /// Loss events, timeouts included.
    pub loss_events: u32,
    /// Timeouts.
    pub timeouts: u32,
    /// The samples of the round-trip time.
    pub round_trips: RoundTrips,
}
