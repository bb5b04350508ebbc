//! The sending party: when each packet of the p-streams leaves, in slow start, while probing and in recovery.
//!
//! Beyond RAPID's sender, it gives way where much is lost. Losses that transmission errors explain are repaired while
//! probing goes on. Recovery from others begins at the reduced rate, and if it takes many round trips, its rate follows
//! what arrives. After a timeout without an estimate, each slow start has half the initial rate of the one before, and
//! none ends above beta times the rate before the timeout. Streams of slow flows are shorter.

use super::classifier::LossClassifier;
use super::delivery::Delivery;
use super::rate_rule::{RateRule, StreamStart};
use super::spread::AdaptiveSpread;
use crate::pstream::{
    Feedback, INITIAL_RTT, LEAST_SHARE, Layout, Outgoing, SlowStart, Stream, at_most_highest, feedback_timeout,
};
use crate::roles::{Ack, Conditions, Loss, Next, Phase, Pipe, Report, Sender, Stamp, State};
use crate::units::{Bytes, Duration, Rate, Time};

/// The parts and parameters of a sender.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Packets in a p-stream (N) at most.
    pub len: u16,
    /// How long a p-stream lasts at most, unless it would have fewer than 20 packets.
    pub longest: Duration,
    /// The spread factor (m).
    pub spread: AdaptiveSpread,
    /// Rate of the first packets.
    pub initial_rate: Rate,
    /// Factor on the average rate after a loss.
    pub beta: f64,
    /// How the average rate follows the estimates.
    pub rule: RateRule,
    /// Which losses do not count.
    pub classifier: LossClassifier,
}

/// The sender's state machine. Its states and transitions are RAPID's ([`RapidSender`](crate::rapid::RapidSender)), but
/// for losses:
///
/// | from | event | to |
/// |---|---|---|
/// | slow start, probing | a loss event that errors do not explain | recovery |
/// | probing | while losses are repaired, more than errors explain | recovery |
/// | recovery | a loss event that errors do not explain | recovery, at beta times the rate |
/// | recovery | a loss event that errors explain | probing, unless that would raise the rate |
/// | recovery | less arrives than is sent | recovery, at beta times the rate that arrives |
/// | recovery | all arrives that is sent, or the loss is repaired | probing |
pub struct ThalwegSender {
    settings: Settings,
    packet: Bytes,
    mode: Mode,
    /// The mean rate of the present p-stream; in recovery, that before it.
    average: Rate,
    /// The newest estimate of the available bandwidth.
    estimate: Option<Rate>,
    feedback: Feedback,
    /// Timeouts since the last estimate.
    timeouts: i32,
    /// The rate that slow start may end at, if a timeout limits it.
    ceiling: Option<Rate>,
    outgoing: Outgoing,
    /// The newest round-trip time.
    rtt: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    /// Sends a slow-start stream of `len` packets up to the rate `top`, then waits for its estimate.
    SlowStart { len: u16, top: Rate },
    /// Sends p-streams.
    Probing,
    /// Repairs a loss, and measures how much arrives meanwhile.
    Recovery { interrupted: Interrupted, delivery: Delivery },
}

/// What a loss interrupted.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Interrupted {
    SlowStart,
    Probing,
}

/// This many packets still show at which rate congestion sets in.
const SHORTEST: u16 = 20;
/// At least this many packets tell the rate at which they arrive.
const DELIVERED: u64 = 8;

impl ThalwegSender {
    /// A sender that has sent nothing yet.
    pub fn new(settings: Settings, host: &Conditions) -> ThalwegSender {
        let mut sender = ThalwegSender {
            packet: host.packet,
            mode: Mode::Probing,
            average: settings.initial_rate,
            estimate: None,
            feedback: Feedback::default(),
            timeouts: 0,
            ceiling: None,
            outgoing: Outgoing::new(Stream::uniform(0, settings.initial_rate), host),
            rtt: INITIAL_RTT,
            settings,
        };
        sender.restart();
        sender
    }

    /// The mean rate of the present p-stream.
    pub(crate) fn average(&self) -> Rate {
        self.average
    }

    /// Takes over, now, from another protocol that sent at `rate`, with what `classifier` has seen of the path. There
    /// is no slow start, as streams around that rate find more.
    pub(crate) fn take_over(&mut self, now: Time, rate: Rate, rtt: Duration, classifier: &LossClassifier) {
        self.settings.classifier = classifier.clone();
        self.mode = Mode::Probing;
        self.set_average(rate);
        self.rtt = rtt;
        (self.timeouts, self.ceiling) = (0, None);
        self.settings.rule.forget_queues();
        // What streams found before the other protocol's time is out of date.
        self.estimate = None;
        self.feedback.ignore_before(self.outgoing.next_id());
        self.feedback.restart(now);
        self.outgoing.wait_from(now);
        self.outgoing.end();
    }

