//! The sender: when each packet of the p-streams leaves, in slow start, probing and recovery.

use super::errors::Errors;
use super::filter::Filter;
use super::gentle::{Gentle, Known};
use super::spread::Spread;
use super::stream::{Layout, Stream};
use crate::roles::{Ack, Loss, Next, Phase, Pipe, Report, Sender, Stamp, State};
use crate::units::{Bytes, Duration, Rate, Time};

/// How the first estimate is found: one stream per round trip, each starting where the one before it ended.
#[derive(Clone, Copy, Debug)]
pub struct SlowStart {
    /// Packets of the first stream; doubled with each one.
    pub first: u16,
    /// Packets at most.
    pub longest: u16,
    /// Spread factor.
    pub spread: f64,
}

impl SlowStart {
    /// RAPID-2009, section III-A5.
    pub const RAPID_2009: SlowStart = SlowStart { first: 2, longest: 16, spread: 2.0 };
    /// PACKET-SCALE-2017, table I.
    pub const PACKET_SCALE_2017: SlowStart = SlowStart { first: 20, longest: 20, spread: 2.0 };
}

/// What distinguishes the versions.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Bytes of a full packet.
    pub packet: Bytes,
    /// Whether packets leave just when the host says; if not, those that leave late say so.
    pub exact: bool,
    /// Packets in a p-stream (N).
    pub len: u16,
    /// Its spread factor (m).
    pub spread: Spread,
    /// How its rates are laid out.
    pub layout: Layout,
    /// How the first estimate is found.
    pub slow_start: SlowStart,
    /// Rate of the first packets.
    pub initial_rate: Rate,
    /// Factor on the average rate after a loss.
    pub beta: f64,
    /// How the average follows the estimates, and what it does where much is lost.
    pub follow: Follow,
    /// Which losses do not count.
    pub errors: Errors,
}

/// How the average rate follows the estimates.
#[derive(Clone, Debug)]
pub enum Follow {
    /// By the papers' equations.
    Papers(Filter),
    /// Ours. It also gives way where much is lost: recovery begins at the reduced rate; each slow start that nothing is heard of makes the initial rate of the next one half of its own,
    /// none ends above `beta` times the rate before the silence; and where a recovery takes many round trips, its rate follows what arrives. Streams of slow
    /// flows are shorter.
    Gently(Gentle),
}

/// The sender's state machine.
pub struct Machine {
    settings: Settings,
    mode: Mode,
    /// The mean rate of the present p-stream.
    average: Rate,
    /// The newest estimate of the available bandwidth, the stream it came from, and when it came.
    estimate: Option<Rate>,
    estimated: u32,
    heard: Time,
    /// The first stream whose estimate is of interest.
    oldest: u32,
    /// Slow starts in a row that nothing was heard of, and the rate that they may end at.
    unheard: i32,
    ceiling: Rate,
    /// What is being sent.
    stream: Stream,
    /// When the packet sent last was due; none if the next one is due at once.
    previous: Option<Time>,
    /// When the packet sent last really left.
    left: Time,
    rtt: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    /// Sending a slow-start stream of this many packets, or waiting for its estimate.
    SlowStart {
        len: u16,
        top: Rate,
    },
    Probing,
    /// Repairing; did it begin in slow start?
    Recovery {
        from_slow_start: bool,
        /// From when on so many bytes were acknowledged.
        since: Time,
        acked: Bytes,
    },
}

/// Before the first round-trip time is known.
const INITIAL_RTT: Duration = Duration::from_millis(250);
/// A sender without feedback for so many round trips (or lengths of its stream) has none: it must slow down.
const SILENCE: u64 = 4;
/// So few packets still show when congestion sets in.
const SHORTEST: u16 = 20;
/// So many packets at least say at which rate they arrive.
const DELIVERED: u64 = 8;
/// **Decided** the average rate is never below this share of the initial one: from much less, streams would take minutes to find out that the path
/// is free again. A window protocol, too, sends a packet per round trip.
const LEAST: f64 = 0.1;
/// No path has more. Estimates that say so come from a receiver whose packets all arrive at once, and would raise the rate for
/// ever: to more packets than there are picoseconds.
const HIGHEST: f64 = 1e13;

