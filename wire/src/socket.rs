//! The UDP socket that quinn sees. In the paced lane, a connection's packets wait in their flow until the pacer sends
//! them; in the fast lane they leave here. While packets with stamps arrive, they are read here, with the kernel's
//! timestamps, and quinn gets the QUIC packets in them; otherwise quinn-udp reads, several messages with a call.

use crate::batch::Burst;
use crate::receive::MessageReader;
use crate::receiving::{ReceivingFlow, ReceivingFlows};
use crate::sending::{Push, SendingFlow};
use crate::timer_queue::TimerQueue;
use crate::{handover, pacer};
use control::Duration;
use quinn::udp::{RecvMeta, Transmit, UdpSockRef, UdpSocketState};
use quinn::{AsyncUdpSocket, UdpPoller};
use std::collections::HashMap;
use std::fmt;
use std::io::{self, IoSliceMut};
use std::net::{SocketAddr, UdpSocket};
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, Weak};
use std::task::{Context, Poll, ready};
use std::time::Instant;
use tokio::io::Interest;

/// The most messages that wait at a socket: Linux counts over 500 bytes for each, and twice the 4 MiB that are asked
/// for as a buffer.
const MOST_WAITING: u32 = 16_384;

/// The socket of an endpoint.
pub(crate) struct Socket {
    pub(crate) timers: Arc<TimerQueue<SendingFlow>>,
    pub(crate) receiving: ReceivingFlows,
    /// Only tells when the socket is readable or writable.
    readiness: tokio::net::UdpSocket,
    socket: Arc<(UdpSocket, UdpSocketState)>,
    reader: MessageReader,
    /// How many messages of those that may have arrived before the kernel took times have not been read; none once the
    /// socket was empty.
    untimed: AtomicU32,
    /// What quinn's driver sends of the paced lane.
    burst: Mutex<Burst>,
    /// Flows by where they last sent to, for [`SendingFlow::on_message`].
    peers: RwLock<HashMap<SocketAddr, Weak<SendingFlow>>>,
}

impl Socket {
    /// Takes over a socket and starts its pacer. Must be called from within a Tokio runtime.
    pub(crate) fn new(socket: UdpSocket, quantum: Duration) -> io::Result<Socket> {
        let state = UdpSocketState::new(UdpSockRef::from(&socket))?;
        let burst = Mutex::new(Burst::new(state.max_gso_segments()));
        let readiness = tokio::net::UdpSocket::from_std(socket.try_clone()?)?;
        let (timers, socket) = (Arc::new(TimerQueue::new()), Arc::new((socket, state)));
        pacer::start(timers.clone(), quantum, socket.clone())?;
        let (receiving, reader, peers) = (ReceivingFlows::default(), MessageReader::new(), RwLock::default());
        let untimed = AtomicU32::default();
        Ok(Socket { timers, receiving, readiness, socket, reader, untimed, burst, peers })
    }

    fn send(&self, transmit: &Transmit<'_>) -> io::Result<()> {
        let send = || self.socket.1.send(UdpSockRef::from(&self.socket.0), transmit);
        match send() {
            // Tried again so that readiness is cleared, and set once the socket is writable.
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => self.readiness.try_io(Interest::WRITABLE, send),
            sent => sent,
        }
    }