    /// Begins afresh, at half the initial rate of the last time if nothing was heard of that.
    fn restart(&mut self) {
        self.estimate = None;
        let rate = self.settings.initial_rate * LEAST_SHARE.max(libm::scalbn(1.0, -self.timeouts));
        self.begin_slow_start(SlowStart::PACKET_SCALE_2017.first, rate);
    }

    fn set_average(&mut self, rate: Rate) {
        self.average = self.at_least(rate);
    }

    fn at_least(&self, rate: Rate) -> Rate {
        let least = self.settings.initial_rate * LEAST_SHARE;
        if rate < least { least } else { rate }
    }

    fn below_ceiling(&self, rate: Rate) -> Rate {
        self.ceiling.filter(|&ceiling| rate > ceiling).unwrap_or(rate)
    }

    fn begin_slow_start(&mut self, len: u16, first: Rate) {
        let stream = SlowStart::PACKET_SCALE_2017.stream(self.outgoing.next_id(), len, first);
        self.average = stream.average();
        self.mode = Mode::SlowStart { len, top: stream.range().1 };
        self.outgoing.begin(stream);
    }

    /// Begins the next p-stream, after the average rate has followed the newest estimate.
    fn begin_stream(&mut self, pipe: &Pipe) {
        // It never waits for more data: what there is makes a shorter stream.
        let available = pipe.backlog.0.div_ceil(self.packet.0).max(1);
        let at_most = |packets: u16| available.min(u64::from(packets)) as u16;
        if let Some(estimate) = self.estimate {
            let packets = at_most(self.packets());
            let share = f64::from(packets) / f64::from(self.settings.len);
            let start = StreamStart { estimate, length: self.length(packets), share, rtt: self.rtt };
            let average = self.settings.rule.apply(self.average, &start);
            self.set_average(average);
        }
        let (len, spread) = (at_most(self.packets()), self.settings.spread.factor());
        self.outgoing.begin(Stream::new(self.outgoing.next_id(), len, spread, self.average, Layout::AllRising));
    }

    /// How many packets the next stream has, if there are as many to send.
    fn packets(&self) -> u16 {
        let most = self.average.as_bps() * self.settings.longest.as_secs() / self.packet.as_bits();
        self.settings.len.min((most as u16).max(SHORTEST))
    }

    /// How long this many packets take at the average rate.
    fn length(&self, packets: u16) -> Duration {
        self.average.time_for(Bytes(self.packet.0 * u64::from(packets)))
    }

    fn feedback_deadline(&self) -> Time {
        self.feedback.deadline(feedback_timeout(self.rtt, self.length(self.packets())))
    }

    fn begin_recovery(&mut self, now: Time, interrupted: Interrupted) {
        if self.settings.classifier.finds_many() {
            self.settings.rule.on_collapse();
        }
        let delivery = Delivery::of_packets_sent_from(now, self.rtt);
        self.mode = Mode::Recovery { interrupted, delivery };
        self.outgoing.begin(Stream::uniform(self.outgoing.next_id(), self.recovery_rate()));
    }

    /// The rate of recovery. It is reduced at once (RAPID's is not), as among many flows the average may be of a time
    /// when there were fewer.
    fn recovery_rate(&self) -> Rate {
        self.average * self.settings.beta
    }

    /// The average rate after recovery: beta times that before it or, if it interrupted slow start, what that has found
    /// meanwhile.
    fn rate_after_recovery(&self, interrupted: Interrupted) -> Rate {
        let found = self.estimate.filter(|_| interrupted == Interrupted::SlowStart);
        let found = found.map(|estimate| self.below_ceiling(estimate));
        self.at_least(found.unwrap_or(self.average) * self.settings.beta)
    }

    fn end_recovery(&mut self, now: Time) {
        let Mode::Recovery { interrupted, .. } = self.mode else { return };
        self.average = self.rate_after_recovery(interrupted);
        if interrupted == Interrupted::SlowStart && self.estimate.is_some() {
            self.ceiling = None;
        }
        // Estimates of streams that were sent before the loss are out of date. Behind a full buffer they look
        // uncongested.
        self.estimate = None;
        self.mode = Mode::Probing;
        self.feedback.restart(now);
        self.outgoing.end();
    }

    /// In recovery, once per measurement of what arrives: the rate is lowered to that. When all that is sent arrives,
    /// what is still to be repaired can be repaired among p-streams.
    fn follow_delivery(&mut self, now: Time, ack: &Ack) {
        let rate = self.recovery_rate();
        let enough = self.rtt.max(rate.time_for(Bytes(self.packet.0 * DELIVERED)));
        let Mode::Recovery { interrupted, delivery } = &mut self.mode else { return };
        let Some(delivered) = delivery.on_ack(now, ack, self.rtt, enough) else { return };
        // A packet more or less in such a time is no loss.
        if delivered < rate * (1.0 - 1.0 / DELIVERED as f64) {
            *interrupted = Interrupted::Probing;
            self.set_average(delivered);
            self.outgoing.begin(Stream::uniform(self.outgoing.stream().id(), self.recovery_rate()));
        } else {
            self.settings.classifier.forget();
            self.end_recovery(now);
        }
    }

