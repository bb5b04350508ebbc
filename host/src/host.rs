//! The host of one direction of one connection.

use crate::departures::{Departure, Departures};
use crate::ecn::{Ecn, EcnCounts, EcnState};
use crate::flight::Flight;
use crate::limit::ConfirmedLimit;
use crate::owed::OwedAcks;
use crate::retransmission::{FIRST_TIMEOUT, RetransmissionTimer};
use crate::senders::Senders;
use crate::stamped_path::StampedPath;
use alloc::boxed::Box;
use control::{Ack, Bytes, Duration, Loss, Next, Pipe, Rate, Report, Sender, Stamp, State, Time};

/// Packets up to this size, in bytes, are taken for acknowledgments and reports rather than data. They do not count as
/// probes after a timeout: were a probe one that asks for no acknowledgment, the next could leave only after twice the
/// time.
pub const SMALL: Bytes = Bytes(300);

/// How many packets larger than [`SMALL`] may leave after a timeout whatever the sender says (RFC 9002, section 7.5).
const PROBES: u32 = 2;

/// The initial window of a sender that shows neither a window nor a rate, in packets (RFC 9002, section 7.2).
const INITIAL_WINDOW: u64 = 10;

/// How long the host waits at least when neither the sender nor the retransmission timer names a time to come.
const PAUSE: Duration = Duration::from_millis(1);

/// What the stack has to send and to acknowledge, when the host is asked about packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    /// Bytes that wait to be sent; `Bytes(u64::MAX)` if there are more than the stack knows of.
    pub backlog: Bytes,
    /// How many packets that ask for an acknowledgment have arrived on this connection so far. Zero for a stack whose
    /// acknowledgments never wait behind data.
    pub received: u64,
}

/// A packet that leaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// Its size in bytes, without what a stamp adds.
    pub size: Bytes,
    /// When it was sent as far as the stack knows (`time_sent` in RFC 9002); earlier than it leaves if it had to wait.
    /// The stack calls the packet by this time when it is acknowledged or lost. None if it will be neither.
    pub sent: Option<Time>,
    /// [`Waiting::received`] when the packet was built: what it may acknowledge.
    pub received: u64,
    /// Whether it is ECN-capable, which [`Host::may_be_ecn_capable`] must have allowed.
    pub ecn_capable: bool,
}

/// Packets that the stack declares lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// When the last of them was sent ([`Packet::sent`]).
    pub sent: Time,
    /// Their bytes together.
    pub size: Bytes,
    /// Whether the path carried nothing between the first and the last of them, over a time of several probe timeouts
    /// (persistent congestion, RFC 9002, section 7.6). The sender is told of a timeout then.
    pub persistent: bool,
}

/// The end of an acknowledgment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckEnd {
    /// Bytes that have left and are neither acknowledged nor lost, after this acknowledgment and its losses. The
    /// stack's count replaces the host's, because a stack may drop packets without a word (those of the handshake, for
    /// example).
    pub in_flight: Bytes,
    /// Whether the application or the peer's flow control, not the sender, held data back.
    pub app_limited: bool,
}

/// What an acknowledgment has said so far.
#[derive(Debug, Default)]
struct PartialAck {
    acked: Bytes,
    lost: Bytes,
    rtt: Option<Duration>,
}

/// The host of a [`Sender`]: see the [crate's documentation](crate) for the order of calls.
pub struct Host {
    /// Bytes of a full packet, without what a stamp adds.
    packet: Bytes,
    senders: Senders,
    /// The receiver's newest report.
    report: Option<Report>,
    /// The least that a stamp adds to a packet, in bytes.
    stamp_size: Bytes,
    stamped_path: StampedPath,

    flight: Flight,
    departures: Departures,
    ecn: Ecn,
    limit: ConfirmedLimit,
    timer: RetransmissionTimer,
    /// Packets that may still leave because of the last timeout.
    probes: u32,
    owed: OwedAcks,
    /// When the last packet left.
    last_departure: Option<Time>,

    ack: PartialAck,
    /// When the latest packet that was acknowledged was sent.
    latest_acked: Option<Time>,
    /// When the last loss event was found.
    recovery_began: Option<Time>,
    /// When persistent congestion was found last.
    collapsed: Option<Time>,
    /// Whether a packet has left since the sender was told of a loss.
    sent_since_loss: bool,
    /// Whether a packet has left since the sender was told of a timeout.
    sent_since_timeout: bool,
    /// The latest time at which the sender was asked for a packet, and at which it was told of anything else.
    told: Told,
}

