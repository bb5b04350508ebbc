//! What one end of a connection sends, and the [`Host`] of the sender that decides when. Packets leave on one of two
//! lanes:
//!
//! - The **fast lane** while the sender has nothing but a window ([`Host::window`]). quinn is told the window, and
//!   enforces and paces it. What quinn builds goes straight to the socket, several packets with one call.
//! - The **paced lane** otherwise. quinn builds a packet as soon as there is room in a queue, and counts it as sent.
//!   The pacer's thread sends it when the host says. What waits in the queue is not in flight for the host, and
//!   round-trip times count from when a packet left.
//!
//! The lane changes when the sender's answer does. What still waits in the queue then leaves first.
//!
//! quinn's driver calls the methods of the first half; the pacer's thread (`pacer.rs`) calls [`SendingFlow::depart`].

use crate::ack_frame::AckFrame;
use crate::ack_watch::AckWatch;
use crate::answers::Answers;
use crate::batch::Burst;
use crate::datagram::{Addressing, Datagram, PACKET};
use crate::send_queue::{Pace, SendQueue};
use crate::stamping::Stamping;
use crate::timer_queue::TimerQueue;
use control::{Bytes, Duration, Report, Sender, State, Time};
use host::{EcnCounts, EcnState, Host, Lost, Packet, SMALL, Waiting};
use quinn::udp::{EcnCodepoint, RecvMeta, Transmit};
use realtime::Clock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Instant;

/// Arrivals up to this size, in bytes, are taken for an acknowledgment or a report, which are not acknowledged
/// themselves.
const NOT_ACKNOWLEDGED: usize = 100;
/// The window that quinn is told in the paced lane, in bytes: more than is ever in flight, and so much that quinn does
/// not pace (above 2^32).
const UNBOUNDED: u64 = 1 << 40;

/// The share of the host's quantum for which datagrams wait in a queue that was empty.
const FILLING: f64 = 0.25;

/// The sending direction of a connection at one end.
pub(crate) struct SendingFlow {
    clock: Clock,
    timers: Arc<TimerQueue<SendingFlow>>,
    /// What is due within this time leaves together.
    quantum: Duration,
    inner: Mutex<Inner>,
    /// The window for quinn, in bytes; [`UNBOUNDED`] in the paced lane.
    window: AtomicU64,
    /// Bytes of the largest packet that quinn builds.
    mtu: AtomicU64,
    /// The socket did not take a packet that was to leave at once, and quinn is to bring the packet again.
    blocked: AtomicBool,
    /// Whether what left last, or was to, is ECN-capable.
    ecn_capable: AtomicBool,
    /// None if packets are not ECN-capable.
    ecn: Option<SendingEcn>,
    /// The connection is being closed.
    closing: AtomicBool,
    /// Datagrams that arrived from where the last one was sent to.
    received: AtomicU64,
    /// Of these, the ones that are larger than [`NOT_ACKNOWLEDGED`].
    to_acknowledge: AtomicU64,
}

/// What a flow needs to send ECN-capable packets.
pub(crate) struct SendingEcn {
    /// The ECN field of the packets: ECT(0) or ECT(1).
    pub(crate) codepoint: EcnCodepoint,
    /// Sees the peer's acknowledgments.
    pub(crate) watch: Arc<AckWatch>,
}

/// What becomes of packets that quinn hands over.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Push {
    /// They wait in the queue.
    Queued,
    /// The caller sends them at once, with this ECN field.
    Leaves(Option<EcnCodepoint>),
    /// The caller sends this in its place, if it can.
    LeavesAs(Datagram),
}

struct Inner {
    host: Host,
    stamping: Option<Stamping>,
    /// Whether packets carry stamps, or may do so later.
    leaves_room: bool,
    queue: SendQueue,
    /// The packets that quinn built last, until they reach the queue or the socket.
    built: Option<Built>,
    /// Acknowledgments and reports, which no window holds back.
    answers: Answers,
    /// Whether the datagrams that departed last may still be on their way to the kernel.
    leaving: bool,
    /// Whether more were due meanwhile.
    postponed: bool,
    /// When datagrams departed last.
    departed: Option<Time>,
    pace: Pace,
    /// When the pacer will look at this flow.
    scheduled: Option<Instant>,
}

