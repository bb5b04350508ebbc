//! The sending host: reliability, and the questions that it asks the congestion controller.
//!
//! It knows segments, losses and timers. It asks the controller how fast to send, and never which controller that is.

mod backlog;
mod frto;
mod losses;
mod optional;
mod pacing;
mod rack_tlp;
mod setup;
mod spurious;
#[cfg(test)]
mod testing;
mod timer;
mod times;

pub use setup::{Setup, SourceCounters};

use super::rto::RetransmissionTimeout;
use super::scoreboard::Scoreboard;
use super::sink::Sink;
use crate::packet::{Body, Head, Heads, Packet};
use backlog::Backlog;
use control::{Ack, Bytes, Duration, Next, Pipe, Rate, Recovery, Report, Sender, Stamp, State, Time};
use frto::Frto;
use optional::Optional;
use pacing::Pacing;
use path::prefetch;
use rack_tlp::{Expiry, RackTlp};
use timer::{Passed, RetransmissionTimer};

/// The most cache lines of a controller that are prefetched: as many as those of the common window protocols take.
const CONTROLLER_LINES: usize = 3;

/// Sends one flow.
pub struct Source {
    controller: Box<dyn Sender>,
    board: Scoreboard,
    timer: RetransmissionTimer,
    recovery: Recovery,
    optional: Option<Box<Optional>>,
    backlog: Backlog,
    /// The receiver's window, in packets; `u32::MAX`, which no flow has under way, if it is no limit.
    receive_window: u32,
    /// The most packets that leave together for one acknowledgment or timer; `u32::MAX` if that is no limit.
    max_burst: u32,
    /// The flow's number.
    flow: u32,
    /// The position in the topology at which the flow's data begins.
    way_out: u32,
    /// Packets sent so far, modulo 2^32.
    order: u32,
    /// How many entries of the sink's record of out-of-order arrivals have been read, modulo 2^32.
    heard: u32,
    /// How many marked packets acknowledgments have told of, modulo 2^32.
    heard_marked: u32,
    /// The ECN field of its packets, of no size. Those sent again have it, too (RFC 9000, section 13.4; RFC 3168 did
    /// not allow it).
    head: Head,
    /// Losses are being repaired, until everything before `recover` has arrived.
    recovering: bool,
    /// First segment not sent when the last reduction happened: losses before it belong to the same loss event.
    recover: u64,
    /// The number of packets that had been sent by then, modulo 2^32.
    reduced: u32,
    /// The same at the last timeout; [`u32::MAX`] before the first.
    timed_out: u32,
    /// The next repair does not wait for room in the window (RFC 6675, step 4.3; RFC 6582, steps 2 and 3). It does wait
    /// for its time if the controller names one: sent at once beside a paced packet, it would be the packet that a full
    /// buffer drops.
    repair_at_once: bool,
    /// Without selective acknowledgments: duplicate acknowledgments, each of which stands for a packet that has
    /// arrived.
    duplicates: u32,
    /// In this recovery without selective acknowledgments, a partial acknowledgment has restarted the timer.
    partial_before: bool,
    /// Whether the last timeout may be spurious.
    frto: Frto,
    /// The source had no data left, or no room in the receiver's window, when it was last able to send.
    app_limited: bool,
    /// When to ask the controller again; [`Time::MAX`] if no such time is scheduled.
    wake: Time,
    /// Such a time was scheduled once.
    has_waited: bool,
    /// Totals since the start.
    pub counters: SourceCounters,
}

/// What a source needs of the simulator: the network and timers.
pub trait Environment {
    /// A packet of `size` bytes, which `make` makes, leaves; `hop` is the position in the topology at which it begins.
    fn send(&mut self, hop: u32, size: u32, make: impl FnOnce() -> Packet);
    /// Schedules a call of [`Source::on_wake`].
    fn wake_at(&mut self, time: Time);
    /// Schedules a call of [`Source::on_timer`].
    fn timer_at(&mut self, time: Time);
}