/// The latest times that the sender was told. Time never goes back for it, neither when packets leave nor when it hears
/// of something. A stack's time does: it may read the clock for an acknowledgment and pass it on after it has read the
/// clock for a later one, and it may hand packets over before they are to leave.
#[derive(Debug, Default)]
struct Told {
    sending: Time,
    hearing: Time,
}

impl Told {
    fn sending(&mut self, now: Time) -> Time {
        self.sending = self.sending.max(now);
        self.sending
    }

    fn hearing(&mut self, now: Time) -> Time {
        self.hearing = self.hearing.max(now);
        self.hearing
    }
}

impl Host {
    /// A host whose packets have up to `packet` bytes, and whose sender is `first` until [`Host::stamp`] names another.
    pub fn new(packet: Bytes, first: Box<dyn Sender>) -> Host {
        Host {
            packet,
            senders: Senders::new(first),
            report: None,
            stamp_size: Bytes(0),
            stamped_path: StampedPath::default(),
            flight: Flight::default(),
            departures: Departures::default(),
            ecn: Ecn::default(),
            limit: ConfirmedLimit::default(),
            timer: RetransmissionTimer::default(),
            probes: 0,
            owed: OwedAcks::default(),
            last_departure: None,
            ack: PartialAck::default(),
            latest_acked: None,
            recovery_began: None,
            collapsed: None,
            sent_since_loss: true,
            sent_since_timeout: true,
            told: Told::default(),
        }
    }

    /// What the sender is doing.
    pub fn state(&self) -> State {
        self.senders.shown().state()
    }

    /// The sender's newest estimate of the available bandwidth, if it makes any.
    pub fn available(&self) -> Option<Rate> {
        self.senders.shown().available()
    }

    /// Smoothed round-trip time, counted from when packets really left; none before the first sample.
    pub fn rtt(&self) -> Option<Duration> {
        self.timer.rtt()
    }

    /// Bytes that have left and are neither acknowledged, nor lost, nor given up after a timeout.
    pub fn in_flight(&self) -> Bytes {
        self.flight.in_flight()
    }

    /// Retransmission timeouts since the last acknowledgment.
    pub fn timeouts(&self) -> u32 {
        self.timer.timeouts()
    }

    /// Whether packets carry stamps.
    pub fn is_stamped(&self) -> bool {
        self.senders.is_stamped()
    }

    /// Whether packets carry stamps that ask the routers on the path, and none has answered in time.
    pub fn is_unanswered(&self) -> bool {
        self.senders.is_unanswered()
    }

    /// From now on, packets may be ECN-capable where the path and the peer support that: the sender reacts to marks
    /// ([`control::EcnSupport`]), the stack writes the ECN field of what it sends, and it reads what the peer's
    /// acknowledgments tell ([`Host::on_ecn_counts`]).
    pub fn enable_ecn(&mut self) {
        self.ecn.enable();
    }

    /// Packets go another way from now on, as the peer's address has changed: whether that path supports ECN is found
    /// out anew, by packets that leave from now on.
    pub fn restart_ecn(&mut self) {
        self.ecn.restart();
        self.departures.forget_ecn();
    }

    /// The path MTU is `mtu` from now on. Only packets that probe for a larger one, which are not ECN-capable, are
    /// larger. The stack need not tell of an increase.
    pub fn on_mtu(&mut self, mtu: Bytes) {
        self.ecn.limit(mtu);
    }

    /// What is known of ECN on the path.
    pub fn ecn_state(&self) -> EcnState {
        self.ecn.state()
    }

    /// Whether the packets that leave now may be ECN-capable.
    pub fn may_be_ecn_capable(&mut self, now: Time) -> bool {
        self.ecn.is_capable(now, self.timer.timeout())
    }

    /// The peer has agreed to read stamps, which add at least `stamp_size` bytes to a packet. From now on packets carry
    /// them and `sender` decides; if its protocol asks routers for a rate, once they have answered or can no longer be
    /// expected to.
    pub fn stamp(&mut self, now: Time, sender: Box<dyn Sender>, stamp_size: Bytes) {
        self.stamp_size = stamp_size;
        self.senders.stamp(self.told.hearing(now), sender);
    }

