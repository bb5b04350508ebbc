//! One direction of one connection: its [`Sender`], the datagrams that wait for their time, and what the sender is told.
//!
//! quinn builds a packet as soon as there is room in the queue here, and believes that it has left. So round-trip times are
//! counted from when the packet really left, and what waits here is not in flight. What the controllers call the pipe is counted
//! from quinn's callbacks (`adaptor.rs`); when packets leave is up to the pacer's thread (`pacer.rs`).

use crate::batch::Batch;
use crate::confirmed::Confirmed;
use crate::datagram::Datagram;
use crate::owed::{self, Owed};
use crate::pacer::Agenda;
use crate::pacing::Pacing;
use crate::silence::{FIRST_TIMEOUT, Silence};
use crate::stamping::Stamping;
use control::{Ack, Bytes, Duration, Loss, Next, Pipe, Report, Sender, Stamp, State, Time};
use quinn::udp::Transmit;
use realtime::Clock;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Instant;

/// No more than this leaves unpaced in answer to a datagram: acknowledgments, reports.
const SMALL: usize = 300;
/// Small datagrams that may leave before anything has arrived.
const UNANSWERED: u64 = 8;

/// How many datagrams may wait: as many as leave in [`AHEAD`], within these bounds.
const QUEUE: std::ops::RangeInclusive<u64> = 2..=32;
const AHEAD: Duration = Duration::from_millis(1);

/// Packets that leave after a timeout whatever the controller says (RFC 9002, section 7.5); small ones do not count. Were it one that asks for no
/// acknowledgment, the next would leave only after twice the time.
const PROBES: u32 = 2;

/// How much later than acknowledgments the routers' answer may be, as reports travel by themselves.
const ANSWER: Duration = Duration::from_millis(50);
/// quinn's time stands still while it reads what has arrived: it may be late by less than this.
const STALE: Duration = Duration::from_micros(100);

/// A sender that asks the routers on the way before it takes over.
struct Opening {
    sender: Box<dyn Sender>,
    /// What it asks, on every packet until there is an answer.
    stamp: Stamp,
    /// When no router has answered, and none will.
    until: Time,
}

/// One direction of one connection.
pub(crate) struct Flow {
    clock: Clock,
    agenda: Arc<Agenda>,
    /// Bytes of a full packet.
    packet: u64,
    inner: Mutex<Inner>,
    /// Datagrams that came from where the last one was sent to.
    received: AtomicU64,
    /// Of those, the ones that are to be acknowledged, probably.
    heard: AtomicU64,
}

struct Inner {
    sender: Box<dyn Sender>,
    stamping: Option<Stamping>,
    /// Who drove before the packets were stamped, and drives again if these do not get through.
    before: Option<Box<dyn Sender>>,
    opening: Option<Opening>,
    /// Asked, and no router on the way has answered.
    unanswered: bool,
    report: Option<Report>,
    pacing: Pacing,

    queue: VecDeque<Datagram>,
    /// Bytes in it.
    queued: u64,
    /// quinn has more than fits into the queue, or had when it ran empty last.
    plenty: bool,
    /// quinn's driver of the connection, if it waits for room.
    waker: Option<Waker>,
    /// It was woken, and has not come yet.
    woken: bool,
    /// The last datagram that departed may not have left the process yet.
    leaving: bool,
    /// Buffers to use again.
    spare: Vec<Vec<u8>>,
    /// What quinn has built last, until it reaches the queue: when, its size, and how many datagrams had come.
    building: Option<(Instant, u64, u64)>,
    /// Small datagrams that left unpaced.
    small: u64,
    /// When the last datagram left, and how long after the one before.
    last: Option<(Time, Duration)>,

    /// What quinn has in flight, as far as it reached the queue.
    outstanding: u64,
    /// Of that, what a timeout gave up, and when the last of it was sent, for quinn.
    given_up: u64,
    given_up_until: Option<Instant>,
    /// Departures that no acknowledgment has reached yet: when quinn believes that it was, and when it was.
    /// And whether it had a stamp.
    departures: VecDeque<(Instant, Time, bool)>,

    /// What the acknowledgment that is being read says so far.
    ack: Ack,
    /// When the latest packet that was acknowledged was sent, for quinn.
    latest: Option<Instant>,
    /// When the repair of a loss began.
    recovery: Option<Instant>,
    confirmed: Confirmed,

