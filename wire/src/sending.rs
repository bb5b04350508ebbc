//! What one end of a connection sends: the datagrams that wait for their time, and the [`Host`] of the sender that
//! decides when.
//!
//! quinn builds a packet as soon as there is room in the queue, and counts it as sent. What waits in the queue is not
//! in flight for the host, and round-trip times count from when a packet left. quinn's driver calls the methods of the
//! first half; the pacer's thread (`pacer.rs`) calls [`SendingFlow::depart`].

use crate::batch::Batch;
use crate::pacing::Pacing;
use crate::send_queue::SendQueue;
use crate::stamping::Stamping;
use crate::timer_queue::TimerQueue;
use control::{Bytes, Duration, Report, Sender, State, Time};
use host::{Host, Lost, Packet, SMALL, Waiting};
use quinn::udp::Transmit;
use realtime::Clock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Instant;

/// How many datagrams of up to [`SMALL`] bytes may leave unpaced beyond those that have arrived.
const UNANSWERED: u64 = 8;
/// Arrivals up to this size, in bytes, are taken for an acknowledgment or a report, which are not acknowledged
/// themselves.
const NOT_ACKNOWLEDGED: usize = 100;

/// The sending direction of a connection at one end.
pub(crate) struct SendingFlow {
    clock: Clock,
    timers: Arc<TimerQueue<SendingFlow>>,
    inner: Mutex<Inner>,
    /// Datagrams that arrived from where the last one was sent to.
    received: AtomicU64,
    /// Of these, the ones that are larger than [`NOT_ACKNOWLEDGED`].
    to_acknowledge: AtomicU64,
}

struct Inner {
    host: Host,
    stamping: Option<Stamping>,
    pacing: Pacing,
    queue: SendQueue,
    /// The packet that quinn built last, until it reaches the queue.
    built: Option<Built>,
    /// Datagrams that left unpaced.
    unpaced: u64,
    last: Option<LastDeparture>,
    /// Whether the datagram that departed last may still be on its way to the kernel.
    leaving: bool,
    /// When the pacer will look at this flow.
    scheduled: Option<Time>,
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
}

/// A congestion event, as quinn tells it: packets that are lost, or marked by a router (ECN).
#[derive(Clone, Copy)]
pub(crate) struct QuinnLoss {
    pub(crate) now: Instant,
    /// When the last packet that is lost was sent, or the latest that was acknowledged with the marks.
    pub(crate) sent: Instant,
    /// Whether it is persistent congestion (RFC 9002, section 7.6).
    pub(crate) persistent: bool,
    /// Bytes lost; zero if packets were marked.
    pub(crate) lost: u64,
}

#[derive(Clone, Copy)]
struct Built {
    sent: Time,
    size: Bytes,
    /// Datagrams to be acknowledged that had arrived.
    received: u64,
}

#[derive(Clone, Copy)]
struct LastDeparture {
    at: Time,
    /// The time since the departure before, divided by the number of datagrams that left.
    gap: Duration,
}

