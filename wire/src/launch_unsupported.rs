//! Launch times, on systems whose kernel takes none.

use crate::pacing::Pacing;
use control::Time;
use quinn::udp::Transmit;
use realtime::Clock;
use std::io;
use std::net::{SocketAddr, UdpSocket};

/// How packets are sent at their time: from a thread that spins.
pub(crate) fn choose(_: &UdpSocket, _: SocketAddr) -> Pacing {
    Pacing::Spin
}

/// The place of what hands datagrams over with launch times.
pub(crate) struct Launcher;

impl Launcher {
    /// Succeeds, so that pacing begins; nothing is ever sent through it.
    pub(crate) fn new(_: Clock) -> io::Result<Launcher> {
        Ok(Launcher)
    }

    /// Fails: [`choose`] chooses launch times for no destination.
    pub(crate) fn send(&self, _: &UdpSocket, _: &Transmit<'_>, _: Time) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
