//! Datagrams and when they were read, where the kernel's own timestamps are not available without unsafe code.

use control::Time;
use quinn::udp::{RecvMeta, UdpSockRef, UdpSocketState};
use realtime::Clock;
use std::io::{self, IoSliceMut};
use std::net::UdpSocket;

/// Reads datagrams, and the clock.
pub(crate) struct Reader {
    clock: Clock,
    state: UdpSocketState,
}

impl Reader {
    /// Reads from `socket`.
    pub(crate) fn new(socket: &UdpSocket) -> io::Result<Reader> {
        Ok(Reader { clock: Clock::start(), state: UdpSocketState::new(UdpSockRef::from(socket))? })
    }

    /// The next datagram, into `buffer`, and the present time.
    pub(crate) fn read(&self, socket: &UdpSocket, buffer: &mut IoSliceMut<'_>) -> io::Result<(Time, RecvMeta)> {
        let (mut metas, mut buffers) = ([RecvMeta::default()], [IoSliceMut::new(buffer)]);
        self.state.recv(UdpSockRef::from(socket), &mut buffers, &mut metas)?;
        Ok((self.clock.now(), metas[0]))
    }
}