impl Source {
    /// A source that has sent nothing yet.
    pub fn new(setup: Setup) -> Source {
        let selective = setup.recovery != Recovery::NewReno;
        let optional = Optional {
            // Linux, too, allows a single packet's acknowledgment as much time as the least timeout.
            rack_tlp: (setup.recovery == Recovery::RackTlp).then(|| RackTlp::new(setup.min_rto)),
            pacing: setup.pacing.map(Pacing::new),
            last_sent: setup.idle_restart.then_some(Time::ZERO),
        };
        let frto = if selective && setup.controller.frto() { Frto::Off } else { Frto::Unused };
        Source {
            // In tests, the contract between hosts and controllers is checked at each call.
            controller: if cfg!(test) { control::contract::checked(setup.controller) } else { setup.controller },
            board: Scoreboard::default(),
            timer: RetransmissionTimer::new(RetransmissionTimeout::new(setup.min_rto)),
            recovery: setup.recovery,
            optional: optional.boxed(),
            backlog: Backlog::new(setup.size, setup.packet),
            receive_window: setup.receive_window.map_or(u32::MAX, |most| most.min(u64::from(u32::MAX)) as u32),
            max_burst: setup.max_burst.map_or(u32::MAX, |most| most.min(u64::from(u32::MAX)) as u32),
            flow: setup.flow,
            way_out: setup.way_out,
            order: 0,
            heard: 0,
            heard_marked: 0,
            head: Head::new(0, setup.ecn),
            recovering: false,
            recover: 0,
            reduced: 0,
            timed_out: u32::MAX,
            repair_at_once: false,
            duplicates: 0,
            partial_before: false,
            frto,
            app_limited: false,
            wake: Time::MAX,
            has_waited: false,
            counters: SourceCounters::default(),
        }
    }

    /// What the controller shows of itself.
    pub fn state(&self) -> State {
        self.controller.state()
    }

    /// The controller's estimate of the available bandwidth, if it makes one.
    pub fn available(&self) -> Option<Rate> {
        self.controller.available()
    }

    /// The flow's number.
    pub fn flow(&self) -> u32 {
        self.flow
    }

    /// The position in the topology at which the flow's data begins.
    pub fn way_out(&self) -> u32 {
        self.way_out
    }

    /// The size of its least packet; the backlog is not added to.
    pub fn least_packet(&self) -> Bytes {
        Bytes(u64::from(self.backlog.size_of(self.backlog.size.saturating_sub(1))))
    }

    /// The heads of its packets; the backlog is not added to.
    pub fn heads(&self) -> Heads {
        let Backlog { size: segments, packet, .. } = self.backlog;
        let last = self.head.with_size(self.backlog.size_of(segments.saturating_sub(1)));
        Heads { full: self.head.with_size(packet), last, segments }
    }

    /// When the event queue will next ask for the retransmission timer, if acknowledgments and this timer are all that
    /// the source acts on, so far; none if its packets have waited for times.
    #[inline(always)]
    pub fn next_timer(&self) -> Option<Time> {
        (!self.has_waited).then_some(self.timer.scheduled())
    }

    /// Prefetches what a scheduled time of the retransmission timer needs, which seldom expires then.
    pub fn prefetch_timer(&self) {
        prefetch::lines(&self.timer);
    }

    /// Prefetches what an acknowledgment needs beside the source itself.
    pub fn prefetch(&self) {
        prefetch::first_lines::<CONTROLLER_LINES, _>(&*self.controller);
        self.board.prefetch();
    }

    /// Whether everything that was to be sent has been acknowledged.
    pub fn is_done(&self) -> bool {
        self.board.una() == self.backlog.segments
    }

    /// Number of segments that the flow was to send in all; `u64::MAX` if it does not end.
    #[inline]
    pub fn size(&self) -> u64 {
        self.backlog.size
    }

    /// The application hands over `size` bytes more, in packets of which `header` bytes each are not the application's.
    /// Returns how many segments have been handed over by then. Call [`Source::on_wake`] next.
    pub fn offer(&mut self, now: Time, size: Bytes, header: Bytes) -> u64 {
        if self.was_idle(now) {
            self.controller.on_idle(now);
        }
        self.backlog.add(size, header, self.board.next())
    }

    /// RFC 5681, section 4.1: nothing was sent for longer than the retransmission timeout. All that was to be sent has
    /// arrived, as else the timeout would have expired. False if the controller is not to be told.
    fn was_idle(&self, now: Time) -> bool {
        let Some(last_sent) = self.optional.as_ref().and_then(|optional| optional.last_sent) else { return false };
        self.board.next() > 0 && self.is_done() && now.since(last_sent) > self.timer.timeout.timeout()
    }

    /// The connection is to be opened. Returns the stamp for the packet that asks for it.
    pub fn open(&mut self, now: Time) -> Stamp {
        self.controller.open(now)
    }

    /// This side has opened the connection, which took `rtt`. `report` is what the peer's receiver reported, if it was
    /// asked.
    pub fn on_open(&mut self, now: Time, rtt: Duration, report: Option<Report>) {
        self.timer.timeout.sample(rtt);
        self.controller.on_open(now, rtt, report);
    }

    /// The peer has opened the connection, which took `rtt`.
    pub fn on_handshake(&mut self, rtt: Duration) {
        self.timer.timeout.sample(rtt);
    }