impl Machine {
    /// A sender that has sent nothing yet.
    pub fn new(settings: Settings) -> Machine {
        let mut machine = Machine {
            mode: Mode::Probing,
            average: settings.initial_rate,
            estimate: None,
            estimated: u32::MAX,
            heard: Time::ZERO,
            oldest: 0,
            unheard: 0,
            ceiling: Rate::from_bps(HIGHEST),
            stream: Stream::uniform(0, settings.initial_rate),
            previous: None,
            left: Time::ZERO,
            rtt: INITIAL_RTT,
            settings,
        };
        machine.restart();
        machine
    }

    /// It takes over, now, from another protocol that sent at `rate`: no slow start, as streams around that rate find more.
    pub(super) fn take_over(&mut self, now: Time, rate: Rate, rtt: Duration, errors: &Errors) {
        self.settings.errors = errors.clone();
        self.mode = Mode::Probing;
        self.set_average(rate);
        self.rtt = rtt;
        self.unheard = 0;
        self.ceiling = Rate::from_bps(HIGHEST);
        if let Follow::Gently(gentle) = &mut self.settings.follow {
            gentle.forget_queues();
        }
        // What streams found before the other protocol's time is out of date.
        self.estimate = None;
        self.oldest = self.stream.id().wrapping_add(1);
        self.heard = now;
        self.previous = Some(now);
        self.end_stream();
    }

    /// The mean rate of the present p-stream.
    pub(super) fn average(&self) -> Rate {
        self.average
    }

    /// Back to the initial rate (PACKET-SCALE-2017, section IV-C).
    fn restart(&mut self) {
        self.estimate = None;
        let rate = self.settings.initial_rate * LEAST.max(2f64.powi(-self.unheard));
        self.begin_slow_start(self.settings.slow_start.first, rate);
    }

    fn set_average(&mut self, rate: Rate) {
        self.average = self.at_least(rate);
    }

    fn at_least(&self, rate: Rate) -> Rate {
        let least = self.settings.initial_rate * LEAST;
        if rate < least { least } else { rate }
    }

    fn begin_slow_start(&mut self, len: u16, first: Rate) {
        self.stream =
            Stream::starting_at(self.stream.id().wrapping_add(1), len, self.settings.slow_start.spread, first);
        self.average = self.stream.average();
        self.mode = Mode::SlowStart { len, top: self.stream.range().1 };
    }

    /// The next p-stream, after applying the filter (its "just before sending out a new p-stream").
    fn begin_stream(&mut self, pipe: &Pipe) {
        // Never wait for more data: what there is makes a shorter stream.
        let available = pipe.backlog.0.div_ceil(self.settings.packet.0).max(1);
        let len = |most: u16| available.min(most as u64) as u16;
        if let Some(estimate) = self.estimate {
            let packets = len(self.packets());
            let (full, length) = (self.length(self.settings.len), self.length(packets));
            let share = packets as f64 / self.settings.len as f64;
            let average = match &mut self.settings.follow {
                Follow::Papers(filter) => filter.apply(self.average, estimate, full),
                Follow::Gently(gentle) => gentle.apply(self.average, &Known { estimate, length, share, rtt: self.rtt }),
            };
            self.set_average(average);
        }
        let len = len(self.packets());
        self.stream = Stream::new(
            self.stream.id().wrapping_add(1),
            len,
            self.settings.spread.factor(),
            self.average,
            self.settings.layout,
        );
    }

    /// Packets of the next stream, if there are so many.
    fn packets(&self) -> u16 {
        let len = self.settings.len;
        match &self.settings.follow {
            Follow::Papers(_) => len,
            Follow::Gently(gentle) => {
                let most = self.average.as_bps() * gentle.longest().as_secs() / self.settings.packet.as_bits();
                len.min((most as u16).max(SHORTEST))
            }
        }
    }

    /// How long so many packets take at the average rate.
    fn length(&self, packets: u16) -> Duration {
        self.average.time_for(Bytes(self.settings.packet.0 * packets as u64))
    }

    /// How long to go on without an estimate.
    fn patience(&self) -> Duration {
        Duration(self.rtt.max(self.length(self.packets())).0.saturating_mul(SILENCE))
    }