impl SendingFlow {
    /// A flow for packets of up to `packet` bytes, with `first` as its sender.
    pub(crate) fn new(
        clock: Clock,
        timers: Arc<TimerQueue<SendingFlow>>,
        packet: u64,
        first: Box<dyn Sender>,
    ) -> Arc<SendingFlow> {
        let inner = Inner {
            host: Host::new(Bytes(packet), first),
            stamping: None,
            pacing: Pacing::default(),
            queue: SendQueue::default(),
            built: None,
            unpaced: 0,
            last: None,
            leaving: false,
            scheduled: None,
        };
        let (received, to_acknowledge) = Default::default();
        Arc::new(SendingFlow { clock, timers, inner: Mutex::new(inner), received, to_acknowledge })
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the sender is doing.
    pub(crate) fn state(&self) -> State {
        self.lock().host.state()
    }

    /// Smoothed round-trip time; none before the first sample.
    pub(crate) fn rtt(&self) -> Option<Duration> {
        self.lock().host.rtt()
    }

    /// How packets are sent at their time.
    pub(crate) fn pacing(&self) -> Pacing {
        self.lock().pacing
    }

    /// Changes how packets are sent at their time.
    pub(crate) fn pace(&self, pacing: Pacing) {
        self.lock().pacing = pacing;
    }

    /// The peer has granted stamps: from now on packets carry them, and `sender` decides, once it has asked the routers
    /// if it does.
    pub(crate) fn stamp(self: &Arc<Self>, sender: Box<dyn Sender>, stamping: Stamping) {
        let mut inner = self.lock();
        inner.stamping = Some(stamping);
        inner.host.stamp(self.clock.now(), sender, Bytes(header::SIZE as u64));
        self.schedule(&mut inner);
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
        self.schedule(&mut inner);
    }

    /// A datagram arrived from where the last one was sent to. Its QUIC packet has `size` bytes.
    pub(crate) fn on_datagram(&self, size: usize) {
        self.received.fetch_add(1, Ordering::Relaxed);
        self.to_acknowledge.fetch_add(u64::from(size > NOT_ACKNOWLEDGED), Ordering::Relaxed);
    }

    fn to_acknowledge(&self) -> u64 {
        self.to_acknowledge.load(Ordering::Relaxed)
    }

    // What quinn's driver of the connection calls, packet by packet.

    /// quinn has built a packet of `size` bytes.
    pub(crate) fn on_built(&self, sent: Instant, size: u64) {
        let (sent, received) = (self.clock.at(sent), self.to_acknowledge());
        self.lock().built = Some(Built { sent, size: Bytes(size), received });
    }

    /// Whether there is room for the packet that quinn has built. If not, its driver is woken when there is.
    pub(crate) fn poll_room(self: &Arc<Self>, context: &Context<'_>) -> Poll<()> {
        let mut inner = self.lock();
        let gap = inner.gap();
        if inner.queue.has_room(gap) {
            return Poll::Ready(());
        }
        inner.queue.wait_for_room(context);
        if inner.host.owes_ack(self.to_acknowledge()) {
            self.schedule(&mut inner);
        }
        Poll::Pending
    }

    /// Takes a packet into the queue. If it is a small one that may leave unpaced, returns false, and the caller sends
    /// it at once.
    pub(crate) fn push(self: &Arc<Self>, transmit: &Transmit<'_>) -> bool {
        let mut inner = self.lock();
        let inner = &mut *inner;
        let built = inner.built.take();
        let (sent, received) = (built.map(|built| built.sent), built.map_or(0, |built| built.received));
        if self.may_leave_unpaced(inner, transmit.contents.len()) {
            inner.unpaced += 1;
            inner.host.on_ack_sent(received);
            return false;
        }
        inner.queue.push(transmit, sent, received);
        if inner.queue.len() == 1 || inner.host.owes_ack(received) {
            self.schedule(inner);
        }
        true
    }

    /// Acknowledgments and reports need not wait for their time, but no more of them leave so than arrive. They must
    /// not overtake other packets: once a small one is acknowledged, QUIC would soon take those that it overtook for
    /// lost (RFC 9002, section 6.1.2).
    fn may_leave_unpaced(&self, inner: &Inner, size: usize) -> bool {
        let is_answer = inner.unpaced < self.received.load(Ordering::Relaxed) + UNANSWERED;
        let overtakes = inner.leaving || inner.last.is_some_and(|last| last.at > self.clock.now());
        size as u64 <= SMALL.0 && inner.queue.is_empty() && !overtakes && is_answer
    }

    /// A packet of `bytes` that was sent at `sent` is acknowledged.
    pub(crate) fn on_acked(&self, now: Instant, sent: Instant, bytes: u64) {
        let mut inner = self.lock();
        if inner.host.on_acked(self.clock.at(now), self.clock.at(sent), Bytes(bytes)) {
            inner.pacing = Pacing::Spin; // the kernel did not hold it until its launch time
        }
    }

    /// quinn's timer has found a loss, without an acknowledgment.
    pub(crate) fn on_lost(self: &Arc<Self>, loss: QuinnLoss) {
        let mut inner = self.lock();
        inner.on_lost(self.clock, &loss);
        self.schedule(&mut inner);
    }

    /// An acknowledgment is complete, and has shown these losses.
    pub(crate) fn on_ack_end(self: &Arc<Self>, losses: &[QuinnLoss], end: QuinnAckEnd) {
        let mut inner = self.lock();
        let inner = &mut *inner;
        losses.iter().for_each(|loss| inner.on_lost(self.clock, loss));
        let lost = losses.iter().map(|loss| Bytes(loss.lost)).sum();
        let waiting = inner.built.map_or(Bytes(0), |built| built.size) + inner.queue.bytes();
        let in_flight = Bytes(end.in_flight) - lost - waiting;
        let app_limited = end.app_limited && inner.queue.is_empty();
        inner.host.on_ack_end(self.clock.at(end.now), &host::AckEnd { in_flight, app_limited });
        self.schedule(inner);
    }

    // What the pacer's thread calls.

    /// The datagrams that departed have reached the kernel.
    pub(crate) fn on_left(&self) {
        self.lock().leaving = false;
    }

    /// Fills `batch` with what leaves now, if this is what was `scheduled` last. Returns the launch time if the kernel
    /// is to hold the batch until then.
    pub(crate) fn depart(self: &Arc<Self>, scheduled: Time, batch: &mut Batch) -> Option<Time> {
        batch.clear();
        let mut inner = self.lock();
        let inner = &mut *inner;
        if inner.scheduled != Some(scheduled) {
            return None; // an earlier time was scheduled since
        }
        inner.scheduled = None;
        let is_launched = inner.pacing == Pacing::Launch;
        let mut now = self.clock.now();
        if is_launched {
            // It leaves at that time, and after those before it. The sender and the stamps see the time as if it had
            // come.
            now = now.max(scheduled).max(inner.last.map_or(Time::ZERO, |last| last.at));
        }
        inner.host.on_wakeup(now, &inner.waiting(self));
        while inner.joins(batch) && inner.host.may_send(now, &inner.waiting(self)) {
            let waiting = inner.waiting(self);
            inner.send_first(now, &waiting, batch);
        }
        if batch.count() > 0 {
            let since = inner.last.map_or(Duration::ZERO, |last| now.since(last.at));
            inner.last = Some(LastDeparture { at: now, gap: Duration(since.0 / batch.count() as u64) });
            inner.leaving = true;
        }
        self.schedule(inner);
        let gap = inner.gap();
        inner.queue.wake_driver(gap);
        is_launched.then_some(now)
    }

    /// Asks the host when the next datagram may leave, and has the pacer come back then.
    fn schedule(self: &Arc<Self>, inner: &mut Inner) {
        if inner.queue.is_empty() {
            inner.queue.on_empty();
            return;
        }
        let due = inner.host.wake_at(self.clock.now(), &inner.waiting(self));
        if inner.scheduled.is_none_or(|scheduled| due < scheduled) {
            inner.scheduled = Some(due);
            self.timers.schedule(due, inner.pacing.lead(), self);
        }
    }
}

impl Inner {
    fn on_lost(&mut self, clock: Clock, loss: &QuinnLoss) {
        let &QuinnLoss { now, sent, persistent, lost } = loss;
        self.host.on_lost(clock.at(now), &Lost { sent: clock.at(sent), size: Bytes(lost), persistent });
    }

    fn gap(&self) -> Option<Duration> {
        self.last.map(|last| last.gap)
    }

    fn waiting(&self, flow: &SendingFlow) -> Waiting {
        Waiting { backlog: self.queue.backlog(), received: flow.to_acknowledge() }
    }

    /// Whether the next datagram can leave together with those of `batch`.
    fn joins(&self, batch: &Batch) -> bool {
        let header = self.stamping.as_ref().filter(|_| self.host.is_stamped()).map_or(0, Stamping::size);
        self.queue.first().is_some_and(|first| batch.takes(&first.addressing, first.size().0 as usize + header))
    }

    /// The next datagram leaves.
    fn send_first(&mut self, now: Time, waiting: &Waiting, batch: &mut Batch) {
        let Some(mut datagram) = self.queue.pop() else { return };
        let packet = Packet { size: datagram.size(), sent: datagram.sent, received: datagram.received };
        let stamp = self.host.on_sent(now, &packet, waiting);
        if let (Some(stamp), Some(stamping)) = (stamp, &mut self.stamping) {
            stamping.write(stamp, &mut datagram);
        }
        batch.add(&datagram);
        self.queue.recycle(datagram);
    }
}

#[cfg(test)]
mod tests;
