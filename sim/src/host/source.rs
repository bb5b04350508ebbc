//! The sending host: reliability, and the sender's questions and answers.
//!
//! It knows segments, losses and timers. How fast to send it asks the controller, and never which one that is.

use super::rto::RoundTrip;
use super::scoreboard::{DUP_THRESH, Scoreboard};
use super::sink::Sink;
use crate::packet::{Body, Packet};
use control::{Ack, Bytes, Duration, Loss, Next, Pipe, Rate, Recovery, Report, Sender, Stamp, State, Time};

/// Sends one flow.
pub struct Source {
    controller: Box<dyn Sender>,
    board: Scoreboard,
    rtt: RoundTrip,
    recovery: Recovery,
    /// Segments in all; `u64::MAX` if there is no end.
    segments: u64,
    /// The same before [`Source::stop`].
    size: u64,
    packet: u32,
    last_packet: u32,
    receive_window: u64,
    flow: u32,
    /// First hop of the way out.
    way_out: u32,
    /// Packets sent so far, modulo 2^32.
    order: u32,
    /// How many of the sink's out-of-order arrivals have been heard of, modulo 2^32.
    heard: u32,
    /// Repairing, until everything before `recover` has arrived.
    recovering: bool,
    /// First segment not sent when the last reduction happened: losses before it belong to the same event.
    recover: u64,
    /// The number of packets that had been sent by then.
    reduced: u32,
    /// The next repair does not wait for room in the window (RFC 6675, step 4.3; RFC 6582, steps 2 and 3), but for its time, if
    /// the controller names one: sent at once beside a paced packet, it would be the one that a full buffer drops.
    repair_at_once: bool,
    /// Without selective acknowledgments: duplicates, each standing for a packet that has left the network.
    duplicates: u64,
    /// See [`Source::on_ack`]: in this recovery, a partial acknowledgment has restarted the timer.
    partial_before: bool,
    /// Whether it ran out of data or of the receiver's window when it was last able to send.
    app_limited: bool,
    /// When to ask the controller again; when the retransmission timer expires; for when that timer is on the agenda.
    wake: Time,
    expires: Time,
    timer: Time,
    /// What happened so far.
    pub counters: SourceCounters,
}

/// Totals of a source.
#[derive(Clone, Copy, Debug, Default)]
pub struct SourceCounters {
    /// Packets sent again.
    pub retransmitted: u64,
    /// Loss events, timeouts included.
    pub loss_events: u64,
    /// Timeouts.
    pub timeouts: u64,
    /// Round-trip samples: their sum in picoseconds (at 40 Gbps and 100 ms, 64 bits would last for 37 s), and their number.
    pub rtt_sum: u128,
    /// See `rtt_sum`.
    pub rtt_samples: u64,
}

/// How a flow is sent.
pub struct Setup {
    /// Who decides when.
    pub controller: Box<dyn Sender>,
    /// How losses are repaired.
    pub recovery: Recovery,
    /// How much there is to send, if not without end.
    pub size: Option<Bytes>,
    /// A full packet.
    pub packet: Bytes,
    /// The receiver's window, packets.
    pub receive_window: Option<u64>,
    /// Least retransmission timeout.
    pub min_rto: Duration,
    /// The flow's number.
    pub flow: u32,
    /// First hop of the way out.
    pub way_out: u32,
}

/// What the source needs of the simulator.
pub trait Network {
    /// A packet of `size` leaves for `hop`, which `make` makes.
    fn send(&mut self, hop: u32, size: u32, make: impl FnOnce() -> Packet);
    /// Call [`Source::on_wake`] then.
    fn wake_at(&mut self, time: Time);
    /// Call [`Source::on_timer`] then.
    fn timer_at(&mut self, time: Time);
}

