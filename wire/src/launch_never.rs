//! Where the kernel takes no launch times.

use crate::pacing::Pacing;
use control::Time;
use quinn::udp::Transmit;
use realtime::Clock;
use std::io;
use std::net::{SocketAddr, UdpSocket};

/// How packets are sent at their time.
pub(crate) fn choose(_: &UdpSocket, _: SocketAddr) -> Pacing {
    Pacing::Spin
}

/// Hands over no datagrams.
pub(crate) struct Launcher;

impl Launcher {
    /// Of no use.
    pub(crate) fn new(_: Clock) -> io::Result<Launcher> {
        Ok(Launcher)
    }

    /// Fails.
    pub(crate) fn send(&self, _: &UdpSocket, _: &Transmit<'_>, _: Time) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