    /// From here on, no new segment is sent.
    pub fn stop(&mut self) {
        self.backlog.end_at(self.board.next());
    }

    /// The flow starts, or a time that the controller asked for has come.
    pub fn on_wake(&mut self, now: Time, environment: &mut impl Environment) {
        if now >= self.wake {
            self.wake = Time::MAX;
        }
        self.fill(now, environment);
    }

    /// An acknowledgment arrives. Inline although there are two callers, one of which is the engine's loop.
    #[inline(always)]
    pub fn on_ack(
        &mut self,
        now: Time,
        packet: &Packet,
        (out_of_order, marked, report): (u32, u32, &Option<Report>),
        sink: &mut Sink,
        environment: &mut impl Environment,
    ) {
        let acked = self.read_ack(now, packet, out_of_order, sink);
        let rtt = now.since(packet.sent);
        self.timer.timeout.sample(rtt);
        self.counters.round_trips.add(rtt);
        // One branch for what is rare: losses found, and marks.
        let rare = self.board.has_news() | (marked != self.heard_marked);
        let (lost, spurious, marked) = if rare { self.read_news(packet.order, marked) } else { Default::default() };
        let ack = Ack {
            acked: Bytes(acked * self.backlog.packet as u64),
            lost,
            spurious,
            marked,
            rtt: Some(rtt),
            in_flight: self.in_flight(),
            recovery: self.recovering,
            spurious_timeout: self.frto == Frto::Spurious,
            app_limited: self.app_limited,
            // Not `*report`: of a `None`, only the two bytes of the tag have been written, and the processor cannot
            // forward these to a load of the whole.
            report: report.as_ref().copied(),
        };
        if self.frto == Frto::Spurious {
            self.frto = Frto::Off;
        }
        self.controller.on_ack(now, &ack);
        // Every arrival restarts the timer, also one out of order (RFC 9002, section 6.2.1): as lost repairs are
        // detected, too, the timer is needed only when no acknowledgment comes at all. RFC 6298 waits until the first
        // missing segment has arrived, which above 10 % loss takes longer than a timeout. RFC 6582, section 4, the
        // impatient variant: of the partial acknowledgments, only the first restarts the timer, so that a window with
        // many losses ends in a timeout rather than one round trip per loss.
        let partial = self.recovering && self.recovery == Recovery::NewReno;
        if acked > 0 && !(partial && self.partial_before) {
            self.restart_timer(now, environment);
        }
        self.partial_before = partial && (acked > 0 || self.partial_before);
        self.fill(now, environment);
    }

    /// A time has come for which the retransmission timer was scheduled.
    pub fn on_timer(&mut self, now: Time, environment: &mut impl Environment) {
        match self.timer.pass(now) {
            Passed::Obsolete | Passed::Off => {}
            Passed::Later(time) => environment.timer_at(time),
            Passed::Expired => {
                match Optional::rack_tlp(&mut self.optional).map_or(Expiry::Timeout, |it| it.waits_for) {
                    // Nothing was sent since the last timeout: an acknowledgment of a packet taken for lost restarted
                    // the timer.
                    Expiry::Timeout if self.order == self.timed_out => self.restart_timer(now, environment),
                    Expiry::Timeout => self.on_timeout(now),
                    Expiry::Window => {
                        self.on_window_end(now);
                        self.restart_timer(now, environment);
                    }
                    Expiry::Probe => match self.send_probe(now, environment) {
                        Some(later) => self.expire_at(later, environment),
                        None => self.restart_timer(now, environment),
                    },
                }
                self.fill(now, environment);
            }
        }
    }

    fn in_flight(&self) -> Bytes {
        Bytes(self.board.in_flight().saturating_sub(self.duplicates.into()) * self.backlog.packet as u64)
    }

    /// The first segment that the application has not handed over, or for which the receiver has no room.
    #[inline(always)]
    fn limit(&self) -> u64 {
        self.backlog.segments.min(self.board.una() + u64::from(self.receive_window))
    }

