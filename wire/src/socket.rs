//! What quinn takes for its UDP socket. Packets of connections wait in their flow until the pacer sends them; what arrives goes
//! through the stamps' receivers, and quinn gets what is left: QUIC.

use crate::adaptor::{leave_built, take_built};
use crate::arrivals::Arrivals;
use crate::flow::Flow;
use crate::launch;
use crate::pacer::{self, Agenda};
use crate::pacing::Pacing;
use crate::receive::Reader;
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
    pub(crate) agenda: Arc<Agenda>,
    pub(crate) arrivals: Arrivals,
    readiness: tokio::net::UdpSocket,
    socket: Arc<(UdpSocket, UdpSocketState)>,
    reader: Reader,
    /// Flows by where they last sent to, for [`Flow::received`].
    peers: RwLock<HashMap<SocketAddr, Weak<Flow>>>,
}

/// Datagrams that are read before quinn or another task has its turn, whatever becomes of them.
const AT_ONCE: usize = 256;

impl Socket {
    /// Takes over a socket and starts its pacer. Must be called from within a Tokio runtime.
    pub(crate) fn new(socket: UdpSocket) -> io::Result<Socket> {
        let state = UdpSocketState::new(UdpSockRef::from(&socket))?;
        let reader = Reader::new(&socket)?;
        let readiness = tokio::net::UdpSocket::from_std(socket.try_clone()?)?;
        let (clock, agenda, socket) = (Clock::start(), Arc::new(Agenda::new()), Arc::new((socket, state)));
        pacer::start(agenda.clone(), clock, socket.clone())?;
        let (arrivals, peers) = (Arrivals::default(), RwLock::default());
        Ok(Socket { clock, agenda, arrivals, readiness, socket, reader, peers })
    }

    /// How packets to `peer` are best sent at their time.
    pub(crate) fn pacing(&self, peer: SocketAddr) -> Pacing {
        launch::choose(&self.socket.0, peer)
    }

    /// Remembers where `flow` sends to.
    fn meet(&self, peer: SocketAddr, flow: &Arc<Flow>) {
        let known =
            |peers: &HashMap<SocketAddr, Weak<Flow>>| peers.get(&peer).is_some_and(|f| f.as_ptr() == Arc::as_ptr(flow));
        if !known(&self.peers.read().unwrap_or_else(PoisonError::into_inner)) {
            let mut peers = self.peers.write().unwrap_or_else(PoisonError::into_inner);
            peers.retain(|_, flow| flow.strong_count() > 0);
            peers.insert(peer, Arc::downgrade(flow));
        }
    }

    /// Fills as many buffers as there are datagrams.
    fn read(&self, buffers: &mut [IoSliceMut<'_>], metas: &mut [RecvMeta]) -> io::Result<usize> {
        let mut filled = 0;
        for _ in 0..AT_ONCE {
            let (Some(buffer), Some(meta)) = (buffers.get_mut(filled), metas.get_mut(filled)) else { break };
            let (time, mut got) = match self.reader.read(&self.socket.0, buffer) {
                Ok(read) => read,
                Err(e) if filled > 0 && e.kind() == io::ErrorKind::WouldBlock => break,
                Err(e) => return Err(e),
            };
            let Some(header) = self.arrivals.on_datagram(time, &buffer[..got.len]) else { continue };
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
        self.agenda.end();
    }
}

impl AsyncUdpSocket for Socket {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        Box::pin(Poller { flow: None })
    }

    fn try_send(&self, transmit: &Transmit) -> io::Result<()> {
        if let Some(flow) = take_built() {
            self.meet(transmit.destination, &flow);
            if flow.push(transmit) {
                return Ok(());
            }
        }
        // A small answer, or one of the endpoint itself, which has no connection.
        match self.socket.1.send(UdpSockRef::from(&self.socket.0), transmit) {
            // As good as lost on the way; rare enough not to wait for.
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
                    // All of it was thrown away: let others have their turn.
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

/// Tells one connection whether its flow has room.
struct Poller {
    flow: Option<Arc<Flow>>,
}

impl UdpPoller for Poller {
    fn poll_writable(mut self: Pin<&mut Self>, context: &mut Context) -> Poll<io::Result<()>> {
        if let Some(flow) = take_built() {
            self.flow = Some(flow);
        }
        let Some(flow) = &self.flow else { return Poll::Ready(Ok(())) };
        ready!(flow.poll_room(context));
        leave_built(flow.clone());
        Poll::Ready(Ok(()))
    }
}

impl fmt::Debug for Poller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Poller").finish_non_exhaustive()
    }
}
