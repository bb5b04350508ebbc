//! The UDP socket that quinn sees. A connection's packets wait in their flow until the pacer sends them. Datagrams that
//! arrive go through the stamps' receivers first, and quinn gets the QUIC packet in them.

use crate::pacing::Pacing;
use crate::receive::DatagramReader;
use crate::receiving::ReceivingFlows;
use crate::sending::SendingFlow;
use crate::timer_queue::TimerQueue;
use crate::{handover, launch, pacer};
use quinn::udp::{RecvMeta, Transmit, UdpSockRef, UdpSocketState};
use quinn::{AsyncUdpSocket, UdpPoller};
use realtime::Clock;
use std::collections::HashMap;
use std::fmt;
use std::io::{self, IoSliceMut};
use std::net::{SocketAddr, UdpSocket};
use std::pin::Pin;
use std::sync::{Arc, PoisonError, RwLock, Weak};
use std::task::{Context, Poll, ready};
use tokio::io::Interest;

/// The socket of an endpoint.
pub(crate) struct Socket {
    pub(crate) clock: Clock,
    pub(crate) timers: Arc<TimerQueue<SendingFlow>>,
    pub(crate) receiving: ReceivingFlows,
    /// Only tells when the socket is readable.
    readiness: tokio::net::UdpSocket,
    socket: Arc<(UdpSocket, UdpSocketState)>,
    reader: DatagramReader,
    /// Flows by where they last sent to, for [`SendingFlow::on_datagram`].
    peers: RwLock<HashMap<SocketAddr, Weak<SendingFlow>>>,
}

/// How many datagrams are read at most before quinn or another task has its turn, dropped ones included.
const AT_ONCE: usize = 256;

impl Socket {
    /// Takes over a socket and starts its pacer. Must be called from within a Tokio runtime.
    pub(crate) fn new(socket: UdpSocket) -> io::Result<Socket> {
        let state = UdpSocketState::new(UdpSockRef::from(&socket))?;
        let reader = DatagramReader::new(&socket)?;
        let readiness = tokio::net::UdpSocket::from_std(socket.try_clone()?)?;
        let (clock, timers, socket) = (Clock::start(), Arc::new(TimerQueue::new()), Arc::new((socket, state)));
        pacer::start(timers.clone(), clock, socket.clone())?;
        let (receiving, peers) = (ReceivingFlows::default(), RwLock::default());
        Ok(Socket { clock, timers, receiving, readiness, socket, reader, peers })
    }

    /// How packets to `peer` are best sent at their time.
    pub(crate) fn pacing(&self, peer: SocketAddr) -> Pacing {
        launch::choose(&self.socket.0, peer)
    }

    /// Remembers where `flow` sends to.
    fn remember(&self, peer: SocketAddr, flow: &Arc<SendingFlow>) {
        let known = self.peers.read().unwrap_or_else(PoisonError::into_inner).get(&peer).map(Weak::as_ptr);
        if known != Some(Arc::as_ptr(flow)) {
            let mut peers = self.peers.write().unwrap_or_else(PoisonError::into_inner);
            peers.retain(|_, flow| flow.strong_count() > 0);
            peers.insert(peer, Arc::downgrade(flow));
        }
    }

    /// Fills buffers with the datagrams that there are. Returns how many.
    fn read(&self, buffers: &mut [IoSliceMut<'_>], metas: &mut [RecvMeta]) -> io::Result<usize> {
        let mut filled = 0;
        for _ in 0..AT_ONCE {
            let (Some(buffer), Some(meta)) = (buffers.get_mut(filled), metas.get_mut(filled)) else { break };
            let (time, mut got) = match self.reader.read(&self.socket.0, buffer) {
                Ok(read) => read,
                Err(e) if filled > 0 && e.kind() == io::ErrorKind::WouldBlock => break,
                Err(e) => return Err(e),
            };
            let Some(header) = self.receiving.on_datagram(time, &buffer[..got.len]) else { continue };
            if let Some(flow) =
                self.peers.read().unwrap_or_else(PoisonError::into_inner).get(&got.addr).and_then(Weak::upgrade)
            {
                flow.on_datagram(got.len - header);
            }
            buffer.copy_within(header..got.len, 0);
            got.len -= header;
            got.stride = got.len;
            if got.len > 0 {
                *meta = got;
                filled += 1;
            }
        }
        Ok(filled)
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.timers.end();
    }
}

impl AsyncUdpSocket for Socket {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        Box::pin(Poller { flow: None })
    }

    fn try_send(&self, transmit: &Transmit) -> io::Result<()> {
        if let Some(flow) = handover::take() {
            self.remember(transmit.destination, &flow);
            if flow.push(transmit) {
                return Ok(());
            }
        }
        // A small packet that leaves unpaced, or one of the endpoint itself, which belongs to no connection.
        match self.socket.1.send(UdpSockRef::from(&self.socket.0), transmit) {
            // It counts as lost on the path. This is too rare to wait for.
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => Ok(()),
            sent => sent,
        }
    }

    fn poll_recv(
        &self,
        context: &mut Context,
        buffers: &mut [IoSliceMut<'_>],
        metas: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.readiness.poll_recv_ready(context))?;
            match self.readiness.try_io(Interest::READABLE, || self.read(buffers, metas)) {
                Ok(0) => {
                    // All of it was dropped: other tasks have their turn.
                    context.waker().wake_by_ref();
                    return Poll::Pending;
                }
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
                done => return Poll::Ready(done),
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.0.local_addr()
    }

    fn may_fragment(&self) -> bool {
        self.socket.1.may_fragment()
    }
}

impl fmt::Debug for Socket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Socket").field("socket", &self.socket.0).finish_non_exhaustive()
    }
}

/// Tells the driver of one connection whether its flow has room.
struct Poller {
    /// None until a packet is built.
    flow: Option<Arc<SendingFlow>>,
}

impl UdpPoller for Poller {
    fn poll_writable(mut self: Pin<&mut Self>, context: &mut Context) -> Poll<io::Result<()>> {
        if let Some(flow) = handover::take() {
            self.flow = Some(flow);
        }
        let Some(flow) = &self.flow else { return Poll::Ready(Ok(())) };
        ready!(flow.poll_room(context));
        handover::announce(flow.clone());
        Poll::Ready(Ok(()))
    }
}

impl fmt::Debug for Poller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Poller").finish_non_exhaustive()
    }
}