    fn begin_recovery(&mut self, now: Time, from_slow_start: bool) {
        if let Follow::Gently(gentle) = &mut self.settings.follow
            && self.settings.errors.are_many()
        {
            gentle.on_loss();
        }
        self.mode = Mode::Recovery { from_slow_start, since: now + self.rtt, acked: Bytes(0) };
        self.stream = Stream::uniform(self.stream.id().wrapping_add(1), self.repairing());
    }

    /// The rate of recovery. RAPID reduces the average after recovery (RAPID-2009, section III-A6; PACKET-SCALE-2017, section IV-C). **Decided** what is not
    /// reduced yet is sent at; ours is reduced at once, as among many flows the average may be of a time when there were fewer.
    fn repairing(&self) -> Rate {
        match self.settings.follow {
            Follow::Papers(_) => self.average,
            Follow::Gently(_) => self.average * self.settings.beta,
        }
    }

    /// The average that recovery ends with: half of what it began with, or of what slow start has found meanwhile.
    fn repaired(&self) -> Rate {
        let found = self.estimate.filter(|_| matches!(self.mode, Mode::Recovery { from_slow_start: true, .. }));
        let found = found.map(|estimate| if estimate > self.ceiling { self.ceiling } else { estimate });
        self.at_least(found.unwrap_or(self.average) * self.settings.beta)
    }

    fn end_recovery(&mut self, now: Time) {
        let Mode::Recovery { from_slow_start, .. } = self.mode else { return };
        self.average = self.repaired();
        if from_slow_start && self.estimate.is_some() {
            self.ceiling = Rate::from_bps(HIGHEST);
        }
        // What streams found that were sent before the loss is out of date: behind a full buffer they look uncongested.
        self.estimate = None;
        self.mode = Mode::Probing;
        self.heard = now;
        self.end_stream();
    }

    /// In recovery, once per round trip that shows what the present rate does: it is lowered to what arrives, and when all of it arrives, what is to
    /// be repaired yet can be so among p-streams.
    fn follow_delivery(&mut self, now: Time, ack: &Ack) {
        let rate = self.repairing();
        let enough = self.rtt.max(rate.time_for(Bytes(self.settings.packet.0 * DELIVERED)));
        let Mode::Recovery { from_slow_start, since, acked } = &mut self.mode else { return };
        if now <= *since {
            return; // those are of what was sent before
        }
        if ack.app_limited {
            (*since, *acked) = (now + self.rtt, Bytes(0)); // not all of the rate was sent
            return;
        }
        *acked += ack.acked;
        let elapsed = now.since(*since);
        if elapsed < enough {
            return;
        }
        let delivered = acked.over(elapsed);
        (*since, *acked) = (now + self.rtt, Bytes(0));
        // A packet more or less in such a time is no loss.
        if delivered < rate * (1.0 - 1.0 / DELIVERED as f64) {
            *from_slow_start = false;
            self.set_average(delivered);
            self.stream = Stream::uniform(self.stream.id(), self.repairing());
        } else {
            self.settings.errors.forget();
            self.end_recovery(now);
        }
    }

    fn lose_feedback(&mut self, now: Time) {
        self.heard = now;
        self.previous = Some(now);
        if let Follow::Gently(_) = self.settings.follow {
            if self.unheard == 0 && !matches!(self.mode, Mode::SlowStart { .. }) {
                self.ceiling = self.average * self.settings.beta; // TCP's slow-start threshold
            }
            self.unheard += 1;
        }
        self.restart();
    }

