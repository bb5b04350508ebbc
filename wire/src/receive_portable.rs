//! Messages and when they were read, on systems whose kernel timestamps are not available without unsafe code.

use quinn::udp::{RecvMeta, UdpSockRef, UdpSocketState};
use std::io::{self, IoSliceMut};
use std::net::UdpSocket;
use std::time::{Duration, Instant};

/// Reads messages, and the clock.
pub(crate) struct MessageReader {
    begun: Instant,
}

impl MessageReader {
    /// Begins to count time.
    pub(crate) fn new() -> MessageReader {
        MessageReader { begun: Instant::now() }
    }

    /// Does nothing: there are no times to be taken.
    pub(crate) fn take_times(&self, _: &UdpSocket, _: bool) {}

    /// Reads the next message into `buffer`. Its time is the present, counted from when
    /// the reader was made.
    pub(crate) fn read(
        &self,
        socket: &UdpSocket,
        state: &UdpSocketState,
        buffer: &mut IoSliceMut<'_>,
    ) -> io::Result<(Duration, RecvMeta)> {
        let (mut metas, mut buffers) = ([RecvMeta::default()], [IoSliceMut::new(buffer)]);
        state.recv(UdpSockRef::from(socket), &mut buffers, &mut metas)?;
        Ok((self.begun.elapsed(), metas[0]))
    }
}