    /// Sends what is due of `flow`, unless another driver is about to send for a flow here.
    fn depart(&self, flow: &Arc<SendingFlow>, scheduled: Instant) {
        if let Ok(mut burst) = self.burst.try_lock() {
            flow.depart(scheduled, Instant::now, &mut burst, |burst| pacer::send(&self.socket, burst));
        }
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

    /// Begins to read the stamps of a flow.
    pub(crate) fn read_stamps(&self, token: u64, flow: Arc<ReceivingFlow>) {
        self.receiving.add(token, flow);
    }

    /// Reads the stamps of a flow no longer.
    pub(crate) fn ignore_stamps(&self, token: u64) {
        self.receiving.remove(token, || self.reader.take_times(&self.socket.0, false));
    }

    /// Fills buffers with messages. Returns how many.
    fn read(&self, buffers: &mut [IoSliceMut<'_>], metas: &mut [RecvMeta]) -> io::Result<usize> {
        let (socket, state) = &*self.socket;
        let begin = || {
            self.untimed.store(MOST_WAITING, Ordering::Relaxed);
            self.reader.take_times(socket, true);
        };
        let count = if self.receiving.is_stamped() {
            let message = self.reader.read(socket, state, &mut buffers[0]);
            let untimed = self.untimed.load(Ordering::Relaxed);
            let is_empty = message.as_ref().is_err_and(|e| e.kind() == io::ErrorKind::WouldBlock);
            self.untimed.store(if is_empty { 0 } else { untimed.saturating_sub(1) }, Ordering::Relaxed);
            let at;
            (at, metas[0]) = message?;
            self.receiving.on_message((untimed == 0).then_some(at), buffers, metas, begin)
        } else {
            let count = state.recv(UdpSockRef::from(socket), buffers, metas)?;
            for i in 0..count {
                self.receiving.on_message(None, &mut buffers[i..=i], &mut metas[i..=i], begin);
            }
            count
        };
        self.count_arrivals(&metas[..count]);
        Ok(count)
    }

    /// Tells the flows what arrived from where they send to.
    fn count_arrivals(&self, metas: &[RecvMeta]) {
        let peers = self.peers.read().unwrap_or_else(PoisonError::into_inner);
        if peers.is_empty() {
            return;
        }
        for meta in metas {
            if let Some(flow) = peers.get(&meta.addr).and_then(Weak::upgrade) {
                flow.on_message(meta);
            }
        }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.timers.end();
    }
}

impl AsyncUdpSocket for Socket {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        Box::pin(Poller { socket: self, flow: None, writable: None })
    }

    fn try_send(&self, transmit: &Transmit) -> io::Result<()> {
        // quinn would send ECT(0), whatever the sender does with marks (RFC 3168, section 6.1; RFC 9002, section 7.1).
        let &Transmit { destination, contents, segment_size, src_ip, .. } = transmit;
        let with = |ecn| Transmit { destination, ecn, contents, segment_size, src_ip };
        // A packet of the endpoint itself belongs to no flow.
        let Some(flow) = handover::take() else { return self.send(&with(None)) };
        self.remember(destination, &flow);
        let sent = match flow.push(transmit) {
            Push::Queued => return Ok(()),
            Push::Leaves(ecn) => self.send(&with(ecn)),
            Push::LeavesAs(datagram) => {
                let contents = datagram.contents();
                // If the socket is full, the probe is lost, and quinn sends it again, up to two times.
                let _ = self.send(&Transmit { destination, ecn: None, contents, segment_size: None, src_ip });
                return Ok(());
            }
        };
        if sent.as_ref().is_err_and(|e| e.kind() == io::ErrorKind::WouldBlock) {
            flow.on_blocked();
        }
        sent
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
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
                done => return Poll::Ready(done),
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.0.local_addr()
    }

    fn max_transmit_segments(&self) -> usize {
        self.socket.1.max_gso_segments()
    }

    /// At least two, so that a buffer takes a full packet and its header where the kernel joins no datagrams, too.
    fn max_receive_segments(&self) -> usize {
        self.socket.1.gro_segments().max(2)
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

/// Tells the driver of one connection whether its flow has room, and the socket, too, if that was full.
struct Poller {
    socket: Arc<Socket>,
    /// None until a packet is built.
    flow: Option<Arc<SendingFlow>>,
    /// The wait for a socket that was full.
    writable: Option<Writable>,
}

type Writable = Pin<Box<dyn Future<Output = io::Result<()>> + Send + Sync>>;

impl UdpPoller for Poller {
    fn poll_writable(mut self: Pin<&mut Self>, context: &mut Context) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if let Some(flow) = handover::take() {
            this.flow = Some(flow);
        }
        let Some(flow) = &this.flow else { return Poll::Ready(Ok(())) };
        if flow.is_blocked() {
            let socket = &this.socket;
            let wait = || -> Writable {
                let socket = socket.clone();
                Box::pin(async move { socket.readiness.writable().await })
            };
            ready!(this.writable.get_or_insert_with(wait).as_mut().poll(context))?;
            this.writable = None;
        } else {
            ready!(flow.poll_room(context, |scheduled| this.socket.depart(flow, scheduled)));
        }
        handover::announce(flow.clone());
        Poll::Ready(Ok(()))
    }
}

impl fmt::Debug for Poller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Poller").finish_non_exhaustive()
    }
}