impl Source {
    /// A source that has sent nothing yet.
    pub fn new(setup: Setup) -> Source {
        let packet = setup.packet.0;
        let (segments, last_packet) = match setup.size {
            None => (u64::MAX, packet),
            Some(size) => {
                let segments = size.0.div_ceil(packet);
                (segments, size.0 - segments.saturating_sub(1) * packet)
            }
        };
        Source {
            controller: setup.controller,
            board: Scoreboard::default(),
            rtt: RoundTrip::new(setup.min_rto),
            recovery: setup.recovery,
            segments,
            size: segments,
            packet: packet as u32,
            last_packet: last_packet as u32,
            receive_window: setup.receive_window.unwrap_or(u64::MAX),
            flow: setup.flow,
            way_out: setup.way_out,
            order: 0,
            heard: 0,
            recovering: false,
            recover: 0,
            reduced: 0,
            repair_at_once: false,
            duplicates: 0,
            partial_before: false,
            app_limited: false,
            wake: Time::MAX,
            expires: Time::MAX,
            timer: Time::MAX,
            counters: SourceCounters::default(),
        }
    }

    /// What its controller shows.
    pub fn state(&self) -> State {
        self.controller.state()
    }

    /// What the controller estimates the available bandwidth to be.
    pub fn available(&self) -> Option<Rate> {
        self.controller.available()
    }

    /// Whether all of it has been acknowledged.
    pub fn is_done(&self) -> bool {
        self.board.una() == self.segments
    }

    /// Segments that it was to send in all; `u64::MAX` if there is no end.
    #[inline]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The application hands over `size` more, of which each packet holds so much less as its `header` takes. Returns how
    /// many segments have been handed over by then. Call [`Source::on_wake`] next.
    pub fn offer(&mut self, size: Bytes, header: Bytes) -> u64 {
        let (packet, header) = (u64::from(self.packet), header.0);
        let mut size = size.0;
        // A stream of bytes: what has not left of a packet that is not full is filled up. (One that has left and is sent
        // again after this counts as full; it is some bytes more on the wire.)
        if self.board.next() < self.segments && u64::from(self.last_packet) < packet {
            self.segments -= 1;
            size += u64::from(self.last_packet).saturating_sub(header);
        }
        let room = packet.saturating_sub(header).max(1);
        let more = size.div_ceil(room).max(1);
        self.segments = self.segments.saturating_add(more);
        self.size = self.segments;
        self.last_packet = (size.saturating_sub((more - 1) * room) + header) as u32;
        self.segments
    }

    /// The connection is to be opened: what is stamped on the packet that asks for it.
    pub fn open(&mut self, now: Time) -> Stamp {
        self.controller.open(now)
    }

    /// The connection was opened, which took `rtt`; the peer's receiver, if it was asked, reported this.
    pub fn on_open(&mut self, now: Time, rtt: Duration, report: Option<Report>) {
        self.rtt.sample(rtt);
        self.controller.on_open(now, rtt, report);
    }

    /// The connection was opened by the peer, which took `rtt`.
    pub fn on_handshake(&mut self, rtt: Duration) {
        self.rtt.sample(rtt);
    }

    /// From now on, nothing new is sent.
    pub fn stop(&mut self) {
        self.segments = self.segments.min(self.board.next());
    }

    /// The flow starts, or a time that the controller asked for has come.
    pub fn on_wake(&mut self, now: Time, network: &mut impl Network) {
        if now >= self.wake {
            self.wake = Time::MAX;
        }
        self.fill(now, network);
    }

