//! Messages and when they were read, on systems whose kernel timestamps are not available without unsafe code.

use control::Time;
use quinn::udp::{RecvMeta, UdpSockRef, UdpSocketState};
use realtime::Clock;
use std::io::{self, IoSliceMut};
use std::net::UdpSocket;

/// Reads messages, and the clock.
pub(crate) struct MessageReader {
    clock: Clock,
}

impl MessageReader {
    /// Begins to count time.
    pub(crate) fn new() -> MessageReader {
        MessageReader { clock: Clock::start() }
    }

    /// Does nothing: there are no times to be taken.
    pub(crate) fn take_times(&self, _: &UdpSocket, _: bool) {}

    /// Reads the next message into `buffer`. Its time is the present.
    pub(crate) fn read(
        &self,
        socket: &UdpSocket,
        state: &UdpSocketState,
        buffer: &mut IoSliceMut<'_>,
    ) -> io::Result<(Time, RecvMeta)> {
        let (mut metas, mut buffers) = ([RecvMeta::default()], [IoSliceMut::new(buffer)]);
        state.recv(UdpSockRef::from(socket), &mut buffers, &mut metas)?;
        Ok((self.clock.now(), metas[0]))
    }
}