    /// A report of the receiver has arrived. The same one may arrive again.
    pub fn on_report(&mut self, now: Time, report: Report) {
        self.report = Some(report);
        self.on_answer(now);
        let ack =
            Ack { in_flight: self.in_flight(), recovery: self.is_recovering(), report: self.report, ..Ack::default() };
        self.senders.current().on_ack(self.told.hearing(now), &ack);
    }

    /// A packet that was sent at `sent` ([`Packet::sent`]) and has `size` bytes is acknowledged. To be called for each
    /// packet of an acknowledgment, and followed by [`Host::on_ack_end`].
    pub fn on_acked(&mut self, now: Time, sent: Time, size: Bytes) {
        self.ack.acked += size;
        self.latest_acked = self.latest_acked.max(Some(sent));
        self.limit.on_acked(now, sent, size);
        self.flight.on_acked(sent, size);
        let departure = self.departures.take(sent);
        // Small packets are not ECN-capable. If the last part of a stream is taken for one, fewer packets are
        // validated.
        let may_be_capable = size > SMALL && departure.is_some_and(|departure| departure.ecn_capable);
        self.ecn.on_acked(size, may_be_capable);
        let Some(departure) = departure else { return };
        // The stack may have built this packet together with one that was given up, and this may be the acknowledgment
        // of that one (Karn and Partridge, "Improving round-trip time estimates", SIGCOMM 1987).
        if !self.flight.was_given_up(sent) {
            self.ack.rtt = Some(now.since(departure.left));
        }
        if self.is_full(size) && self.is_stamped() && self.stamped_path.on_full_packet_acked(departure.stamped) {
            self.senders.give_stamps_up();
            self.report = None;
            // The sender that decides again has sent nothing since it was last told of a loss.
            (self.sent_since_loss, self.sent_since_timeout) = (false, false);
        }
    }

    /// An acknowledgment tells how many packets have arrived with each ECN field, or does not tell it. To be called
    /// before the [`Host::on_ack_end`] of each acknowledgment that raises the largest packet number acknowledged:
    /// others may have come out of order (RFC 9000, section 13.4.2.1).
    pub fn on_ecn_counts(&mut self, counts: Option<EcnCounts>) {
        self.ecn.on_counts(counts);
    }

    /// The present acknowledgment tells of marks. For a stack that reads and checks the counts itself and does not say
    /// how many packets are marked, in place of [`Host::on_ecn_counts`]: one counts as marked, which is enough for a
    /// sender that takes marks for a loss. To be called before the [`Host::on_ack_end`] of the acknowledgment.
    pub fn on_marks(&mut self) {
        self.ecn.on_marks();
    }

    /// Packets are lost. If an acknowledgment showed it, this is to be called before the [`Host::on_ack_end`] of that
    /// acknowledgment.
    pub fn on_lost(&mut self, now: Time, lost: &Lost) {
        self.ack.lost += self.flight.on_lost(lost.sent, lost.size);
        // The sender has been told of the timeout after which these packets were given up.
        if self.flight.was_given_up(lost.sent) {
            return;
        }
        // One reduction per window: packets sent before it began belong to the same loss event (RFC 9002, section
        // 7.3.2).
        let is_new = |began: Option<Time>| began.is_none_or(|began| lost.sent > began);
        let loss = match lost.persistent {
            true if is_new(self.collapsed) => Loss::Timeout,
            false if is_new(self.recovery_began) && self.sent_since_loss => Loss::Event,
            _ => return,
        };
        self.recovery_began = Some(now);
        if lost.persistent {
            self.collapsed = Some(now);
            self.sent_since_timeout = false;
        }
        self.sent_since_loss = false;
        self.senders.current().on_loss(self.told.hearing(now), &loss);
    }