    /// An acknowledgment arrives. Inline in the engine's loop, also since there is a second caller.
    #[inline(always)]
    pub fn on_ack(
        &mut self,
        now: Time,
        packet: &Packet,
        (out_of_order, report): (u32, Option<Report>),
        sink: &mut Sink,
        network: &mut impl Network,
    ) {
        let losses = self.board.losses();
        let acked = match self.recovery {
            Recovery::Sack => self.on_selective(packet, out_of_order, sink),
            Recovery::NewReno => {
                // It hears nothing of what arrived out of order.
                skip(&mut self.heard, out_of_order, sink, |_| ());
                self.on_cumulative(packet.segment)
            }
        };
        if self.recovering && self.board.una() >= self.recover {
            self.recovering = false;
            self.duplicates = 0;
        }
        // A loss of what was sent after the last reduction is a loss event of its own, also while that one is being repaired
        // (RFC 9002, section 7.3.2; RFC 6675 leaves repairs that are lost to the timeout).
        if self.recovery == Recovery::Sack && self.board.lost_since(self.recover, self.reduced) {
            self.enter_recovery(now);
        }
        if self.recovery == Recovery::NewReno && !self.recovering && self.duplicates == DUP_THRESH as u64 {
            // RFC 6582, step 2: not for duplicates of what the last recovery or timeout sent again.
            if self.board.una() > self.recover || self.recover == 0 {
                self.board.lose(self.board.una());
                self.enter_recovery(now);
            }
        }
        let rtt = now.since(packet.sent);
        self.rtt.sample(rtt);
        self.counters.rtt_sum += u128::from(rtt.0);
        self.counters.rtt_samples += 1;
        let ack = Ack {
            acked: Bytes(acked * self.packet as u64),
            lost: Bytes((self.board.losses() - losses) * self.packet as u64),
            rtt: Some(rtt),
            in_flight: self.in_flight(),
            recovery: self.recovering,
            app_limited: self.app_limited,
            report,
        };
        self.controller.on_ack(now, &ack);
        // Whatever arrives restarts the timer, also out of order (RFC 9002, section 6.2.1): as lost repairs are found, too, it is
        // for silence only. RFC 6298 waits for the first hole to be filled, which above 10 % loss takes longer than a timeout.
        // RFC 6582, section 4, the impatient variant: of the partial acknowledgments, only the first restarts the timer, so
        // that a window with many holes ends in a timeout rather than one round trip per hole.
        let partial = self.recovering && self.recovery == Recovery::NewReno;
        if acked > 0 && !(partial && self.partial_before) {
            self.restart_timer(now, network);
        }
        self.partial_before = partial && (acked > 0 || self.partial_before);
        self.fill(now, network);
    }

    /// The time of the retransmission timer on the agenda has come.
    pub fn on_timer(&mut self, now: Time, network: &mut impl Network) {
        if now != self.timer {
            return; // it was moved forward since
        }
        self.timer = Time::MAX;
        if now < self.expires {
            if self.expires != Time::MAX {
                self.timer = self.expires;
                network.timer_at(self.expires);
            }
            return;
        }
        // RFC 6298, sections 5.4 to 5.7; RFC 6675, section 5.1.
        self.expires = Time::MAX;
        self.counters.loss_events += 1;
        self.counters.timeouts += 1;
        self.board.lose_all();
        self.board.forget_lost_again();
        self.recover = self.board.next();
        self.reduced = self.order;
        self.recovering = false;
        self.duplicates = 0;
        self.repair_at_once = false;
        self.rtt.back_off();
        self.controller.on_loss(now, &Loss::Timeout);
        self.fill(now, network);
    }

    fn on_selective(&mut self, packet: &Packet, out_of_order: u32, sink: &mut Sink) -> u64 {
        let mut acked = self.board.acknowledge(packet.segment);
        let board = &mut self.board;
        skip(&mut self.heard, out_of_order, sink, |segment| acked += board.sack(segment) as u64);
        self.board.find_lost(packet.order);
        acked
    }

    /// Without selective acknowledgments, RFC 6582.
    fn on_cumulative(&mut self, cumulative: u64) -> u64 {
        let una = self.board.una();
        if cumulative == una {
            if self.board.next() > una {
                self.duplicates += 1;
            }
            return 0;
        }
        if cumulative < una {
            return 0; // an old one, overtaken on its way
        }
        let acked = self.board.acknowledge(cumulative);
        if self.recovering && cumulative < self.recover {
            // Step 3, a partial acknowledgment: the next hole; what has arrived is in flight no more.
            self.duplicates = (self.duplicates + 1).saturating_sub(acked);
            self.board.lose(cumulative);
            self.repair_at_once = true;
        } else {
            self.duplicates = 0;
        }
        acked
    }