    /// When the last packet that left was sent, for quinn.
    departed: Option<Instant>,
    silence: Silence,
    /// Packets that may still leave because of the last timeout.
    probes: u32,
    owed: Owed,

    /// When the pacer will look at this flow.
    scheduled: Option<Time>,
}

impl Flow {
    /// A flow that `sender` drives, with packets of up to `packet` bytes.
    pub(crate) fn new(clock: Clock, agenda: Arc<Agenda>, packet: u64, sender: Box<dyn Sender>) -> Arc<Flow> {
        let inner = Inner {
            sender,
            stamping: None,
            before: None,
            opening: None,
            unanswered: false,
            report: None,
            pacing: Pacing::default(),
            queue: VecDeque::new(),
            queued: 0,
            plenty: false,
            waker: None,
            woken: false,
            leaving: false,
            spare: Vec::new(),
            building: None,
            small: 0,
            last: None,
            outstanding: 0,
            given_up: 0,
            given_up_until: None,
            departures: VecDeque::new(),
            ack: Ack::default(),
            latest: None,
            recovery: None,
            confirmed: Confirmed::default(),
            departed: None,
            silence: Silence::default(),
            probes: 0,
            owed: Owed::default(),
            scheduled: None,
        };
        let (received, heard) = Default::default();
        Arc::new(Flow { clock, agenda, packet, inner: Mutex::new(inner), received, heard })
    }