    /// An acknowledgment is complete: the stack has named every packet that it acknowledges, and every packet that it
    /// shows to be lost.
    pub fn on_ack_end(&mut self, now: Time, end: &AckEnd) {
        self.flight.set_outstanding(end.in_flight);
        self.probes = 0;
        let PartialAck { acked, lost, rtt } = core::mem::take(&mut self.ack);
        let ack = Ack {
            acked,
            lost,
            spurious: Bytes(0), // a stack forgets packets once it has declared them lost
            marked: self.ecn.on_ack_end(acked),
            rtt,
            in_flight: self.in_flight(),
            recovery: self.is_recovering(),
            spurious_timeout: false, // for the same reason
            app_limited: end.app_limited,
            report: self.report,
        };
        self.timer.on_ack(now, rtt);
        if self.senders.has_waited_enough(now) {
            self.on_answer(now);
        }
        self.senders.current().on_ack(self.told.hearing(now), &ack);
    }

    /// Looks at the timers. To be called before packets are sent, and at the time that [`Host::wake_at`] named.
    pub fn on_wakeup(&mut self, now: Time, waiting: &Waiting) {
        self.owed.forbid();
        if self.ask(now, waiting) == Next::Now {
            self.owed.on_open_window();
            return;
        }
        if self.in_flight() > Bytes(0) && now >= self.timer.expires() {
            self.on_timeout(now);
        }
        let is_due = self.owed_ack_due(waiting).is_some_and(|due| due <= now);
        if is_due && self.ask(now, waiting) == Next::AfterAck {
            self.owed.allow();
        }
    }

    /// Whether a packet may leave now. After [`Host::on_wakeup`], and again after each packet.
    pub fn may_send(&mut self, now: Time, waiting: &Waiting) -> bool {
        self.ask(now, waiting) == Next::Now
    }

    /// A packet leaves, of which `waiting` still counts the bytes. Returns the stamp that it is to carry; none if it is
    /// to leave without one, as all packets do before [`Host::stamp`].
    pub fn on_sent(&mut self, now: Time, packet: &Packet, waiting: &Waiting) -> Option<Stamp> {
        let pipe = self.pipe(waiting);
        let is_plain = self.senders.window().is_some();
        let stamp = self.senders.current().on_send(self.told.sending(now), packet.size, &pipe);
        (self.sent_since_loss, self.sent_since_timeout) = (true, true);
        if packet.size > SMALL {
            self.probes = self.probes.saturating_sub(1);
        }
        self.owed.on_sent(packet.received);
        if pipe.in_flight == Bytes(0) {
            self.timer.start(now);
        }
        self.flight.on_sent(packet.sent, packet.size);
        self.last_departure = Some(now);
        let stamp = self.senders.on_sent(now, stamp, self.timer.answer_time());
        let (timeouts, is_full) = (self.timer.timeouts(), self.is_full(packet.size));
        let stamped = self.is_stamped() && !is_plain && self.stamped_path.takes_stamp(timeouts, is_full);
        if packet.ecn_capable {
            self.ecn.on_sent(now, packet.size);
        }
        if let Some(sent) = packet.sent {
            self.departures.push(Departure { sent, left: now, stamped, ecn_capable: packet.ecn_capable });
        }
        stamped.then_some(stamp)
    }

    /// The window for a stack that enforces it itself, in bytes of the stack's own count of what is in flight; none
    /// while packets leave one by one as the host says ([`Host::may_send`]), with or without stamps. It may change with
    /// every other call. A stack that enforces it keeps its own timers, need not call [`Host::on_wakeup`], and tells of
    /// each packet with [`Host::on_sent_in_window`].
    pub fn window(&self) -> Option<Bytes> {
        // What was given up after a timeout is in flight for the stack until it declares that lost.
        self.senders.window().map(|window| window.min(self.limit()) + self.flight.given_up())
    }

    /// The window and the rate of a sender that paces, for a stack that enforces both itself and paces in its own way;
    /// the window in bytes of what is in flight. A sender that has neither yet has the initial window of RFC 9002
    /// (section 7.2) until a round-trip time is measured. Like [`Host::window`] otherwise, which such a sender does not
    /// have.
    pub fn pace(&self) -> (Bytes, Option<Rate>) {
        let State { window, rate, .. } = self.state();
        let window = match window {
            Some(packets) => Bytes((packets * self.packet.0 as f64) as u64),
            None if rate.is_none() && self.rtt().is_none() => Bytes(INITIAL_WINDOW * self.packet.0),
            None => self.limit(),
        };
        (window.min(self.limit()) + self.flight.given_up(), rate)
    }