    fn on_estimate(&mut self, now: Time, stream: u32, rate: Rate) {
        if stream == self.estimated || (stream.wrapping_sub(self.oldest) as i32) < 0 {
            return; // the same report again, or one from before it took over
        }
        let rate = Rate::from_bps(rate.as_bps().min(HIGHEST));
        self.estimated = stream;
        self.heard = now;
        self.unheard = 0;
        self.estimate = Some(rate);
        if self.mode == Mode::Probing && self.stream.probes() {
            self.settings.spread.update(rate, self.stream.range());
        }
        // Also the estimate of a stream whose tail was lost, which comes when slow start has begun again: or the same burst would
        // be sent, and its tail lost, for ever.
        if let Mode::SlowStart { len, top } = self.mode {
            // In single precision, as the rate travels.
            if rate > self.ceiling || rate.as_bps() < 0.999_999 * top.as_bps() {
                self.set_average(if rate > self.ceiling { self.ceiling } else { rate });
                self.ceiling = Rate::from_bps(HIGHEST);
                self.mode = Mode::Probing;
                self.end_stream();
            } else {
                self.begin_slow_start((2 * len).min(self.settings.slow_start.longest), rate);
            }
            // The packet sent last is a round trip old: its gap is over.
            self.previous = None;
        }
    }

    /// The next packet begins a new stream.
    fn end_stream(&mut self) {
        self.stream = Stream::new(self.stream.id(), 0, 1.0, self.average, self.settings.layout);
    }
}

/// The stamp of a packet that left `since` after the one before. When a sender is late by more than a gap, it plans the rest of the stream anew; then the
/// packet has not probed the rate that it was meant for, but the one that came of it. So no estimate is above what this host can send.
fn as_it_left(stamp: Stamp, size: Bytes, since: Duration) -> Stamp {
    match stamp {
        Stamp::Probe { stream, index, len, rate, sent } if index > 0 => {
            let planned = Rate::from_bps(f64::from(rate)).time_for(size);
            let late = since.0 / 2 > planned.0;
            let rate = if late { size.over(since).as_bps() as f32 } else { rate };
            Stamp::Probe { stream, index, len, rate, sent }
        }
        stamp => stamp,
    }
}

impl Sender for Machine {
    fn next(&mut self, now: Time, pipe: &Pipe) -> Next {
        // Nothing is out there that could be heard of; but in slow start, an estimate is waited for all the same, and its stream
        // may have been lost.
        let waits = matches!(self.mode, Mode::SlowStart { .. }) && self.stream.is_over();
        if (pipe.in_flight == Bytes(0) && !waits) || !self.stream.probes() {
            self.heard = now;
        }
        if now > self.heard + self.patience() {
            self.lose_feedback(now);
        }
        if self.stream.is_over() {
            match self.mode {
                // One stream per round trip: wait for its estimate.
                Mode::SlowStart { .. } => {
                    return Next::At((self.heard + self.patience() + Duration(1)).max(now + Duration(1)));
                }
                _ => self.begin_stream(pipe),
            }
        }
        let Some(previous) = self.previous else { return Next::Now };
        let due = previous + self.stream.gap(self.settings.packet);
        if due > now { Next::At(due) } else { Next::Now }
    }

    fn on_send(&mut self, now: Time, size: Bytes, _: &Pipe) -> Stamp {
        // A packet that is later than its gap is long has missed its schedule: the rest follows from now, not in a burst.
        let gap = self.stream.gap(size);
        let planned = match self.previous.map(|previous| previous + gap) {
            Some(due) if due <= now && now.since(due) <= gap => due,
            _ => now,
        };
        self.previous = Some(planned);
        let since = now.since(std::mem::replace(&mut self.left, now));
        let stamp = self.stream.send(now);
        if self.settings.exact { stamp } else { as_it_left(stamp, size, since) }
    }