    /// A datagram of so many bytes came from where the last one was sent to.
    pub(crate) fn on_datagram(&self, size: usize) {
        self.received.fetch_add(1, Ordering::Relaxed);
        self.heard.fetch_add(u64::from(owed::is_owed_for(size)), Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the sender is doing.
    pub(crate) fn state(&self) -> State {
        self.lock().sender.state()
    }

    /// Its smoothed round-trip time.
    pub(crate) fn rtt(&self) -> Option<Duration> {
        self.lock().silence.rtt()
    }

    /// How its packets are sent at their time.
    pub(crate) fn pacing(&self) -> Pacing {
        self.lock().pacing
    }

    /// From now on packets are sent so.
    pub(crate) fn pace(&self, pacing: Pacing) {
        self.lock().pacing = pacing;
    }

    /// From now on packets carry stamps, and `sender` decides, once it has asked the routers if it does.
    pub(crate) fn stamp(self: &Arc<Flow>, mut sender: Box<dyn Sender>, stamping: Stamping) {
        let mut inner = self.lock();
        inner.stamping = Some(stamping);
        match sender.open(self.clock.now()) {
            Stamp::None => inner.take_over(sender),
            stamp => inner.opening = Some(Opening { sender, stamp, until: Time::MAX }),
        }
        self.ask(&mut inner);
    }

    /// Whether packets carry stamps.
    pub(crate) fn is_stamped(&self) -> bool {
        self.lock().stamping.is_some()
    }

    /// Whether the sender asked the routers on the way, and none has answered.
    pub(crate) fn is_unanswered(&self) -> bool {
        self.lock().unanswered
    }

    /// The receiver's report arrived over the connection.
    pub(crate) fn on_report(self: &Arc<Flow>, report: Report) {
        let now = self.clock.now();
        let mut inner = self.lock();
        let inner = &mut *inner;
        inner.report = Some(report);
        inner.open(now);
        let ack = Ack {
            in_flight: inner.in_flight(),
            recovery: inner.is_recovering(),
            report: inner.report,
            ..Ack::default()
        };
        inner.sender.on_ack(now, &ack);
        self.ask(inner);
    }

    // What quinn's driver calls, packet by packet.

    /// quinn has built a packet of `size`.
    pub(crate) fn on_built(&self, sent: Instant, size: u64) {
        self.lock().building = Some((sent, size, self.heard.load(Ordering::Relaxed)));
    }

    /// Whether the packet that quinn has built may come; if not, its driver is woken when it may.
    pub(crate) fn poll_room(self: &Arc<Flow>, context: &Context<'_>) -> Poll<()> {
        let mut inner = self.lock();
        if inner.queue.len() < inner.room() {
            return Poll::Ready(());
        }
        inner.plenty = true;
        inner.waker = Some(context.waker().clone());
        if inner.owed.is_for(self.heard()) {
            self.ask(&mut inner);
        }
        Poll::Pending
    }

    /// Whether a packet is a small answer and leaves unpaced. It must not overtake others: once it is acknowledged, QUIC would
    /// soon take them for lost (RFC 9002, section 6.1.2).
    fn is_answer(&self, inner: &Inner, size: usize) -> bool {
        let answers = inner.small < self.received.load(Ordering::Relaxed) + UNANSWERED;
        let behind = inner.leaving || inner.last.is_some_and(|(last, _)| last > self.clock.now());
        size <= SMALL && inner.queue.is_empty() && !behind && answers
    }

    /// A packet comes. If it is a small answer, nothing happens and the caller sends it at once.
    pub(crate) fn push(self: &Arc<Flow>, transmit: &Transmit<'_>) -> bool {
        let mut inner = self.lock();
        let inner = &mut *inner;
        let (sent, heard) = inner.building.take().map_or((None, 0), |(sent, _, heard)| (Some(sent), heard));
        let size = transmit.contents.len();
        if self.is_answer(inner, size) {
            inner.small += 1;
            inner.owed.on_sent(heard);
            return false;
        }
        let &Transmit { destination, src_ip: source, ecn, contents, .. } = transmit;
        let buffer = inner.spare.pop().unwrap_or_default();
        let mut datagram = Datagram::new(buffer, contents, (destination, source, ecn));
        (datagram.sent, datagram.heard) = (sent, heard);
        inner.queue.push_back(datagram);
        inner.queued += size as u64;
        inner.outstanding += size as u64;
        if inner.queue.len() == 1 || inner.owed.is_for(heard) {
            self.ask(inner);
        }
        inner.woken = false; // behind that: what it has besides is not known yet
        true
    }

    /// A packet of `bytes` that was sent at `sent` is acknowledged.
    pub(crate) fn on_acked(&self, now: Instant, sent: Instant, bytes: u64) {
        let mut inner = self.lock();
        inner.ack.acked += Bytes(bytes);
        inner.latest = inner.latest.max(Some(sent));
        inner.confirmed.on_ack(now, sent, bytes);
        let old = inner.was_given_up(sent);
        if old {
            inner.given_up = inner.given_up.saturating_sub(bytes);
        }
        // Packets that quinn built at the same time left in the order in which they are acknowledged, unless one was lost: then
        // this is off by the gap to the next one.
        while let Some(&(built, left, stamped)) = inner.departures.front()
            && built <= sent
        {
            inner.departures.pop_front();
            if built == sent {
                match self.clock.at(now) {
                    // quinn may have built it together with what was given up, of which this may be the acknowledgment (Karn and Partridge,
                    // "Improving round-trip time estimates", SIGCOMM 1987).
                    _ if old => {}
                    now if now + STALE < left => inner.pacing = Pacing::Spin, // the kernel did not hold it
                    now => inner.ack.rtt = Some(now.since(left)),
                }
                if bytes + header::SIZE as u64 > self.packet {
                    inner.on_full_acked(stamped);
                }
                break;
            }
        }
    }

    /// The acknowledgment is read; quinn has so much in flight still.
    pub(crate) fn on_acks_end(self: &Arc<Flow>, now: Instant, in_flight: u64, app_limited: bool) {
        let now = self.clock.at(now);
        let mut inner = self.lock();
        let inner = &mut *inner;
        let building = inner.building.map_or(0, |(_, size, _)| size);
        // Not counted by ourselves alone: quinn drops packets without a word when it drops the handshake's keys.
        inner.outstanding = in_flight.saturating_sub(building).max(inner.queued);
        inner.given_up = inner.given_up.min(inner.outstanding - inner.queued);
        inner.probes = 0;
        let ack = Ack {
            in_flight: inner.in_flight(),
            recovery: inner.is_recovering(),
            app_limited: app_limited && inner.queue.is_empty(),
            report: inner.report,
            ..std::mem::take(&mut inner.ack)
        };
        inner.silence.on_ack(now, ack.rtt);
        if inner.opening.as_ref().is_some_and(|opening| now > opening.until) {
            inner.open(now);
        }
        inner.sender.on_ack(now, &ack);
        self.ask(inner);
    }

    /// quinn found `lost` bytes lost, the latest of them sent at `sent`; so many and for so long that the path was useless, if
    /// `persistent` (RFC 9002, section 7.6).
    pub(crate) fn on_lost(self: &Arc<Flow>, now: Instant, sent: Instant, persistent: bool, lost: u64) {
        let mut inner = self.lock();
        let inner = &mut *inner;
        inner.outstanding = inner.outstanding.saturating_sub(lost).max(inner.queued);
        // Of a loss that a timeout has told of, the controller does not hear again.
        let old = inner.was_given_up(sent);
        // When a later packet is lost, quinn has lost or heard of all before it.
        inner.given_up = if old { inner.given_up.saturating_sub(lost) } else { 0 };
        // quinn looks for losses after it has told of an acknowledgment: they count with the next one.
        inner.ack.lost += Bytes(lost);
        // One reduction per window: what was sent before it began is the same loss event.
        if !old && (persistent || inner.recovery.is_none_or(|began| sent > began)) {
            inner.recovery = Some(now);
            let loss = if persistent { Loss::Timeout } else { Loss::Event };
            inner.sender.on_loss(self.clock.at(now), &loss);
            self.ask(inner);
        }
    }

    // What the pacer's thread calls.

    /// The datagram that departed has left the process.
    pub(crate) fn left(&self) {
        self.lock().leaving = false;
    }

    /// What leaves now, if it is time and this was `scheduled`; or what the kernel gets, and when that leaves.
    pub(crate) fn depart(self: &Arc<Flow>, scheduled: Time, batch: &mut Batch) -> Option<Time> {
        batch.clear();
        let mut inner = self.lock();
        let inner = &mut *inner;
        if inner.scheduled != Some(scheduled) {
            return None; // something earlier came in between
        }
        inner.scheduled = None;
        let launched = inner.pacing == Pacing::Launch;
        let mut now = self.clock.now();
        if launched {
            // It leaves then, and in its turn. For the sender, and in its stamp, it is that late.
            now = now.max(scheduled).max(inner.last.map_or(Time::ZERO, |(last, _)| last));
        }
        let gap = inner.last.map_or(Duration::ZERO, |(last, _)| now.since(last));
        if inner.next(now, self.packet) == Next::Now {
            inner.owed.on_open();
        } else {
            inner.time_out(now);
            let is_due = self.owed(inner).is_some_and(|time| time <= now);
            let may_pass = is_due && inner.next(now, self.packet) == Next::AfterAck;
            inner.owed.pass(may_pass);
        }
        while inner.goes_along(batch) && inner.next(now, self.packet) == Next::Now {
            inner.depart(now, self.packet, batch);
        }
        inner.owed.pass(false);
        if batch.count() > 0 {
            inner.last = Some((now, Duration(gap.0 / batch.count() as u64)));
            inner.leaving = true;
        }
        self.ask(inner);
        if inner.queue.len() <= inner.room() / 2
            && let Some(waker) = inner.waker.take()
        {
            waker.wake();
            inner.woken = true;
        }
        launched.then_some(now)
    }

    /// Datagrams that had come by now.
    fn heard(&self) -> u64 {
        self.heard.load(Ordering::Relaxed)
    }

    /// When a packet may leave whatever the window, if an acknowledgment is owed that no packet before it carries.
    fn owed(&self, inner: &Inner) -> Option<Time> {
        let may = inner.owed.is_for(self.heard()) && inner.in_flight().0 < inner.limit(self.packet);
        let interval = inner.owed.interval(inner.silence.rtt());
        may.then(|| inner.last.map_or(Time::ZERO, |(last, _)| last + interval))
    }

    /// Asks the sender when the next datagram may leave, and has the pacer come back then.
    fn ask(self: &Arc<Flow>, inner: &mut Inner) {
        if inner.queue.is_empty() {
            inner.plenty &= inner.waker.is_some() || inner.woken;
            return;
        }
        let now = self.clock.now();
        let due = match inner.next(now, self.packet) {
            Next::Now => now,
            Next::At(time) if inner.in_flight() == Bytes(0) => time,
            Next::At(time) => time.min(inner.silence.end()),
            Next::AfterAck => inner.silence.end().max(now + AHEAD).min(self.owed(inner).unwrap_or(Time::MAX)),
        };
        let due = due.max(now);
        if inner.scheduled.is_none_or(|scheduled| due < scheduled) {
            inner.scheduled = Some(due);
            self.agenda.schedule(due, inner.pacing, self);
        }
    }
}

impl Inner {
    /// The sender that has asked the routers takes over, with the answer if there is one.
    fn open(&mut self, now: Time) {
        if let Some(mut opening) = self.opening.take() {
            let rtt = self.silence.rtt().unwrap_or(FIRST_TIMEOUT);
            self.unanswered = self.report.is_none();
            opening.sender.on_open(now, rtt, self.report);
            self.take_over(opening.sender);
        }
    }

    fn take_over(&mut self, sender: Box<dyn Sender>) {
        self.before = Some(std::mem::replace(&mut self.sender, sender));
    }

    /// A full packet was acknowledged.
    fn on_full_acked(&mut self, stamped: bool) {
        if self.stamping.as_mut().is_some_and(|stamping| stamping.passage.on_acked(stamped)) {
            (self.stamping, self.opening, self.report) = (None, None, None);
            if let Some(before) = self.before.take() {
                self.sender = before;
            }
        }
    }

    fn in_flight(&self) -> Bytes {
        Bytes(self.outstanding.saturating_sub(self.queued + self.given_up))
    }

    fn pipe(&self, packet: u64) -> Pipe {
        Pipe {
            in_flight: self.in_flight(),
            backlog: Bytes(if self.plenty { u64::MAX } else { self.queued }),
            packet: Bytes(packet),
            repairing: false, // quinn repairs a stream, not a packet
        }
    }

    fn next(&mut self, now: Time, packet: u64) -> Next {
        let pipe = self.pipe(packet);
        let free = self.probes > 0 || self.owed.is_passing();
        match self.sender.next(now, &pipe) {
            Next::AfterAck if free => Next::Now,
            _ if pipe.in_flight.0 + packet > self.limit(packet) && !free => Next::AfterAck,
            next => next,
        }
    }

    /// What may be in flight, bytes, whatever the controller says.
    fn limit(&self, packet: u64) -> u64 {
        // In silence it halves with each timeout: into a dead path goes less and less.
        (self.confirmed.limit(packet) >> self.silence.timeouts().min(16)).max(2 * packet)
    }

    /// Whether what was sent at this time was given up.
    fn was_given_up(&self, sent: Instant) -> bool {
        self.given_up_until.is_some_and(|until| sent <= until)
    }

    /// Whether the next datagram can leave together with those before it.
    fn goes_along(&self, batch: &Batch) -> bool {
        let header = self.stamping.as_ref().map_or(0, Stamping::size);
        self.queue.front().is_some_and(|first| batch.takes(&first.way, first.size().0 as usize + header))
    }

    /// The next datagram leaves.
    fn depart(&mut self, now: Time, packet: u64, batch: &mut Batch) {
        let pipe = self.pipe(packet);
        let Some(mut datagram) = self.queue.pop_front() else { return };
        let size = datagram.size();
        let stamp = self.sender.on_send(now, size, &pipe);
        self.queued -= size.0;
        if size.0 > SMALL as u64 {
            self.probes = self.probes.saturating_sub(1);
        }
        self.owed.on_sent(datagram.heard);
        if datagram.sent.is_some() {
            self.departed = datagram.sent;
        }
        if pipe.in_flight == Bytes(0) {
            self.silence.begin(now);
        }
        if let Some(opening) = &mut self.opening {
            opening.until = opening.until.min(now + self.silence.patience() + ANSWER);
        }
        if let Some(stamping) = &mut self.stamping
            && stamping.passage.is_open(self.silence.timeouts())
        {
            let stamp = self.opening.as_ref().map_or(stamp, |opening| opening.stamp);
            stamping.write(stamp, &mut datagram);
        }
        if let Some(sent) = datagram.sent {
            self.departures.push_back((sent, now, datagram.is_stamped()));
        }
        batch.add(&datagram);
        if self.spare.len() < *QUEUE.end() as usize {
            self.spare.push(datagram.into_buffer());
        }
    }

    fn is_recovering(&self) -> bool {
        self.recovery.is_some_and(|began| self.latest.is_none_or(|latest| latest <= began))
    }

    /// How many datagrams may wait.
    fn room(&self) -> usize {
        let gap = self.last.map_or(AHEAD, |(_, gap)| gap);
        AHEAD.0.checked_div(gap.0).unwrap_or(u64::MAX).clamp(*QUEUE.start(), *QUEUE.end()) as usize
    }

    /// Gives up what is in flight if nothing was heard for too long. quinn would send probes for it (RFC 9002, section 6.2), but
    /// they wait here behind the rest, and no controller lets them pass before it is told.
    fn time_out(&mut self, now: Time) {
        if self.in_flight() == Bytes(0) || now < self.silence.end() {
            return;
        }
        self.silence.on_timeout(now);
        self.probes = PROBES;
        self.given_up = self.outstanding - self.queued;
        self.given_up_until = self.departed;
        self.departures.clear();
        self.sender.on_loss(now, &Loss::Timeout);
    }
}

#[cfg(test)]
mod tests;