    fn enter_recovery(&mut self, now: Time) {
        self.recovering = true;
        self.recover = self.board.next();
        self.reduced = self.order;
        self.board.forget_lost_again();
        self.repair_at_once = true;
        self.counters.loss_events += 1;
        self.controller.on_loss(now, &Loss::Event);
    }

    fn in_flight(&self) -> Bytes {
        Bytes(self.board.in_flight().saturating_sub(self.duplicates) * self.packet as u64)
    }

    /// Sends what the controller lets go.
    fn fill(&mut self, now: Time, network: &mut impl Network) {
        self.app_limited = false;
        loop {
            let repair = self.board.next_lost();
            let next = self.board.next();
            let limit = self.segments.min(self.board.una().saturating_add(self.receive_window));
            if repair.is_none() && next >= limit {
                self.app_limited = true;
                return;
            }
            let left = match self.segments {
                u64::MAX => Bytes(u64::MAX),
                all => Bytes((all - next.min(all)) * self.packet as u64),
            };
            let pipe = Pipe {
                in_flight: self.in_flight(),
                backlog: left,
                packet: Bytes(self.packet as u64),
                repairing: repair.is_some(),
            };
            match self.controller.next(now, &pipe) {
                Next::AfterAck if repair.is_some() && self.repair_at_once => {}
                Next::AfterAck => return,
                Next::At(time) if time > now => {
                    if time < self.wake {
                        self.wake = time;
                        network.wake_at(time);
                    }
                    return;
                }
                Next::Now | Next::At(_) => {}
            }
            self.send(now, repair, &pipe, network);
        }
    }

    #[inline(always)]
    fn send(&mut self, now: Time, repair: Option<u64>, pipe: &Pipe, network: &mut impl Network) {
        let segment = match repair {
            Some(segment) => {
                self.counters.retransmitted += 1;
                self.repair_at_once = false;
                self.board.resend(segment, self.order);
                segment
            }
            None => self.board.send_new(),
        };
        let size = if segment + 1 == self.size { self.last_packet } else { self.packet };
        let stamp = self.controller.on_send(now, Bytes(size as u64), pipe);
        let (flow, hop, order) = (self.flow, self.way_out, self.order);
        let body = |stamp| Packet { flow, size, hop, order, segment, sent: now, body: Body::Data(stamp) };
        // Most protocols write nothing, and nothing of it need be copied.
        network.send(hop, size, || if stamp == Stamp::None { body(Stamp::None) } else { body(stamp) });
        self.order = order.wrapping_add(1);
        if self.expires == Time::MAX {
            self.restart_timer(now, network);
        }
    }

    /// RFC 6298, sections 5.1 to 5.3. The agenda holds the timer for an earlier time rather than being told at each
    /// acknowledgment.
    #[inline]
    fn restart_timer(&mut self, now: Time, network: &mut impl Network) {
        if self.board.una() == self.board.next() {
            self.expires = Time::MAX;
            return;
        }
        self.expires = now + self.rtt.timeout();
        if self.expires < self.timer {
            self.timer = self.expires;
            network.timer_at(self.expires);
        }
    }
}

/// Reads the sink's record of out-of-order arrivals up to entry `until`.
#[inline]
fn skip(heard: &mut u32, until: u32, sink: &mut Sink, mut each: impl FnMut(u64)) {
    while (until.wrapping_sub(*heard) as i32) > 0 {
        let Some(segment) = sink.next_recorded() else { return };
        *heard = heard.wrapping_add(1);
        each(segment);
    }
}