    /// Sends what the controller allows. Inline although there are several callers: a call for each acknowledgment
    /// would save and restore all registers.
    #[inline(always)]
    fn fill(&mut self, now: Time, environment: &mut impl Environment) {
        self.app_limited = false;
        // Counted by hand: a range takes some 20 instructions per acknowledgment here.
        let mut room = self.max_burst;
        while room > 0 {
            room -= 1;
            let mut repair = self.board.next_lost();
            let next = self.board.next();
            if self.frto == Frto::Probing && repair.is_some() {
                if next < self.limit() || next > self.recover {
                    repair = None;
                } else {
                    self.frto = Frto::Off; // no new data can be sent that would tell
                }
            }
            if repair.is_none() && next >= self.limit() {
                self.app_limited = true;
                return;
            }
            let pipe = self.pipe(repair.is_some());
            match self.ask(now, &pipe, repair.is_some() && self.repair_at_once) {
                Next::AfterAck => return,
                Next::At(time) if time > now => return self.wait_until(time, environment),
                Next::Now | Next::At(_) => {}
            }
            self.send(now, repair, &pipe, environment);
        }
        self.wait_for_next(now, environment);
    }

    /// No more packets may leave together. What the controller allows at a later time leaves then, although no
    /// acknowledgment arrives before.
    #[cold]
    fn wait_for_next(&mut self, now: Time, environment: &mut impl Environment) {
        let repairing = self.board.next_lost().is_some();
        if !repairing && self.board.next() >= self.limit() {
            return;
        }
        let pipe = self.pipe(repairing);
        if let Next::At(time) = self.ask(now, &pipe, repairing && self.repair_at_once)
            && time > now
        {
            self.wait_until(time, environment);
        }
    }

    /// Asks the controller again at `time`.
    #[inline(always)]
    fn wait_until(&mut self, time: Time, environment: &mut impl Environment) {
        if time < self.wake {
            (self.wake, self.has_waited) = (time, true);
            environment.wake_at(time);
        }
    }

    /// What is under way and what is left to send, before a packet that is a repair if `repairing`.
    #[inline(always)]
    fn pipe(&self, repairing: bool) -> Pipe {
        Pipe {
            in_flight: self.in_flight(),
            backlog: self.backlog.left(self.board.next()),
            packet: Bytes(u64::from(self.backlog.packet)),
            repairing,
        }
    }

    /// When the next packet may leave. A repair or a probe that is `due` needs no room in the window.
    #[inline(always)]
    fn ask(&mut self, now: Time, pipe: &Pipe, due: bool) -> Next {
        let next = match self.controller.next(now, pipe) {
            Next::AfterAck if due => Next::Now,
            next => next,
        };
        if self.optional.is_some() { self.pace(next) } else { next }
    }

    /// The controller's answer, or the time for which the host holds the packet back.
    #[cold]
    fn pace(&mut self, next: Next) -> Next {
        match (Optional::pacing(&mut self.optional), next) {
            (Some(pacing), Next::Now) => pacing.next(&*self.controller, self.timer.timeout.smoothed()),
            (Some(pacing), Next::At(_)) => {
                pacing.stop();
                next
            }
            _ => next,
        }
    }

    #[inline(always)]
    fn send(&mut self, now: Time, repair: Option<u64>, pipe: &Pipe, environment: &mut impl Environment) {
        let segment = match repair {
            Some(segment) => {
                self.counters.retransmitted += 1;
                self.repair_at_once = false;
                self.board.resend(segment, self.order);
                segment
            }
            None => self.board.send_new(),
        };
        let size = self.backlog.size_of(segment);
        let stamp = self.controller.on_send(now, Bytes(size as u64), pipe);
        let (flow, head, hop, order) = (self.flow, self.head.with_size(size), self.way_out, self.order);
        let body = |stamp| Packet { flow, head, hop, order, segment, sent: now, body: Body::Data(stamp) };
        // Most protocols write no stamp; then no bytes of it are copied.
        environment.send(hop, size, || if stamp == Stamp::None { body(Stamp::None) } else { body(stamp) });
        self.order = order.wrapping_add(1);
        let mut restarts = self.timer.is_off();
        if let Some(optional) = &mut self.optional {
            restarts |= optional.on_send(now, order, segment, size) && repair.is_none();
        }
        if restarts {
            self.start_timer(now, environment);
        }
    }

    /// [`Source::restart_timer`] where that is rare.
    #[cold]
    fn start_timer(&mut self, now: Time, environment: &mut impl Environment) {
        self.restart_timer(now, environment);
    }

    #[inline(always)]
    fn restart_timer(&mut self, now: Time, environment: &mut impl Environment) {
        let outstanding = self.board.una() != self.board.next();
        let expires = match (outstanding, self.recovery) {
            (false, _) => Time::MAX,
            (true, Recovery::RackTlp) => self.next_expiry(now),
            (true, _) => now + self.timer.timeout.timeout(),
        };
        self.expire_at(expires, environment);
    }

    #[inline(always)]
    fn expire_at(&mut self, time: Time, environment: &mut impl Environment) {
        if let Some(time) = self.timer.restart(time) {
            environment.timer_at(time);
        }
    }
}
