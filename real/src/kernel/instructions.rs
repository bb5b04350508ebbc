//! What a run and the process that sends its flows tell each other: a line of JSON each way.

use serde::{Deserialize, Serialize};
use std::net::Ipv4Addr;

/// What the sender is to do.
#[derive(Serialize, Deserialize)]
pub struct Instructions {
    /// The receivers' address.
    pub host: Ipv4Addr,
    /// The kernel's name of the congestion control.
    pub congestion: String,
    /// Whether packets are ECN-capable: ECT(0), where the receivers accept that (RFC 3168).
    pub ecn: bool,
    /// The flows, all of which it sends.
    pub flows: Vec<FlowInstructions>,
}

/// One flow. Times are microseconds since 1970.
#[derive(Serialize, Deserialize)]
pub struct FlowInstructions {
    /// The receiver's port.
    pub port: u16,
    /// When to open the connection.
    pub opens: u64,
    /// When to send the first data.
    pub start: u64,
    /// When to stop.
    pub stop: u64,
    /// How much to send, bytes.
    pub size: u64,
}

/// What the sender says at its end.
#[derive(Serialize, Deserialize)]
pub struct SenderReport {
    /// Segments that were sent again, of all flows.
    pub resent: u64,
}