/// A packet that is acknowledged, as quinn tells it.
#[derive(Clone, Copy)]
pub(crate) struct QuinnAcked {
    pub(crate) now: Instant,
    /// When quinn built it.
    pub(crate) sent: Instant,
    pub(crate) bytes: u64,
}

/// The end of an acknowledgment, as quinn tells it: before the losses that the acknowledgment shows are subtracted,
/// where [`host::AckEnd`] is after them.
#[derive(Clone, Copy)]
pub(crate) struct QuinnAckEnd {
    pub(crate) now: Instant,
    /// Bytes that quinn has in flight, with the packets that wait here, before the losses that the acknowledgment
    /// shows.
    pub(crate) in_flight: u64,
    /// Whether the application or the peer's flow control held data back.
    pub(crate) app_limited: bool,
    /// The acknowledgment itself, if packets are ECN-capable and it did not come out of order.
    pub(crate) ack: Option<AckFrame>,
}

/// Packets that are lost, as quinn tells it.
#[derive(Clone, Copy)]
pub(crate) struct QuinnLoss {
    pub(crate) now: Instant,
    /// When the last packet that is lost was sent.
    pub(crate) sent: Instant,
    /// Whether it is persistent congestion (RFC 9002, section 7.6).
    pub(crate) persistent: bool,
    /// Bytes lost.
    pub(crate) lost: u64,
}

#[derive(Clone, Copy)]
struct Built {
    sent: Time,
    size: Bytes,
    /// Datagrams to be acknowledged that had arrived.
    received: u64,
}