    /// A packet leaves that the stack sends because it fits into [`Host::window`], or within [`Host::pace`], or as a
    /// probe of its own timer. It carries no stamp.
    pub fn on_sent_in_window(&mut self, now: Time, packet: &Packet) {
        let waiting = Waiting { backlog: packet.size, received: packet.received };
        let pipe = self.pipe(&waiting);
        self.senders.current().next(self.told.sending(now), &pipe);
        self.on_sent(now, packet, &waiting);
    }

    /// A packet that carries nothing but an acknowledgment or a report was sent without calling [`Host::may_send`].
    /// `received` is [`Waiting::received`] when it was built.
    pub fn on_ack_sent(&mut self, received: u64) {
        self.owed.on_sent(received);
    }

    /// When the host is to be woken to send what waits, if nothing happens before; not in the past. To be asked again
    /// after every other call.
    pub fn wake_at(&mut self, now: Time, waiting: &Waiting) -> Time {
        let timeout = self.timer.expires();
        let wake = match self.ask(now, waiting) {
            Next::Now => now,
            Next::At(time) if self.in_flight() == Bytes(0) => time,
            Next::At(time) => time.min(timeout),
            Next::AfterAck => timeout.max(now + PAUSE).min(self.owed_ack_due(waiting).unwrap_or(Time::MAX)),
        };
        wake.max(now)
    }

    /// Whether the peer is owed an acknowledgment that no packet sent so far carries.
    pub fn owes_ack(&self, received: u64) -> bool {
        self.owed.is_owed(received)
    }

    /// What the sender says, within the host's limits and for the packets that leave despite it.
    fn ask(&mut self, now: Time, waiting: &Waiting) -> Next {
        let pipe = self.pipe(waiting);
        let is_exempt = self.probes > 0 || self.owed.is_allowed();
        let is_full = pipe.in_flight + self.packet > self.limit();
        match self.senders.current().next(self.told.sending(now), &pipe) {
            Next::AfterAck if is_exempt => Next::Now,
            _ if is_full && !is_exempt => Next::AfterAck,
            next => next,
        }
    }

    /// When a packet may leave whatever the window, if it is to carry an acknowledgment that is owed and the limit
    /// allows it.
    fn owed_ack_due(&self, waiting: &Waiting) -> Option<Time> {
        let may = self.owed.is_owed(waiting.received) && self.in_flight() < self.limit();
        may.then(|| self.owed.due(self.last_departure, self.timer.rtt()))
    }

    /// The most that may be in flight, in bytes.
    fn limit(&self) -> Bytes {
        self.limit.in_flight(self.packet, self.timer.timeouts())
    }

    /// Whether a packet of `size` bytes is larger with a stamp than QUIC has made sure that the path takes.
    fn is_full(&self, size: Bytes) -> bool {
        size + self.stamp_size > self.packet
    }

    fn pipe(&self, waiting: &Waiting) -> Pipe {
        // QUIC repairs streams, not packets: what leaves next is never the retransmission of a packet.
        Pipe { in_flight: self.in_flight(), backlog: waiting.backlog, packet: self.packet, repairing: false }
    }

    /// Whether the newest acknowledgment is of a packet that was sent before the last loss event was found.
    fn is_recovering(&self) -> bool {
        self.recovery_began.is_some_and(|began| self.latest_acked.is_none_or(|latest| latest <= began))
    }

    /// Nothing has been acknowledged for a retransmission timeout. The stack sends probes then (RFC 9002, section 6.2),
    /// but they may wait behind other packets, and no sender lets them pass before it is told.
    fn on_timeout(&mut self, now: Time) {
        self.timer.on_timeout(now);
        self.probes = PROBES;
        self.flight.give_up();
        self.departures.clear();
        self.sent_since_loss = false;
        // If persistent congestion was found since the last packet left, the sender knows.
        if !core::mem::replace(&mut self.sent_since_timeout, false) {
            return;
        }
        let was_plain = self.senders.window().is_some();
        self.senders.current().on_loss(self.told.hearing(now), &Loss::Timeout);
        if self.is_stamped() && !was_plain && self.senders.window().is_some() {
            self.stamped_path.on_plain_again();
        }
    }

    /// If routers were asked: the newest report is their answer, or there is none.
    fn on_answer(&mut self, now: Time) {
        let rtt = self.timer.rtt().unwrap_or(FIRST_TIMEOUT);
        self.senders.on_answer(self.told.hearing(now), rtt, self.report);
    }
}
