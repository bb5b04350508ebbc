//! Datagrams and when they were read, on systems whose kernel timestamps are not available without unsafe code.

use control::Time;
use quinn::udp::{RecvMeta, UdpSockRef, UdpSocketState};
use realtime::Clock;
use std::io::{self, IoSliceMut};
use std::net::UdpSocket;

/// Reads datagrams, and the clock.
pub(crate) struct DatagramReader {
    clock: Clock,
    state: UdpSocketState,
}

impl DatagramReader {
    /// Reads from `socket`.
    pub(crate) fn new(socket: &UdpSocket) -> io::Result<DatagramReader> {
        Ok(DatagramReader { clock: Clock::start(), state: UdpSocketState::new(UdpSockRef::from(socket))? })
    }

    /// Reads the next datagram into `buffer`. Its time is the present.
    pub(crate) fn read(&self, socket: &UdpSocket, buffer: &mut IoSliceMut<'_>) -> io::Result<(Time, RecvMeta)> {
        let (mut metas, mut buffers) = ([RecvMeta::default()], [IoSliceMut::new(buffer)]);
        self.state.recv(UdpSockRef::from(socket), &mut buffers, &mut metas)?;
        Ok((self.clock.now(), metas[0]))
    }
}
