//! Which implementation of QUIC carries the flows, and what both implementations and both sides have in common.

use crate::contestant::Congestion;
use crate::error::Cause;
use experiment::Flow;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use tokio::runtime::{Builder, Runtime};
use wire::Choice;

/// The application protocol of the connections (ALPN, RFC 7301).
pub const PROTOCOL: &[u8] = b"thalweg-real";
/// Any free port of the loopback device.
pub const ANY: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// Which implementation of QUIC carries the flows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Stack {
    /// `wire`, with the experiment's controllers.
    Wire,
    /// quinn, with one of its own controllers.
    Quinn(Congestion),
}

/// The controller of `flow` and all of its parameters. Where a parameter is `auto`, the controller chooses by what
/// `wire` tells it of its host; other values are passed on as they are. Packets are ECN-capable where those of the flow
/// are, with the same codepoint.
pub fn choice(flow: &Flow) -> Result<Choice, Cause> {
    let parameters = flow.parameters.as_object().cloned().unwrap_or_default();
    let choice = Choice::new(&flow.controller, &parameters)?;
    Ok(if flow.ecn.is_capable() { choice.with_ecn()? } else { choice })
}

/// A runtime for all flows' senders or receivers, on this thread, which the system schedules before ordinary ones if it
/// may.
pub fn runtime() -> io::Result<Runtime> {
    realtime::hurry(1);
    Builder::new_current_thread().enable_all().build()
}