impl SendingFlow {
    /// A flow for packets of up to `packet` bytes, with `first` as its sender, on a host of this `quantum`. Its packets
    /// are ECN-capable from [`SendingFlow::enable_ecn`] on, if it has `ecn`.
    pub(crate) fn new(
        clock: Clock,
        timers: Arc<TimerQueue<SendingFlow>>,
        packet: u64,
        quantum: Duration,
        first: Box<dyn Sender>,
        ecn: Option<SendingEcn>,
    ) -> Arc<SendingFlow> {
        let inner = Inner {
            host: Host::new(Bytes(packet), first),
            stamping: None,
            leaves_room: false,
            queue: SendQueue::default(),
            built: None,
            answers: Answers::default(),
            leaving: false,
            postponed: false,
            departed: None,
            pace: Pace::default(),
            scheduled: None,
        };
        let window = AtomicU64::new(inner.quinn_window());
        Arc::new(SendingFlow {
            clock,
            timers,
            quantum,
            inner: Mutex::new(inner),
            window,
            mtu: AtomicU64::new(PACKET),
            blocked: AtomicBool::default(),
            ecn_capable: AtomicBool::default(),
            ecn,
            closing: AtomicBool::default(),
            received: AtomicU64::default(),
            to_acknowledge: AtomicU64::default(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the sender is doing.
    pub(crate) fn state(&self) -> State {
        self.lock().host.state()
    }

    /// The handshake is over: packets may be ECN-capable, if the flow has that. Those of the handshake are not, so that
    /// a network that drops such packets does not prevent connections.
    pub(crate) fn enable_ecn(&self) {
        if self.ecn.is_some() {
            self.lock().host.enable_ecn();
        }
    }

    /// Packets take another path, or the first one.
    pub(crate) fn on_path(&self) {
        if self.ecn.is_some() {
            self.lock().host.restart_ecn();
        }
    }

    /// What is known of ECN on the path.
    pub(crate) fn ecn_state(&self) -> EcnState {
        self.lock().host.ecn_state()
    }

    /// The watch over the peer's acknowledgments, if the flow has one.
    pub(crate) fn watch(&self) -> Option<&Arc<AckWatch>> {
        self.ecn.as_ref().map(|ecn| &ecn.watch)
    }

    /// Smoothed round-trip time; none before the first sample.
    pub(crate) fn rtt(&self) -> Option<Duration> {
        self.lock().host.rtt()
    }

    /// The peer will be asked for stamps: path MTU discovery is to leave room for a header.
    pub(crate) fn leave_room(&self) {
        self.lock().leaves_room = true;
    }

    /// The peer grants no stamps.
    pub(crate) fn on_refused(&self) {
        self.lock().leaves_room = false;
    }

    /// The peer has granted stamps: from now on packets carry them, and `sender` decides, once it has asked the routers
    /// if it does.
    pub(crate) fn stamp(self: &Arc<Self>, sender: Box<dyn Sender>, stamping: Stamping) {
        let mut inner = self.lock();
        inner.stamping = Some(stamping);
        inner.host.stamp(self.clock.now(), sender, Bytes(header::SIZE as u64));
        self.plan(&mut inner);
    }

    /// Whether packets carry stamps.
    pub(crate) fn is_stamped(&self) -> bool {
        self.lock().host.is_stamped()
    }

    /// Whether the sender asked the routers on the path, and none has answered in time.
    pub(crate) fn is_unanswered(&self) -> bool {
        self.lock().host.is_unanswered()
    }

    /// A report of the receiver arrived over the connection.
    pub(crate) fn on_report(self: &Arc<Self>, report: Report) {
        let now = self.clock.now();
        let mut inner = self.lock();
        inner.host.on_report(now, report);
        self.plan(&mut inner);
    }

    /// A message of datagrams, without their headers, arrived from where the last one was sent to.
    pub(crate) fn on_message(&self, meta: &RecvMeta) {
        let RecvMeta { len, stride, .. } = *meta;
        let (full, last) = (len / stride.max(1), len % stride.max(1));
        self.received.fetch_add((full + usize::from(last > 0)) as u64, Ordering::Relaxed);
        let to_acknowledge = |size, count| if size > NOT_ACKNOWLEDGED { count as u64 } else { 0 };
        self.to_acknowledge.fetch_add(to_acknowledge(stride, full) + to_acknowledge(last, 1), Ordering::Relaxed);
    }

    fn to_acknowledge(&self) -> u64 {
        self.to_acknowledge.load(Ordering::Relaxed)
    }

    // What quinn's driver of the connection calls.

    /// The window that quinn is to keep, in bytes.
    pub(crate) fn quinn_window(&self) -> u64 {
        if self.closing.load(Ordering::Relaxed) {
            return UNBOUNDED;
        }
        // quinn sends while what is in flight and a full packet are *less* than the window. One packet always fits, as
        // quinn's may be larger than those that the sender counts in.
        self.window.load(Ordering::Relaxed).max(self.mtu.load(Ordering::Relaxed)) + 1
    }

    /// The connection is about to be closed: no window holds the close back. quinn would not send it while the window
    /// is full and other frames wait, and never later either, as a closed connection hears of no acknowledgments.
    pub(crate) fn close(&self) {
        self.closing.store(true, Ordering::Relaxed);
    }

    /// quinn's packets have up to `mtu` bytes from now on.
    pub(crate) fn on_mtu(&self, mtu: u16) {
        self.mtu.store(u64::from(mtu), Ordering::Relaxed);
        if self.ecn.is_some() {
            self.lock().host.on_mtu(Bytes(mtu.into()));
        }
    }

    /// quinn has built packets of `size` bytes together.
    pub(crate) fn on_built(&self, sent: Instant, size: u64) {
        let (sent, received) = (self.clock.at(sent), self.to_acknowledge());
        self.lock().built = Some(Built { sent, size: Bytes(size), received });
    }

    /// Whether there is room for what quinn has built. If not, its driver is woken when there is. If the queue is full
    /// and what waits is due, has the caller send that first (`depart`, told when it was scheduled).
    pub(crate) fn poll_room(self: &Arc<Self>, context: &Context<'_>, depart: impl FnOnce(Instant)) -> Poll<()> {
        if self.window.load(Ordering::Relaxed) != UNBOUNDED {
            return Poll::Ready(()); // the window is what keeps quinn back
        }
        let mut inner = self.lock();
        if inner.queue.has_room(inner.pace) {
            return Poll::Ready(());
        }
        if let Some(scheduled) = inner.scheduled
            && scheduled <= Instant::now()
        {
            drop(inner);
            depart(scheduled);
            inner = self.lock();
            if inner.queue.has_room(inner.pace) {
                return Poll::Ready(());
            }
        }
        inner.queue.wait_for_room(context);
        if inner.host.owes_ack(self.to_acknowledge()) {
            self.plan(&mut inner);
        }
        Poll::Pending
    }

    /// Takes packets into the queue, unless they are to leave at once, in the fast lane or as a small one that is not
    /// paced.
    pub(crate) fn push(self: &Arc<Self>, transmit: &Transmit<'_>) -> Push {
        let leaves = |capable: bool| {
            self.ecn_capable.store(capable, Ordering::Relaxed);
            Push::Leaves(self.ecn.as_ref().filter(|_| capable).map(|ecn| ecn.codepoint))
        };
        if self.blocked.swap(false, Ordering::Relaxed) {
            return leaves(self.ecn_capable.load(Ordering::Relaxed));
        }
        let mut inner = self.lock();
        let inner = &mut *inner;
        let built = inner.built.take();
        let (sent, received) = (built.map(|built| built.sent), built.map_or(0, |built| built.received));
        // Packets must not overtake others: once one is acknowledged, QUIC would soon take those that it overtook for
        // lost (RFC 9002, section 6.1.2).
        if inner.queue.is_empty() && !inner.leaving {
            let size = transmit.contents.len();
            if inner.answers.may_leave(size, self.received.load(Ordering::Relaxed)) {
                inner.answers.on_sent(sent, Bytes(size as u64));
                inner.host.on_ack_sent(received);
                self.window.store(inner.quinn_window(), Ordering::Relaxed);
                return leaves(false);
            }
            let is_probe = built.is_none() && size as u64 > self.mtu.load(Ordering::Relaxed);
            if inner.host.window().is_some() && is_probe {
                return inner.on_probe(transmit);
            }
            if inner.host.window().is_some() {
                return leaves(inner.leave_at_once(transmit, built));
            }
        }
        let was_empty = inner.queue.is_empty();
        inner.queue.push(transmit, sent, received);
        if was_empty {
            // What quinn has besides comes next, and leaves together with this.
            let now = self.clock.now();
            self.plan_from(inner, now, now + self.filling());
        } else if inner.host.owes_ack(received) {
            self.plan(inner);
        }
        Push::Queued
    }

    /// The socket does not take what was to leave at once. quinn brings it again.
    pub(crate) fn on_blocked(&self) {
        self.blocked.store(true, Ordering::Relaxed);
    }

    /// Whether the socket did not take what was to leave at once.
    pub(crate) fn is_blocked(&self) -> bool {
        self.blocked.load(Ordering::Relaxed)
    }

    /// quinn's timer has found a loss, without an acknowledgment.
    pub(crate) fn on_lost(self: &Arc<Self>, loss: QuinnLoss) {
        let mut inner = self.lock();
        inner.on_lost(self.clock, &loss);
        self.plan(&mut inner);
    }

    /// An acknowledgment of these packets has arrived, and has shown these losses. It has no `end` if it was inferred
    /// (RFC 9001, section 4.1.2).
    pub(crate) fn on_ack(self: &Arc<Self>, acked: &[QuinnAcked], losses: &[QuinnLoss], end: Option<QuinnAckEnd>) {
        let mut inner = self.lock();
        let inner = &mut *inner;
        for acked in acked {
            let (now, sent) = (self.clock.at(acked.now), self.clock.at(acked.sent));
            inner.answers.on_acked(sent);
            inner.host.on_acked(now, sent, Bytes(acked.bytes));
        }
        losses.iter().for_each(|loss| inner.on_lost(self.clock, loss));
        if let Some(end) = end {
            if let (Some(ack), Some(ecn)) = (end.ack, &self.ecn) {
                inner.host.on_ecn_counts(ack.counts.map(|counts| ecn.counts(counts)));
            }
            let lost = losses.iter().map(|loss| Bytes(loss.lost)).sum();
            let waiting = inner.built.map_or(Bytes(0), |built| built.size) + inner.queue.bytes();
            let in_flight = Bytes(end.in_flight) - lost - waiting;
            let app_limited = end.app_limited && inner.queue.is_empty();
            inner.host.on_ack_end(self.clock.at(end.now), &host::AckEnd { in_flight, app_limited });
        }
        self.plan(inner);
    }

    /// How long datagrams wait in a queue that was empty, so that others can join them.
    fn filling(&self) -> Duration {
        self.quantum.scale(FILLING)
    }

    // What the pacer's thread calls, and quinn's driver where the queue is full.

    /// Fills `burst` with what leaves now, if this is what was `scheduled` last, and has `send` send it. `now` reads
    /// the clock, when nobody else can tell the host a later time.
    pub(crate) fn depart(
        self: &Arc<Self>,
        scheduled: Instant,
        now: impl FnOnce() -> Instant,
        burst: &mut Burst,
        send: impl FnOnce(&Burst),
    ) {
        burst.clear();
        self.fill(scheduled, now, burst);
        // A thread that sends nothing knows nothing of what another one is sending.
        if burst.count() > 0 {
            send(burst);
            self.on_left();
        }
    }

    /// The datagrams that departed have reached the kernel.
    fn on_left(self: &Arc<Self>) {
        let mut inner = self.lock();
        inner.leaving = false;
        if std::mem::take(&mut inner.postponed) {
            self.plan(&mut inner);
        }
    }

    fn fill(self: &Arc<Self>, scheduled: Instant, now: impl FnOnce() -> Instant, burst: &mut Burst) {
        let mut inner = self.lock();
        let inner = &mut *inner;
        if inner.scheduled != Some(scheduled) {
            return; // an earlier time was scheduled since, or another thread was first
        }
        inner.scheduled = None;
        self.timers.remove(scheduled, self);
        if inner.leaving {
            // Another thread sends what departed before. These must not overtake it.
            inner.postponed = true;
            return;
        }
        if inner.queue.is_empty() {
            return;
        }
        let (now, planned) = (self.clock.at(now()), self.clock.at(scheduled));
        inner.host.on_wakeup(now, &inner.waiting(self));
        // What would be due within a quantum leaves now, at times that the sender sees as they were planned. A sender
        // that plans bursts has them a quantum apart at least.
        let mut at = now;
        while !inner.queue.is_empty() {
            let waiting = inner.waiting(self);
            if inner.host.may_send(at, &waiting) {
                inner.send_first(now, &waiting, self.mtu.load(Ordering::Relaxed), burst);
                continue;
            }
            let next = inner.host.wake_at(at, &waiting);
            if next <= at || next >= planned + self.quantum {
                break;
            }
            at = next;
        }
        let count = burst.count() as u64;
        if count > 0 {
            let since = inner.departed.map_or(Duration::ZERO, |last| now.since(last));
            (inner.departed, inner.pace) = (Some(now), Pace { burst: count, since });
            inner.leaving = true;
        }
        self.plan_from(inner, now, Time::ZERO);
        inner.queue.wake_driver(inner.pace);
    }

    /// After every change of the host: tells quinn the window, asks the host when the next datagram that waits may
    /// leave, and has the pacer come back then.
    fn plan(self: &Arc<Self>, inner: &mut Inner) {
        self.plan_from(inner, self.clock.now(), Time::ZERO);
    }

    /// The same at time `now`, for departures no earlier than at `earliest`.
    fn plan_from(self: &Arc<Self>, inner: &mut Inner, now: Time, earliest: Time) {
        self.window.store(inner.quinn_window(), Ordering::Relaxed);
        if inner.queue.is_empty() {
            inner.queue.on_empty();
            return;
        }
        let due = self.clock.instant(inner.host.wake_at(now, &inner.waiting(self)).max(earliest));
        if inner.scheduled.is_none_or(|scheduled| due < scheduled) {
            let before = inner.scheduled.replace(due);
            self.timers.set(due, before, self);
        }
    }
}

impl SendingEcn {
    /// The peer's counts of ECT(0), ECT(1) and CE, as the host wants them.
    fn counts(&self, [ect0, ect1, marked]: [u64; 3]) -> EcnCounts {
        let (capable, other) = if self.codepoint == EcnCodepoint::Ect0 { (ect0, ect1) } else { (ect1, ect0) };
        EcnCounts { capable, other, marked }
    }
}

impl Inner {
    /// The window for quinn, in which answers take no room.
    fn quinn_window(&self) -> u64 {
        let window = |window: Bytes| (window + self.answers.in_flight()).0.min(UNBOUNDED - 1);
        self.host.window().map_or(UNBOUNDED, window)
    }

    /// What quinn built leaves in the fast lane. Returns whether it is ECN-capable.
    fn leave_at_once(&mut self, transmit: &Transmit<'_>, built: Option<Built>) -> bool {
        // A probe or an answer to one, which QUIC alone counts.
        let Some(Built { sent, received, .. }) = built else { return false };
        if transmit.contents.len() as u64 <= SMALL.0 {
            self.host.on_ack_sent(received);
            return false;
        }
        let ecn_capable = self.host.may_be_ecn_capable(sent);
        for packet in transmit.contents.chunks(transmit.segment_size.unwrap_or(transmit.contents.len())) {
            let packet = Packet { size: Bytes(packet.len() as u64), sent: Some(sent), received, ecn_capable };
            self.host.on_sent_in_window(sent, &packet);
        }
        ecn_capable
    }

    /// Whether packets must leave room for a header.
    fn leaves_room(&self) -> bool {
        let gave_stamps_up = self.stamping.is_some() && !self.host.is_stamped();
        self.leaves_room && !gave_stamps_up
    }

    /// A probe of path MTU discovery in the fast lane, whose packets have no headers. If packets of the paced lane do,
    /// or may do so later, they will have the size that the probe finds. So it leaves with the longest header.
    fn on_probe(&self, transmit: &Transmit<'_>) -> Push {
        if !self.leaves_room() {
            return Push::Leaves(None);
        }
        let &Transmit { destination, src_ip: source, contents, .. } = transmit;
        let mut datagram = Datagram::new(Vec::new(), contents, Addressing { destination, source }, None, 0);
        datagram.stamp(header::pad);
        Push::LeavesAs(datagram)
    }

    fn on_lost(&mut self, clock: Clock, loss: &QuinnLoss) {
        let &QuinnLoss { now, sent, persistent, lost } = loss;
        self.host.on_lost(clock.at(now), &Lost { sent: clock.at(sent), size: Bytes(lost), persistent });
    }

    fn waiting(&self, flow: &SendingFlow) -> Waiting {
        Waiting { backlog: self.queue.backlog(), received: flow.to_acknowledge() }
    }

    /// The next datagram leaves.
    fn send_first(&mut self, now: Time, waiting: &Waiting, mtu: u64, burst: &mut Burst) {
        let Some(mut datagram) = self.queue.pop() else { return };
        // Paced packets are not ECN-capable, and `Choice::with_ecn` refuses controllers that pace.
        let Datagram { sent, received, .. } = datagram;
        let packet = Packet { size: datagram.size(), sent, received, ecn_capable: false };
        let stamp = self.host.on_sent(now, &packet, waiting);
        if let (Some(stamp), Some(stamping)) = (stamp, &mut self.stamping) {
            stamping.write(stamp, &mut datagram);
        } else if sent.is_none() && datagram.size().0 > mtu && self.leaves_room() {
            datagram.stamp(header::pad); // a probe, as in the fast lane
        }
        burst.add(&datagram);
        self.queue.recycle(datagram);
    }
}

#[cfg(test)]
mod tests;