    /// A retransmission or feedback timeout.
    fn time_out(&mut self, now: Time) {
        self.feedback.restart(now);
        self.outgoing.wait_from(now);
        if self.timeouts == 0 && !matches!(self.mode, Mode::SlowStart { .. }) {
            self.ceiling = Some(self.average * self.settings.beta); // as TCP's slow-start threshold
        }
        self.timeouts += 1;
        self.restart();
    }

    fn on_estimate(&mut self, now: Time, stream: u32, estimate: Rate) {
        if !self.feedback.on_estimate(now, stream) {
            return;
        }
        let estimate = at_most_highest(estimate);
        self.timeouts = 0;
        self.estimate = Some(estimate);
        if self.mode == Mode::Probing && self.outgoing.stream().probes() {
            self.settings.spread.update(estimate, self.outgoing.stream().range());
        }
        // The estimate of a stream whose tail was lost counts, too, which comes when slow start has begun again.
        // Otherwise the same burst would be sent, and its tail lost, for ever.
        if let Mode::SlowStart { len, top } = self.mode {
            let allowed = self.below_ceiling(estimate);
            if allowed < estimate || SlowStart::ends_with(estimate, top) {
                self.set_average(allowed);
                self.ceiling = None;
                self.mode = Mode::Probing;
                self.outgoing.end();
            } else {
                self.begin_slow_start(SlowStart::PACKET_SCALE_2017.len_after(len), estimate);
            }
            // The last packet was sent a round trip ago.
            self.outgoing.wait_for_nothing();
        }
    }

    fn on_loss_event(&mut self, now: Time) {
        if self.settings.classifier.finds_error() {
            // Where there are many errors, one is always being repaired. But no loss makes a sender faster.
            if let Mode::Recovery { interrupted, .. } = self.mode
                && self.rate_after_recovery(interrupted) <= self.recovery_rate()
            {
                self.end_recovery(now);
            }
            return;
        }
        let interrupted = match self.mode {
            Mode::SlowStart { .. } => Interrupted::SlowStart,
            Mode::Probing => Interrupted::Probing,
            Mode::Recovery { interrupted, .. } => {
                // What recovery sent was lost as well.
                self.set_average(self.average * self.settings.beta);
                interrupted
            }
        };
        self.begin_recovery(now, interrupted);
    }
}

impl Sender for ThalwegSender {
    fn next(&mut self, now: Time, pipe: &Pipe) -> Next {
        let is_over = self.outgoing.stream().is_over();
        // The feedback timeout runs only while an estimate can come: of a stream in flight, or of slow start's, for
        // which the sender waits even if all of it was lost.
        let waits = matches!(self.mode, Mode::SlowStart { .. }) && is_over;
        if (pipe.in_flight == Bytes(0) && !waits) || !self.outgoing.stream().probes() {
            self.feedback.restart(now);
        }
        if now > self.feedback_deadline() {
            self.time_out(now);
        }
        if self.outgoing.stream().is_over() {
            match self.mode {
                // One stream per round trip: wait for its estimate.
                Mode::SlowStart { .. } => {
                    return Next::At((self.feedback_deadline() + Duration(1)).max(now + Duration(1)));
                }
                Mode::Probing | Mode::Recovery { .. } => self.begin_stream(pipe),
            }
        }
        self.outgoing.next(now)
    }

    fn on_send(&mut self, now: Time, size: Bytes, _: &Pipe) -> Stamp {
        self.outgoing.on_send(now, size)
    }

    fn on_ack(&mut self, now: Time, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.rtt = rtt;
            self.settings.rule.on_rtt(now, rtt);
        }
        self.settings.classifier.on_ack(ack, self.packet);
        if ack.recovery && self.mode == Mode::Probing && self.settings.classifier.finds_too_many() {
            self.begin_recovery(now, Interrupted::Probing);
        }
        if let Some(Report::Available { stream, rate }) = ack.report {
            self.on_estimate(now, stream, Rate::from_bps(f64::from(rate)));
        }
        if ack.recovery {
            self.follow_delivery(now, ack);
        } else {
            self.end_recovery(now);
        }
    }

    fn on_loss(&mut self, now: Time, loss: &Loss) {
        match loss {
            Loss::Timeout => self.time_out(now),
            Loss::Event => self.on_loss_event(now),
        }
    }

    fn state(&self) -> State {
        let (phase, rate) = match self.mode {
            Mode::SlowStart { .. } => (Phase::SlowStart, self.average),
            Mode::Probing => (Phase::Probing, self.average),
            Mode::Recovery { .. } => (Phase::Recovery, self.recovery_rate()),
        };
        State { window: None, rate: Some(rate), phase }
    }

    fn available(&self) -> Option<Rate> {
        self.estimate
    }
}

#[cfg(test)]
mod tests;
