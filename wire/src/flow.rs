//! One direction of one connection: its [`Sender`], the datagrams that wait for their time, and what the sender is told.
//!
//! quinn builds a packet as soon as there is room in the queue here, and believes that it has left. So round-trip times are
//! counted from when the packet really left, and what waits here is not in flight. What the controllers call the pipe is counted
//! from quinn's callbacks (`adaptor.rs`); when packets leave is up to the pacer's thread (`pacer.rs`).

use crate::batch::{Batch, Way};
use crate::confirmed::Confirmed;
use crate::pacer::Agenda;
use crate::pacing::Pacing;
use crate::passage::Passage;
use crate::tag::{self, Key};
use control::{Ack, Bytes, Duration, Loss, Next, Pipe, Rate, Report, Sender, Stamp, State, Time};
use header::{Header, ROUTED};
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

/// Bounds of the retransmission timeout (RFC 6298; the lower one is what the simulator takes).
const TIMEOUT: std::ops::RangeInclusive<Duration> = Duration::from_millis(200)..=Duration::from_millis(60_000);
/// How much later than acknowledgments the routers' answer may be, as reports travel by themselves.
const ANSWER: Duration = Duration::from_millis(50);
/// quinn's time stands still while it reads what has arrived: it may be late by less than this.
const STALE: Duration = Duration::from_micros(100);
/// Who owes an acknowledgment lets a packet go so long after the last one, and an eighth of a round trip at least, whatever the controller's window
/// (but not its schedule): quinn puts acknowledgments into packets that wait here behind what the window holds back, and the other end's window may
/// wait for them. After each such packet in a row it takes twice as long, up to a round trip: then it is one packet more than the window.
const OWED: Duration = Duration::from_millis(5);
/// What is no larger is taken for an acknowledgment or a report, for which none is owed.
const UNOWED: usize = 100;
/// Before there is an RTT sample.
const FIRST_TIMEOUT: Duration = Duration::from_millis(1000);

/// A datagram with room for a header in front of it.
pub(crate) struct Datagram {
    bytes: Vec<u8>,
    /// How much of the room is a header.
    header: usize,
    /// Where it goes.
    pub(crate) way: Way,
    /// When quinn believes to have sent it.
    sent: Option<Instant>,
    /// Datagrams that had come, which it may acknowledge.
    heard: u64,
}

impl Datagram {
    #[cfg(test)]
    pub(crate) fn plain(contents: &[u8], way: Way) -> Datagram {
        Datagram { bytes: [&[0; ROUTED], contents].concat(), header: 0, way, sent: None, heard: 0 }
    }

    /// What the network sees.
    pub(crate) fn contents(&self) -> &[u8] {
        &self.bytes[ROUTED - self.header..]
    }

    /// Bytes that QUIC knows of.
    fn size(&self) -> Bytes {
        Bytes((self.bytes.len() - ROUTED) as u64)
    }
}