    fn on_ack(&mut self, now: Time, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.rtt = rtt;
            if let Follow::Gently(gentle) = &mut self.settings.follow {
                gentle.on_rtt(now, rtt);
            }
        }
        self.settings.errors.on_ack(ack, self.settings.packet);
        if ack.recovery && self.mode == Mode::Probing && self.settings.errors.are_too_many() {
            self.begin_recovery(now, false);
        }
        if let Some(Report::Available { stream, rate }) = ack.report {
            self.on_estimate(now, stream, Rate::from_bps(rate as f64));
        }
        if !ack.recovery {
            self.end_recovery(now);
        } else if let Follow::Gently(_) = self.settings.follow {
            self.follow_delivery(now, ack);
        }
    }

    fn on_loss(&mut self, now: Time, loss: &Loss) {
        match loss {
            Loss::Timeout => self.lose_feedback(now),
            Loss::Event => {
                if self.settings.errors.explain() {
                    // Where there are many errors, one is always being repaired. But no loss makes a sender faster.
                    if self.repaired() <= self.repairing() {
                        self.end_recovery(now);
                    }
                    return;
                }
                let from_slow_start = match self.mode {
                    Mode::Recovery { from_slow_start, .. } => {
                        // What recovery sent was lost as well.
                        self.set_average(self.average * self.settings.beta);
                        from_slow_start
                    }
                    Mode::SlowStart { .. } => true,
                    Mode::Probing => false,
                };
                self.begin_recovery(now, from_slow_start);
            }
        }
    }

    fn state(&self) -> State {
        let (phase, rate) = match self.mode {
            Mode::SlowStart { .. } => (Phase::SlowStart, self.average),
            Mode::Probing => (Phase::Probing, self.average),
            Mode::Recovery { .. } => (Phase::Recovery, self.repairing()),
        };
        State { window: None, rate: Some(rate), phase }
    }

    fn available(&self) -> Option<Rate> {
        self.estimate
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rapid::Rapid;
    use crate::roles::Conditions;

    /// A host whose timers are late: stamps say when packets left, and the stream takes as long as planned.
    #[test]
    fn a_late_host_sends_late_but_keeps_to_the_schedule() {
        let (packet, late) = (Bytes(1000), Duration::from_micros(3));
        let mut sender = Rapid::default().machine_of_2017(&Conditions::exact(packet));
        let (mut now, mut due) = (Time::ZERO, Time::ZERO);
        let mut pipe = Pipe { backlog: Bytes(u64::MAX), packet, ..Pipe::default() };
        for index in 0..10u32 {
            if let Next::At(time) = sender.next(now, &pipe) {
                due += Rate::from_mbps(2f64.powi(index as i32)).time_for(packet); // slow start doubles the rate
                assert_eq!(time, due, "packet {index}");
                now = time + late;
            }
            let Stamp::Probe { sent, .. } = sender.on_send(now, packet, &pipe) else { panic!("a stamp") };
            assert_eq!(sent, now, "packet {index}");
            pipe.in_flight += packet;
        }
        assert!(now > Time::ZERO + Duration::from_millis(7), "{now}");
    }

    #[test]
    fn a_packet_that_left_late_by_more_than_its_gap_probed_less() {
        let probe = |index, rate| Stamp::Probe { stream: 1, index, len: 90, rate, sent: Time(5) };
        let as_it_left = |index, rate, us| as_it_left(probe(index, rate), Bytes(1000), Duration::from_micros(us));
        assert_eq!(as_it_left(3, 1e9, 15), probe(3, 1e9), "8 us and a little late");
        assert_eq!(as_it_left(3, 1e9, 20), probe(3, 4e8));
        assert_eq!(as_it_left(0, 1e9, 20), probe(0, 1e9), "the first follows a pause");
    }

    /// The second packet of slow start is to leave at 2 Mbps, 4 ms after the first, and leaves after 10 ms.
    #[test]
    fn only_on_an_inexact_host_stamps_say_that_packets_left_late() {
        let rate = |timing| {
            let packet = Bytes(1000);
            let mut sender = Rapid::default().machine_of_2017(&Conditions { packet, timing });
            let pipe = Pipe { backlog: Bytes(u64::MAX), packet, ..Pipe::default() };
            sender.on_send(Time::ZERO, packet, &pipe);
            match sender.on_send(Time::ZERO + Duration::from_millis(10), packet, &pipe) {
                Stamp::Probe { rate, .. } => rate,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!([rate(Duration::ZERO), rate(Duration::from_micros(10))], [2e6, 8e5]);
    }

    #[test]
    fn the_published_versions_lower_their_rate_after_recovery() {
        let mut sender = Rapid::default().machine_of_2017(&Conditions::exact(Bytes(1000)));
        (sender.mode, sender.average) = (Mode::Probing, Rate::from_mbps(80.0));
        sender.on_loss(Time::ZERO, &Loss::Event);
        let state = |sender: &Machine| (sender.state().phase, sender.state().rate.unwrap().as_mbps());
        assert_eq!((state(&sender), sender.stream.probes()), ((Phase::Recovery, 80.0), false));
        sender.on_ack(Time::ZERO, &Ack { recovery: true, ..Ack::default() });
        assert_eq!(state(&sender), (Phase::Recovery, 80.0));
        sender.on_loss(Time::ZERO, &Loss::Event);
        assert_eq!(state(&sender), (Phase::Recovery, 40.0), "what recovery sends is lost, too");
        sender.on_ack(Time::ZERO, &Ack::default());
        assert_eq!(state(&sender), (Phase::Probing, 20.0));
    }

    /// Recovery may send at half the least average, and at far less than what slow start has found meanwhile.
    #[test]
    fn an_error_during_recovery_does_not_end_it_at_a_higher_rate() {
        let after = |average, from_slow_start, found: Option<f64>| {
            let mut sender = crate::thalweg::Thalweg::default().machine(&Conditions::exact(Bytes(1000)));
            sender.average = Rate::from_mbps(average);
            sender.begin_recovery(Time::ZERO, from_slow_start);
            sender.estimate = found.map(Rate::from_mbps);
            // On a path that never had a queue, a loss is an error.
            let ms = Duration::from_millis(100);
            (0..3).for_each(|_| sender.settings.errors.on_ack(&Ack { rtt: Some(ms), ..Ack::default() }, Bytes(1000)));
            sender.on_loss(Time::ZERO, &Loss::Event);
            let State { phase, rate, .. } = sender.state();
            (phase, rate.unwrap().as_mbps())
        };
        assert_eq!(after(80.0, false, None), (Phase::Probing, 40.0));
        assert_eq!(after(80.0, true, Some(20.0)), (Phase::Probing, 10.0));
        assert_eq!(after(80.0, true, Some(200.0)), (Phase::Recovery, 40.0));
        assert_eq!(after(0.15, false, None), (Phase::Recovery, 0.075), "the least average is 0.1 Mbps");
    }

    /// Too many flows on one link: what each sends must come down to what arrives, and stay there until all of it does.
    #[test]
    fn in_recovery_no_more_is_sent_than_arrives() {
        let packet = Bytes(1000);
        let mut sender = crate::thalweg::Thalweg::default().machine(&Conditions::exact(packet));
        let ms = |ms| Time::ZERO + Duration::from_millis(ms);
        let ack = |acked, recovery| Ack {
            acked: Bytes(acked),
            lost: packet,
            rtt: Some(Duration::from_millis(100)),
            recovery,
            ..Ack::default()
        };
        sender.on_ack(ms(0), &ack(1000, false));
        sender.set_average(Rate::from_mbps(80.0));
        sender.mode = Mode::Probing;
        sender.settings.errors = Errors::up_to(0.0);
        sender.on_loss(ms(0), &Loss::Event);
        let rate = |sender: &Machine| sender.state().rate.unwrap().as_mbps();
        assert_eq!((sender.state().phase, rate(&sender)), (Phase::Recovery, 40.0));
        // What was sent before the loss says nothing; a tenth of what was sent after it arrives.
        (1..=10).for_each(|i| sender.on_ack(ms(10 * i), &ack(1000, true)));
        assert_eq!(rate(&sender), 40.0);
        (11..=20).for_each(|i| sender.on_ack(ms(10 * i), &ack(5_000, true)));
        assert_eq!((sender.state().phase, rate(&sender)), (Phase::Recovery, 2.0), "half of 4 Mbps");
        // Acknowledgments of a sender that had nothing to send say nothing.
        (21..=30).for_each(|i| sender.on_ack(ms(10 * i), &Ack { app_limited: true, ..ack(100, true) }));
        assert_eq!((sender.state().phase, rate(&sender)), (Phase::Recovery, 2.0));
        (31..=40).for_each(|i| sender.on_ack(ms(10 * i), &ack(2_400, true)));
        assert_eq!(sender.state().phase, Phase::Probing, "all of it arrives, but for a packet that is on its way");
    }

    /// A sender that knew a rate of 100 Mbps, and has heard nothing for long.
    fn after_a_silence() -> Machine {
        let mut sender = crate::thalweg::Thalweg::default().machine(&Conditions::exact(Bytes(1000)));
        sender.mode = Mode::Probing;
        sender.average = Rate::from_mbps(100.0);
        sender.on_loss(Time::ZERO, &Loss::Timeout);
        sender.lose_feedback(Time::ZERO);
        sender
    }

    fn found(sender: &Machine, mbps: f32, recovery: bool) -> Ack {
        let report = Some(Report::Available { stream: sender.stream.id(), rate: mbps * 1e6 });
        Ack { report, recovery, ..Ack::default() }
    }

    /// Behind a full queue, a slow start finds rates that are not there.
    #[test]
    fn slow_start_after_a_silence_ends_at_half_the_rate_before_it() {
        let mut sender = after_a_silence();
        sender.on_ack(Time::ZERO, &found(&sender, 400.0, false));
        assert_eq!((sender.mode, sender.average.as_mbps()), (Mode::Probing, 50.0));

        let mut sender = after_a_silence();
        sender.settings.errors = Errors::up_to(0.0);
        sender.on_loss(Time::ZERO, &Loss::Event);
        sender.on_ack(Time::ZERO, &found(&sender, 400.0, true));
        sender.on_ack(Time::ZERO, &Ack::default());
        assert_eq!(
            (sender.mode, sender.average.as_mbps()),
            (Mode::Probing, 25.0),
            "and half of that if packets of it were lost"
        );

        let mut sender = crate::thalweg::Thalweg::default().machine(&Conditions::exact(Bytes(1000)));
        sender.on_ack(Time::ZERO, &found(&sender, 400.0, false));
        assert_eq!(sender.average.as_mbps(), 400.0, "the first one has nothing to go by");
    }

    #[test]
    fn streams_of_slow_flows_are_shorter() {
        let mut sender = crate::thalweg::Thalweg::default().machine(&Conditions::exact(Bytes(1000)));
        let packets = [0.1, 2.0, 100.0].map(|mbps| {
            sender.average = Rate::from_mbps(mbps);
            sender.packets()
        });
        assert_eq!(packets, [20, 31, 60], "20 at least; as many as leave in 125 ms; 60 at most");
    }

    #[test]
    fn nobody_climbs_behind_a_standing_queue() {
        let mut sender = crate::thalweg::Thalweg::default().machine(&Conditions::exact(Bytes(1000)));
        let pipe = Pipe { backlog: Bytes(u64::MAX), packet: Bytes(1000), ..Pipe::default() };
        let mut after = |ms| {
            let rtt = Some(Duration::from_millis(ms));
            (0..8).for_each(|_| sender.on_ack(Time::ZERO, &Ack { rtt, ..Ack::default() }));
            (sender.mode, sender.average, sender.estimate) =
                (Mode::Probing, Rate::from_mbps(100.0), Some(Rate::from_mbps(200.0)));
            sender.begin_stream(&pipe);
            sender.average.as_mbps()
        };
        assert!(after(50) > 100.0 && after(60) < 100.0 && after(50) > 100.0);
    }

    /// Behind a receiver whose packets all arrive at the same moment, each stream looks as if the path had all of its top rate.
    #[test]
    fn time_goes_on_whatever_the_estimates_say() {
        let packet = Bytes(1000);
        let mut sender = Rapid::default().machine_of_2017(&Conditions::exact(packet));
        let pipe = Pipe { backlog: Bytes(u64::MAX), packet, in_flight: packet, ..Pipe::default() };
        let mut now = Time::ZERO;
        for stream in 0..200 {
            let begun = now;
            for _ in 0..1000 {
                match sender.next(now, &pipe) {
                    Next::At(time) if sender.stream.is_over() && time > now => break, // waits for an estimate
                    Next::At(time) => now = time,
                    _ => {
                        sender.on_send(now, packet, &pipe);
                    }
                }
            }
            assert!(now > begun, "a thousand packets at once, in round {stream}");
            let (id, (_, top)) = (sender.stream.id(), sender.stream.range());
            let report = Some(Report::Available { stream: id, rate: top.as_bps() as f32 });
            sender.on_ack(now, &Ack { report, rtt: Some(Duration::from_millis(50)), ..Ack::default() });
        }
    }
}