/// What a connection's packets are stamped with, once its peer has asked for it.
pub(crate) struct Stamping {
    /// The peer's name for the flow.
    token: u64,
    /// Of the tags.
    key: Key,
    /// The last number.
    number: u64,
    /// Bytes of the last header.
    size: usize,
    passage: Passage,
}

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

    /// Smoothed RTT and its variation (RFC 6298), once there is a sample.
    rtt: Option<(Duration, Duration)>,
    /// When something was acknowledged last, or the first packet left after a silence.
    heard: Time,
    /// Timeouts since then.
    timeouts: u32,
    /// When the last packet that left was sent, for quinn.
    departed: Option<Instant>,
    /// Packets that may still leave because of the last one.
    probes: u32,
    /// Datagrams that had come when the latest of those that have left was built.
    answered: u64,
    /// One packet may leave, as an acknowledgment is owed.
    passing: bool,
    /// How many left so since the window was open last.
    passed: u32,

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
            rtt: None,
            heard: Time::ZERO,
            timeouts: 0,
            departed: None,
            probes: 0,
            answered: 0,
            passing: false,
            passed: 0,
            scheduled: None,
        };
        let (received, heard) = Default::default();
        Arc::new(Flow { clock, agenda, packet, inner: Mutex::new(inner), received, heard })
    }

    /// A datagram of so many bytes came from where the last one was sent to.
    pub(crate) fn on_datagram(&self, size: usize) {
        self.received.fetch_add(1, Ordering::Relaxed);
        self.heard.fetch_add((size > UNOWED) as u64, Ordering::Relaxed);
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
        self.lock().rtt.map(|(smoothed, _)| smoothed)
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
        self.ask(&mut inner); // something may have come
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
            inner.answered = inner.answered.max(heard);
            return false;
        }
        let mut bytes = inner.spare.pop().unwrap_or_default();
        bytes.clear();
        bytes.resize(ROUTED, 0);
        bytes.extend_from_slice(transmit.contents);
        let &Transmit { destination, src_ip: source, ecn, .. } = transmit;
        inner.queue.push_back(Datagram { bytes, header: 0, way: (destination, source, ecn), sent, heard });
        inner.queued += size as u64;
        inner.outstanding += size as u64;
        if inner.queue.len() == 1 || heard > inner.answered {
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
        (inner.heard, inner.timeouts, inner.probes) = (now, 0, 0);
        let ack = Ack {
            in_flight: inner.in_flight(),
            recovery: inner.is_recovering(),
            app_limited: app_limited && inner.queue.is_empty(),
            report: inner.report,
            ..std::mem::take(&mut inner.ack)
        };
        if let Some(rtt) = ack.rtt {
            inner.on_rtt(rtt);
        }
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
            inner.passed = 0;
        } else {
            inner.time_out(now);
            let owed = self.owed(inner).is_some_and(|time| time <= now);
            inner.passing = owed && inner.next(now, self.packet) == Next::AfterAck;
            inner.passed += inner.passing as u32;
        }
        while inner.goes_along(batch) && inner.next(now, self.packet) == Next::Now {
            inner.depart(now, if batch.count() == 0 { gap } else { Duration::ZERO }, self.packet, batch);
        }
        inner.passing = false;
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

    /// When a packet may leave whatever the window, if an acknowledgment is owed that no packet before it carries.
    fn owed(&self, inner: &Inner) -> Option<Time> {
        let eighths = 1 << inner.passed.min(3);
        let interval = inner.rtt.map_or(OWED, |(smoothed, _)| OWED.max(Duration(smoothed.0 / 8 * eighths)));
        let owes = self.heard.load(Ordering::Relaxed) > inner.answered;
        let may = owes && inner.in_flight().0 < inner.limit(self.packet);
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
            Next::At(time) => time.min(inner.heard + inner.timeout()),
            Next::AfterAck => {
                (inner.heard + inner.timeout()).max(now + AHEAD).min(self.owed(inner).unwrap_or(Time::MAX))
            }
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
            let rtt = self.rtt.map_or(FIRST_TIMEOUT, |(smoothed, _)| smoothed);
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
        let free = self.probes > 0 || self.passing;
        match self.sender.next(now, &pipe) {
            Next::AfterAck if free => Next::Now,
            _ if pipe.in_flight.0 + packet > self.limit(packet) && !free => Next::AfterAck,
            next => next,
        }
    }

    /// What may be in flight, bytes, whatever the controller says.
    fn limit(&self, packet: u64) -> u64 {
        // In silence it halves with each timeout: into a dead path goes less and less.
        (self.confirmed.limit(packet) >> self.timeouts.min(16)).max(2 * packet)
    }

    /// Whether what was sent at this time was given up.
    fn was_given_up(&self, sent: Instant) -> bool {
        self.given_up_until.is_some_and(|until| sent <= until)
    }

    /// Whether the next datagram can leave together with those before it.
    fn goes_along(&self, batch: &Batch) -> bool {
        let header = self.stamping.as_ref().map_or(0, |stamping| stamping.size);
        self.queue.front().is_some_and(|first| batch.takes(&first.way, first.size().0 as usize + header))
    }

    /// The next datagram leaves, `gap` after the one before.
    fn depart(&mut self, now: Time, gap: Duration, packet: u64, batch: &mut Batch) {
        let pipe = self.pipe(packet);
        let Some(mut datagram) = self.queue.pop_front() else { return };
        let size = datagram.size();
        let stamp = self.sender.on_send(now, size, &pipe);
        self.queued -= size.0;
        if size.0 > SMALL as u64 {
            self.probes = self.probes.saturating_sub(1);
        }
        self.passing = false;
        self.answered = self.answered.max(datagram.heard);
        if datagram.sent.is_some() {
            self.departed = datagram.sent;
        }
        if pipe.in_flight == Bytes(0) {
            self.heard = now;
        }
        if let Some(opening) = &mut self.opening {
            let answer = self.rtt.map_or(FIRST_TIMEOUT, |(smoothed, variation)| smoothed + variation.scale(4.0));
            opening.until = opening.until.min(now + answer + ANSWER);
        }
        if let Some(stamping) = &mut self.stamping
            && stamping.passage.is_open(self.timeouts)
        {
            let stamp = self.opening.as_ref().map_or(as_it_was(stamp, size, gap), |opening| opening.stamp);
            datagram.header = stamping.write(stamp, &mut datagram.bytes);
        }
        if let Some(sent) = datagram.sent {
            self.departures.push_back((sent, now, datagram.header > 0));
        }
        batch.add(&datagram);
        if self.spare.len() < *QUEUE.end() as usize {
            self.spare.push(datagram.bytes);
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

    fn on_rtt(&mut self, rtt: Duration) {
        self.rtt = Some(match self.rtt {
            None => (rtt, rtt.scale(0.5)),
            Some((smoothed, variation)) => {
                let error = Duration(smoothed.0.abs_diff(rtt.0));
                (smoothed.scale(0.875) + rtt.scale(0.125), variation.scale(0.75) + error.scale(0.25))
            }
        });
    }

    fn timeout(&self) -> Duration {
        let base = self.rtt.map_or(FIRST_TIMEOUT, |(smoothed, variation)| smoothed + variation.scale(4.0));
        let (shortest, longest) = TIMEOUT.into_inner();
        base.max(shortest).scale(f64::from(1u32 << self.timeouts.min(16))).min(longest)
    }

    /// Gives up what is in flight if nothing was heard for too long. quinn would send probes for it (RFC 9002, section 6.2), but
    /// they wait here behind the rest, and no controller lets them pass before it is told.
    fn time_out(&mut self, now: Time) {
        if self.in_flight() == Bytes(0) || now < self.heard + self.timeout() {
            return;
        }
        self.timeouts += 1;
        self.probes = PROBES;
        self.heard = now;
        self.given_up = self.outstanding - self.queued;
        self.given_up_until = self.departed;
        self.departures.clear();
        self.sender.on_loss(now, &Loss::Timeout);
    }
}

/// The stamp of a packet that left `gap` after the one before. The sender re-plans when it is late by more than a gap; then the
/// packet has not probed the rate it was meant for, but the one that came of it. So no estimate is above what this host can send.
fn as_it_was(stamp: Stamp, size: Bytes, gap: Duration) -> Stamp {
    match stamp {
        Stamp::Probe { stream, index, len, rate, sent } if index > 0 => {
            let planned = Rate::from_bps(f64::from(rate)).time_for(size);
            let late = gap.0 / 2 > planned.0;
            let rate = if late { size.over(gap).as_bps() as f32 } else { rate };
            Stamp::Probe { stream, index, len, rate, sent }
        }
        stamp => stamp,
    }
}

impl Stamping {
    /// Of the flow that the peer knows by `token`, with tags by `key`.
    pub(crate) fn new(token: u64, key: Key) -> Stamping {
        Stamping { token, key, number: 0, size: 0, passage: Passage::default() }
    }

    /// Writes the header in front of a packet; how long it is.
    fn write(&mut self, stamp: Stamp, bytes: &mut [u8]) -> usize {
        let Some(room) = bytes.first_chunk_mut() else { return 0 };
        self.number += 1;
        self.size = tag::write(&Header { token: self.token, number: self.number, stamp }, &self.key, room);
        self.size
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::Phase;
    use std::net::SocketAddr;

    const PACKET: u64 = 1200;

    /// Sends whenever it may.
    struct Eager;

    impl Sender for Eager {
        fn next(&mut self, _: Time, _: &Pipe) -> Next {
            Next::Now
        }
        fn on_send(&mut self, _: Time, _: Bytes, _: &Pipe) -> Stamp {
            Stamp::None
        }
        fn on_ack(&mut self, _: Time, _: &Ack) {}
        fn on_loss(&mut self, _: Time, _: &Loss) {}
        fn state(&self) -> State {
            State { window: None, rate: None, phase: Phase::Probing }
        }
    }

    fn flow() -> Arc<Flow> {
        Flow::new(Clock::start(), Arc::new(Agenda::new()), PACKET, Box::new(Eager))
    }

    fn push(flow: &Arc<Flow>, sent: Instant, size: usize) -> bool {
        flow.on_built(sent, size as u64);
        let destination = SocketAddr::from(([127, 0, 0, 1], 9));
        flow.push(&Transmit { destination, ecn: None, contents: &vec![0x40; size], segment_size: None, src_ip: None })
    }

    /// How many packets the pacer would send now.
    fn departing(flow: &Arc<Flow>) -> u64 {
        let mut batch = Batch::new(4);
        let next = || {
            let scheduled = flow.lock().scheduled?;
            flow.depart(scheduled, &mut batch);
            Some(batch.count() as u64).filter(|count| *count > 0)
        };
        std::iter::from_fn(next).sum()
    }

    #[test]
    fn whatever_a_controller_believes_it_sends_a_small_multiple_of_what_is_confirmed() {
        let flow = flow();
        let mut sent = Instant::now();
        (0..10_000).for_each(|_| assert!(push(&flow, sent, PACKET as usize)));
        let first = departing(&flow);
        assert_eq!(first, 64);
        // No report changes that, be it of a liar or of a forger.
        flow.on_report(Report::Available { stream: 1, rate: 1e15 });
        assert_eq!(departing(&flow), 0);
        let mut in_flight = first;
        for _ in 0..3 {
            // A round trip confirms half of it, the rest is lost.
            let acked = in_flight / 2;
            let now = Instant::now();
            (0..acked).for_each(|_| flow.on_acked(now, sent, PACKET));
            let queued = flow.lock().queued;
            flow.on_acks_end(now, queued, false);
            in_flight = departing(&flow);
            assert!((1..=64 + 4 * acked).contains(&in_flight), "{in_flight} for {acked} confirmed");
            sent = now;
        }
    }

    #[test]
    fn answers_leave_at_once_but_no_more_of_them_than_questions() {
        let flow = flow();
        let now = Instant::now();
        let unpaced = (0..100).filter(|_| !push(&flow, now, 50)).count() as u64;
        assert_eq!(unpaced, UNANSWERED);
        (0..5).for_each(|_| flow.on_datagram(40));
        assert!(push(&flow, now, 50), "what waits must not be overtaken");
        assert_eq!(departing(&flow), 101 - UNANSWERED, "the others wait for the pacer");
        assert!(push(&flow, now, 50), "the last of them may not be out yet");
        assert_eq!(departing(&flow), 1);
        flow.left();
        assert!(!push(&flow, now, 50));
    }

    /// Its controller says from now on that it waits for acknowledgments, and what left last did so this long ago.
    fn shut(flow: &Arc<Flow>, ago: Duration) {
        let mut inner = flow.lock();
        inner.sender = Box::new(Shut);
        let (last, gap) = inner.last.unwrap();
        inner.last = Some((Time(last.0.saturating_sub(ago.0)), gap));
        inner.scheduled = None;
        flow.ask(&mut inner);
    }

    #[test]
    fn an_acknowledgment_that_is_owed_passes_a_closed_window_a_packet_at_a_time() {
        let flow = flow();
        std::thread::sleep(std::time::Duration::from_nanos(OWED.0 / 1000)); // so that there is a time that long ago
        assert!(push(&flow, Instant::now(), PACKET as usize));
        assert_eq!(departing(&flow), 1);
        (0..3).for_each(|_| assert!(push(&flow, Instant::now(), PACKET as usize)));
        flow.on_datagram(40);
        shut(&flow, OWED);
        assert_eq!(departing(&flow), 0, "acknowledgments are not acknowledged");
        flow.on_datagram(1000);
        assert!(push(&flow, Instant::now(), PACKET as usize), "it carries the acknowledgment");
        for left in [1, 1, 1, 1] {
            shut(&flow, OWED);
            assert_eq!(departing(&flow), left, "and three were built before it");
            assert_eq!(departing(&flow), 0, "once");
        }
        assert!(push(&flow, Instant::now(), PACKET as usize));
        shut(&flow, OWED);
        assert_eq!(departing(&flow), 0, "nothing is owed any more");
    }

    #[test]
    fn who_talks_and_acknowledges_nothing_is_given_up_all_the_same() {
        let flow = flow();
        (0..100).for_each(|_| assert!(push(&flow, Instant::now(), PACKET as usize)));
        assert_eq!(departing(&flow), 64);
        flow.lock().rtt = Some((Duration::from_millis(1), Duration::ZERO));
        let begun = Instant::now();
        while flow.lock().timeouts == 0 {
            assert!(begun.elapsed().as_secs() < 10, "it never is");
            flow.on_datagram(1000);
            shut(&flow, OWED);
            departing(&flow);
            let (now, scheduled) = (flow.clock.now(), flow.lock().scheduled);
            assert!(scheduled.is_none_or(|time| time > now), "nothing left, so there is something to wait for");
        }
    }

    #[test]
    fn what_was_given_up_is_neither_a_loss_nor_a_round_trip_time_later() {
        let flow = flow();
        let sent = Instant::now();
        (0..10).for_each(|_| assert!(push(&flow, sent, PACKET as usize)));
        assert_eq!(departing(&flow), 10);
        {
            let mut inner = flow.lock();
            let heard = inner.heard;
            inner.time_out(heard + FIRST_TIMEOUT);
            assert_eq!(inner.in_flight(), Bytes(0));
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
        let later = Instant::now();
        (0..2).for_each(|_| assert!(push(&flow, later, PACKET as usize)));
        flow.lock().scheduled = None;
        flow.ask(&mut flow.lock());
        assert_eq!(departing(&flow), 2);
        flow.on_acked(Instant::now(), sent, PACKET);
        flow.on_acks_end(Instant::now(), 11 * PACKET, false);
        let known = |flow: &Arc<Flow>| {
            let inner = flow.lock();
            (inner.in_flight(), inner.rtt, inner.recovery)
        };
        assert_eq!(known(&flow), (Bytes(2 * PACKET), None, None), "the new ones are in flight");
        flow.on_lost(Instant::now(), sent, true, 9 * PACKET);
        assert_eq!(known(&flow), (Bytes(2 * PACKET), None, None));
        flow.on_lost(Instant::now(), later, false, PACKET);
        assert!(flow.lock().recovery.is_some());
    }

    #[test]
    fn silence_is_a_timeout_and_what_was_in_flight_is_given_up() {
        let flow = flow();
        (0..100).for_each(|_| assert!(push(&flow, Instant::now(), PACKET as usize)));
        assert_eq!(departing(&flow), 64);
        let mut inner = flow.lock();
        let heard = inner.heard;
        inner.time_out(heard + FIRST_TIMEOUT.scale(0.9));
        assert_eq!(inner.in_flight(), Bytes(64 * PACKET), "not yet");
        inner.time_out(heard + FIRST_TIMEOUT);
        assert_eq!(inner.in_flight(), Bytes(0));
        assert_eq!(inner.timeout(), FIRST_TIMEOUT.scale(2.0));
    }

    /// Waits for acknowledgments that do not come.
    struct Shut;

    impl Sender for Shut {
        fn next(&mut self, _: Time, _: &Pipe) -> Next {
            Next::AfterAck
        }
        fn on_send(&mut self, _: Time, _: Bytes, _: &Pipe) -> Stamp {
            Stamp::None
        }
        fn on_ack(&mut self, _: Time, _: &Ack) {}
        fn on_loss(&mut self, _: Time, _: &Loss) {}
        fn state(&self) -> State {
            State { window: Some(1.0), rate: None, phase: Phase::Recovery }
        }
    }

    #[test]
    fn after_a_timeout_two_packets_leave_whatever_the_controller_says_and_small_ones_with_them() {
        let flow = flow();
        assert!(push(&flow, Instant::now(), PACKET as usize));
        assert_eq!(departing(&flow), 1);
        {
            let mut inner = flow.lock();
            inner.sender = Box::new(Shut);
            let heard = inner.heard;
            inner.time_out(heard + FIRST_TIMEOUT);
        }
        for size in [50, PACKET as usize, 50, PACKET as usize, PACKET as usize] {
            assert!(push(&flow, Instant::now(), size) || size == 50);
        }
        flow.lock().scheduled = None;
        flow.ask(&mut flow.lock());
        let full = |flow: &Arc<Flow>| flow.lock().queue.iter().filter(|d| d.size() == Bytes(PACKET)).count();
        departing(&flow);
        assert_eq!(full(&flow), 1, "two of three have left");
    }

    #[test]
    fn a_probe_that_was_late_by_more_than_its_gap_probed_less() {
        let probe = |index, rate| Stamp::Probe { stream: 1, index, len: 90, rate, sent: Time(5) };
        let as_it_was = |index, rate, us| as_it_was(probe(index, rate), Bytes(1000), Duration::from_micros(us));
        assert_eq!(as_it_was(3, 1e9, 15), probe(3, 1e9), "8 us and a little late");
        assert_eq!(as_it_was(3, 1e9, 20), probe(3, 4e8));
        assert_eq!(as_it_was(0, 1e9, 20), probe(0, 1e9), "the first follows a pause");
    }
}
