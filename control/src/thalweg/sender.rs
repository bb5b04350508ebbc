//! The sending party: when each packet of the p-streams leaves, in slow start, while probing and in recovery.
//!
//! In addition to RAPID's sender, it reduces its rate where much is lost. Losses that transmission errors explain are
//! repaired while probing goes on. Recovery from other losses begins at the reduced rate, and if it takes many round
//! trips, its rate follows the rate at which packets arrive. After k timeouts more than estimates since, slow
//! start begins at the initial rate over 2^k (already the first timeout halves it), with a stream of 20 packets over
//! 2^k or three. No slow start after a timeout ends above half of the rate before the first of them (of the mean rate
//! of its stream, if that was slow start), and none begins above that rate over 2^k. Its first stream ends at about twice that rate. Slow flows send shorter streams.
//!
//! **The least rate.** The average rate falls to two packets per round trip (the least slow-start threshold of RFC
//! 5681, equation 4) or a tenth of the initial rate, whichever is less. Flows that together send more than the link
//! carries even so lengthen the round-trip time and thereby slow down. If the buffer is too short for that, timeouts
//! slow them down: each halves the least rate and the least number of packets in a stream, and each estimate doubles
//! them again.
//!
//! **Without an estimate.** Each loss ends the present stream. A flow whose streams take longer than the time between
//! two losses has no estimate, and climbs slowly all the same ([`RateRule::without_estimate`]).

use super::arrivals::Arrivals;
use super::classifier::LossClassifier;
use super::climb::StreamStart;
use super::delivery::Delivery;
use super::rate_rule::RateRule;
use super::spread::AdaptiveSpread;
use crate::pstream::{
    Feedback, INITIAL_RTT, Layout, MIN_RATE_SHARE, Outgoing, SlowStart, Stream, at_most_highest, feedback_timeout,
};
use crate::roles::{Ack, Conditions, Loss, Next, Phase, Pipe, Report, Sender, Stamp, State};
use crate::units::{Bytes, Duration, Rate, Time};

/// The parameters of a sender, and the parts of it that keep state of their own.
#[derive(Clone, Debug)]
pub struct Parts {
    /// The largest number of packets in a p-stream (N), or of bursts on a host that sends bursts.
    pub len: u16,
    /// The longest duration of a p-stream, unless the stream would then have fewer than 20 bursts.
    pub longest_stream: Duration,
    /// The spread factor (m).
    pub spread: AdaptiveSpread,
    /// Rate of the first packets.
    pub initial_rate: Rate,
    /// Factor on the average rate after a loss.
    pub beta: f64,
    /// How the average rate follows the estimates.
    pub rule: RateRule,
    /// Which losses are transmission errors, and do not lower the rate.
    pub classifier: LossClassifier,
}

/// The sender's state machine. Its states and transitions are RAPID's ([`RapidSender`](crate::rapid::RapidSender)), but
/// for losses:
///
/// | from | event | to |
/// |---|---|---|
/// | slow start, probing | a loss event that errors do not explain | recovery |
/// | probing | during a repair, more losses than errors explain by chance | recovery |
/// | recovery | a loss event that errors do not explain | recovery, at beta times the rate, or the rate that arrives |
/// | recovery | a loss event that errors explain | probing, unless that would raise the rate |
/// | recovery | less arrives than is sent | recovery, at beta times the rate that arrives |
/// | recovery | all arrives that is sent, or the loss is repaired | probing |
pub struct ThalwegSender {
    parts: Parts,
    packet: Bytes,
    mode: Mode,
    /// The mean rate of the present p-stream; in recovery: the mean rate before recovery, unless lower because of what
    /// arrived since.
    average: Rate,
    /// The newest estimate of the available bandwidth.
    estimate: Option<Rate>,
    feedback: Feedback,
    /// Timeouts, less the estimates since; at least 0.
    timeouts: i32,
    /// The highest rate at which slow start may end, if a timeout limits it.
    ceiling: Option<Rate>,
    outgoing: Outgoing,
    /// The highest over the average rate of a full stream.
    top: f64,
    /// The newest round-trip time.
    rtt: Duration,
    /// When the average rate last followed an estimate, or went without one.
    followed: Time,
    /// The highest average rates in the previous and the present round trip, and when the latter began.
    highest: [Rate; 2],
    round: Time,
    /// The rate at which packets arrive that were not sent in slow start.
    arrivals: Arrivals,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    /// Sends a slow-start stream of up to `len` bursts whose rates start at `first` and whose estimate is at most
    /// `top`, then waits for that estimate. `doubted` is the estimate of the stream that this one repeats, if it
    /// repeats one.
    SlowStart { len: u16, first: Rate, top: Rate, doubted: Option<Rate> },
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

/// The least number of bursts in a full stream. Fewer do not show at which rate congestion begins. (On a host without a
/// quantum, a burst is a packet.)
const MIN_STREAM_BURSTS: u16 = 20;
/// The least number of bursts in a stream after timeouts.
const SHORTEST_STREAM: u16 = 3;
/// The least number of bursts over which recovery measures the rate at which they arrive.
const MIN_DELIVERED_BURSTS: u64 = 8;

/// Factor on the average rate after a loss if no estimate came since the loss before it: then losses are all that the
/// flow hears of congestion, as they are for TCP.
const UNHEARD: f64 = 0.5;
/// The same after a loss in slow start.
const AFTER_SLOW_START: f64 = 0.5;

/// After a loss, the average rate is at most this many times the rate at which packets arrive.
const MOST_OVER_ARRIVALS: f64 = 2.0;
/// The same for a flow that sends bursts: a buffer of a few packets drops most of a burst, at any rate.
const MOST_OVER_BURSTS: f64 = 8.0;

/// After a timeout, slow start ends at most at this share of the rate before.
const CEILING: f64 = 0.5;

/// The longest stream with which slow start begins after timeouts. The feedback timeout is then some 40 s, in which a
/// flow sends three packets.
const LONGEST_STREAM: Duration = Duration::from_millis(10_000);

/// A rate, or the least one if that is higher.
fn at_least(rate: Rate, least: Rate) -> Rate {
    if rate < least { least } else { rate }
}

/// The highest over the average rate of the next full stream.
fn top_of(parts: &Parts) -> f64 {
    Stream::top_over_average(parts.len, parts.spread.factor(), Layout::AllRising)
}

impl ThalwegSender {
    /// A sender that has sent nothing yet.
    pub fn new(parts: Parts, host: &Conditions) -> ThalwegSender {
        let mut sender = ThalwegSender {
            packet: host.packet,
            mode: Mode::Probing,
            average: parts.initial_rate,
            estimate: None,
            feedback: Feedback::default(),
            timeouts: 0,
            ceiling: None,
            outgoing: Outgoing::new(Stream::uniform(0, parts.initial_rate), host),
            top: top_of(&parts),
            rtt: INITIAL_RTT,
            followed: Time::ZERO,
            highest: [Rate::from_bps(0.0); 2],
            round: Time::ZERO,
            arrivals: Arrivals::default(),
            parts,
        };
        sender.restart();
        sender
    }

    /// The mean rate of the present p-stream.
    pub(crate) fn average(&self) -> Rate {
        self.average
    }

    /// Whether the host sends about when the streams say.
    pub(crate) fn keeps_times(&self) -> bool {
        self.outgoing.bursts().keeps_times()
    }

    /// Takes over, now, from another protocol that sent at `rate`, with what `classifier` has seen of the path. There
    /// is no slow start, as streams around that rate find out whether more is available.
    pub(crate) fn take_over(&mut self, now: Time, rate: Rate, rtt: Duration, classifier: &LossClassifier) {
        self.parts.classifier = classifier.clone();
        self.mode = Mode::Probing;
        self.set_average(rate);
        self.rtt = rtt;
        (self.timeouts, self.ceiling) = (0, None);
        self.parts.rule.forget_queues();
        self.arrivals.forget(now, rtt);
        // Estimates of streams from before the other protocol took over are out of date.
        self.estimate = None;
        self.feedback.ignore_before(self.outgoing.next_id());
        self.feedback.restart(now);
        self.outgoing.forget_lateness();
        self.outgoing.wait_from(now);
        self.outgoing.end();
    }

    /// Begins slow start afresh. Each timeout since the last estimate halves the rate, so that already the first
    /// timeout begins at half the initial rate. A stream with higher rates than twice the ceiling would find nothing
    /// that counts, but its packets would be many round trips' share of a slow flow.
    fn restart(&mut self) {
        self.estimate = None;
        let slow_start = SlowStart::PACKET_SCALE_2017;
        let first = self.below_ceiling(self.parts.initial_rate) * libm::scalbn(1.0, -self.timeouts);
        // A stream whose rates double takes as long as two packets at its first rate.
        let first = at_least(first, Bytes(2 * self.packet.0).over(LONGEST_STREAM));
        // So many flows may share a slow path that even the first streams are more than it carries.
        let most = (slow_start.first >> self.timeouts.min(15)).max(SHORTEST_STREAM);
        let len = self.ceiling.map_or(most, |ceiling| slow_start.len_up_to(first, ceiling * 2.0).min(most));
        self.begin_slow_start(len, first, None);
    }

    fn set_average(&mut self, rate: Rate) {
        self.average = self.at_least(rate);
    }

    /// Lowers the average rate to `rate`, or to the least one. The average may be below the least rate, which rises
    /// when an estimate arrives or the round-trip time falls; then it remains as it is.
    fn lower_average(&mut self, rate: Rate) {
        let rate = self.at_least(rate);
        if rate < self.average {
            self.average = rate;
        }
    }

    /// A rate, or the least average rate if that is higher.
    fn at_least(&self, rate: Rate) -> Rate {
        let (share, window) = (self.parts.initial_rate * MIN_RATE_SHARE, Bytes(2 * self.packet.0).over(self.rtt));
        at_least(rate, if window < share { window } else { share } * libm::scalbn(1.0, -self.timeouts))
    }

    fn below_ceiling(&self, rate: Rate) -> Rate {
        self.ceiling.filter(|&ceiling| rate > ceiling).unwrap_or(rate)
    }

    fn begin_slow_start(&mut self, len: u16, first: Rate, doubted: Option<Rate>) {
        let stream = SlowStart::PACKET_SCALE_2017.stream(self.outgoing.next_id(), len, first, self.outgoing.bursts());
        self.average = stream.average();
        let top = SlowStart::PACKET_SCALE_2017.highest_estimate(&stream, self.outgoing.bursts());
        self.mode = Mode::SlowStart { len, first, top, doubted };
        self.outgoing.begin(stream);
    }

    /// Begins the next p-stream, after the average rate has followed the newest estimate.
    fn begin_stream(&mut self, now: Time, pipe: &Pipe) {
        // The sender never waits for more data. If there is less than a full stream, it sends a shorter one.
        self.top = top_of(&self.parts);
        let at_most = |size: Bytes, bursts: u16| pipe.backlog.0.div_ceil(size.0).clamp(1, u64::from(bursts)) as u16;
        if let Some(estimate) = self.estimate {
            let bursts = at_most(self.burst(), self.len());
            let fullness = f64::from(bursts) / f64::from(self.parts.len);
            let burst = self.packets_in_burst();
            let start = StreamStart { estimate, duration: self.duration(bursts), fullness, burst, rtt: self.rtt };
            let average = self.parts.rule.apply(self.average, &start);
            self.set_average(average);
        } else {
            let most = self.rtt.max(self.duration(self.len()));
            let since = now.since(self.followed).min(most);
            let average = self.parts.rule.without_estimate(self.average, since, self.rtt);
            self.set_average(average);
        }
        self.followed = now;
        let (len, spread) = (at_most(self.burst(), self.len()), self.parts.spread.factor());
        self.outgoing.begin(Stream::new(self.outgoing.next_id(), len, spread, self.average, Layout::AllRising));
    }

    /// The number of packets in a burst of the next stream.
    fn packets_in_burst(&self) -> u16 {
        self.outgoing.bursts().packets(self.average * self.top)
    }

    /// The size of a burst of the next stream.
    fn burst(&self) -> Bytes {
        Bytes(self.packet.0 * u64::from(self.packets_in_burst()))
    }

    /// The number of bursts in the next stream, if there is enough data to send.
    fn len(&self) -> u16 {
        let most = self.average.as_bps() * self.parts.longest_stream.as_secs() / self.burst().as_bits();
        // At the least rate after timeouts, 20 bursts would take a minute, and only their estimate undoes a timeout.
        let least = (MIN_STREAM_BURSTS >> self.timeouts.min(15)).max(SHORTEST_STREAM);
        self.parts.len.min((most as u16).max(least))
    }

    /// How long this many bursts take at the average rate.
    fn duration(&self, bursts: u16) -> Duration {
        self.average.time_for(Bytes(self.burst().0 * u64::from(bursts)))
    }

    fn feedback_deadline(&self) -> Time {
        let bursts = match self.mode {
            Mode::SlowStart { .. } => self.outgoing.stream().length(),
            Mode::Probing | Mode::Recovery { .. } => self.len(),
        };
        self.feedback.deadline(feedback_timeout(self.rtt, self.duration(bursts)))
    }

    fn begin_recovery(&mut self, now: Time, interrupted: Interrupted) {
        // As in RAPID: the mean rate of slow start in bursts may exceed the capacity by far.
        if let (Interrupted::SlowStart, Some(estimate)) = (interrupted, self.estimate)
            && !self.outgoing.bursts().are_packets()
            && estimate < self.average
        {
            self.lower_average(estimate);
        }
        // Slow start sends one stream per round trip, which may be much less than the mean rate of the stream.
        if interrupted == Interrupted::SlowStart {
            let stream = Bytes(self.outgoing.burst().0 * u64::from(self.outgoing.stream().length()));
            let sent = stream.over(self.rtt);
            self.lower_average(sent);
        }
        if interrupted == Interrupted::Probing && self.estimate.is_none() {
            self.lower_average(self.average * (UNHEARD / self.parts.beta).min(1.0));
        }
        if self.parts.classifier.exceeds_error_share() {
            self.parts.rule.on_collapse();
        }
        let delivery = Delivery::of_packets_sent_from(now, self.rtt);
        self.mode = Mode::Recovery { interrupted, delivery };
        self.outgoing.begin(Stream::uniform(self.outgoing.next_id(), self.recovery_rate()));
    }

    /// Factor on the average rate after a loss. The rates of slow start double from packet to packet, so that its
    /// estimates are right within a factor of two.
    fn kept(&self, interrupted: Interrupted) -> f64 {
        match interrupted {
            Interrupted::SlowStart => AFTER_SLOW_START,
            Interrupted::Probing => self.parts.beta,
        }
    }

    /// The rate of recovery. Unlike RAPID's, it is reduced at once: the average rate may come from a time when fewer
    /// flows shared the path.
    fn recovery_rate(&self) -> Rate {
        let Mode::Recovery { interrupted, .. } = self.mode else { return self.average * self.parts.beta };
        self.average * self.kept(interrupted)
    }

    /// The average rate after recovery: beta times the average rate before it, or half of it if the loss interrupted
    /// slow start. If an estimate has arrived since slow start began, it is half of that estimate.
    fn rate_after_recovery(&self, interrupted: Interrupted) -> Rate {
        let found = self.estimate.filter(|_| interrupted == Interrupted::SlowStart);
        let found = found.map(|estimate| self.below_ceiling(estimate));
        self.at_least(found.unwrap_or(self.average) * self.kept(interrupted))
    }

    fn end_recovery(&mut self, now: Time) {
        let Mode::Recovery { interrupted, .. } = self.mode else { return };
        self.average = self.rate_after_recovery(interrupted);
        if interrupted == Interrupted::SlowStart && self.estimate.is_some() {
            self.ceiling = None;
        }
        // Estimates of streams that were sent before the loss are out of date, as streams behind a full buffer look
        // uncongested.
        self.estimate = None;
        self.mode = Mode::Probing;
        self.feedback.restart(now);
        self.outgoing.end();
    }

    /// In recovery, after each measurement of the rate at which packets arrive: the average rate is lowered to it. When
    /// all packets arrive, recovery ends, as p-streams can carry the remaining repairs.
    fn follow_delivery(&mut self, now: Time, ack: &Ack) {
        let rate = self.recovery_rate();
        let enough = self.rtt.max(rate.time_for(Bytes(self.outgoing.burst().0 * MIN_DELIVERED_BURSTS)));
        let Mode::Recovery { interrupted, delivery } = &mut self.mode else { return };
        let Some(delivered) = delivery.on_ack(now, ack, self.rtt, enough) else { return };
        // One burst more or less within the measurement is no loss.
        if delivered < rate * (1.0 - 1.0 / MIN_DELIVERED_BURSTS as f64) {
            // The rate at which packets arrive is newer than the estimate of an interrupted slow start, so recovery
            // ends with beta times the former, as if it had interrupted probing.
            *interrupted = Interrupted::Probing;
            self.lower_average(delivered);
            self.outgoing.begin(Stream::uniform(self.outgoing.stream().id(), self.recovery_rate()));
        } else {
            self.parts.classifier.forget();
            self.end_recovery(now);
        }
    }

    /// Limits the average rate, after a loss, to [`MOST_OVER_ARRIVALS`] times the rate at which packets arrive. An
    /// estimate can be thousands of times too high, and beta alone would take tens of round trips to lower such a rate.
    /// Returns whether the rate was lowered.
    fn brake(&mut self) -> bool {
        let before = self.average;
        if let Some(arrives) = self.arrivals.rate() {
            self.lower_average(arrives * if self.are_bursts(arrives) { MOST_OVER_BURSTS } else { MOST_OVER_ARRIVALS });
        }
        self.average < before
    }

    /// Whether a stream of this average rate has bursts of several packets.
    fn are_bursts(&self, average: Rate) -> bool {
        self.outgoing.bursts().packets(average * self.top) > 1
    }

    /// The highest average rate at which packets that are acknowledged now were sent; none if some are of slow start,
    /// which sends one stream per round trip.
    fn highest_rate(&mut self, now: Time) -> Option<Rate> {
        let is_slow_start = matches!(self.mode, Mode::SlowStart { .. });
        let rate = if is_slow_start { Rate::from_bps(f64::INFINITY) } else { self.average };
        if now.since(self.round) >= self.rtt {
            (self.highest, self.round) = ([self.highest[1], rate], now);
        }
        self.highest[1] = at_least(rate, self.highest[1]);
        Some(at_least(self.highest[0], self.highest[1])).filter(|rate| rate.as_bps().is_finite())
    }

    /// A retransmission or feedback timeout.
    fn time_out(&mut self, now: Time) {
        self.feedback.restart(now);
        self.outgoing.wait_from(now);
        // As TCP's slow-start threshold. In slow start, the average is that of a stream of which nothing came back: the
        // buffer is full of other flows' packets, and whoever begins again when it has drained would find all of the
        // path, as they would.
        let slow_start_ends_below = matches!(self.mode, Mode::SlowStart { .. }) && self.ceiling.is_some();
        if self.timeouts == 0 && !slow_start_ends_below {
            self.ceiling = Some(self.at_least(self.average * CEILING));
        }
        self.timeouts += 1;
        self.restart();
    }

    fn on_estimate(&mut self, now: Time, stream: u32, estimate: Rate) {
        if !self.feedback.on_estimate(now, stream) {
            return;
        }
        let estimate = at_most_highest(estimate);
        self.timeouts = (self.timeouts - 1).max(0);
        self.estimate = Some(estimate);
        if self.mode == Mode::Probing && self.outgoing.stream().probes() {
            self.parts.spread.update(estimate, self.outgoing.stream().range());
        }
        // If a slow-start stream lost its last packets, its estimate arrives only after the timeout, when slow start
        // has restarted. The sender uses it; otherwise it would repeat the same lossy burst for ever.
        if let Mode::SlowStart { len, first, top, doubted } = self.mode {
            let allowed = self.below_ceiling(estimate);
            let is_low = SlowStart::ends_with(estimate, top);
            if allowed == estimate && is_low && doubted.is_none() && !self.outgoing.bursts().are_packets() {
                // One interruption of the host within the stream reads as congestion at a rate far below the path's,
                // and probing takes seconds to climb from there. So on hosts that send bursts, slow start ends after
                // two such streams in a row.
                self.begin_slow_start(len, first, Some(estimate));
            } else if allowed < estimate || is_low {
                let found = doubted.map_or(allowed, |before| of_two(self.below_ceiling(before), allowed));
                self.estimate = Some(found);
                self.set_average(found);
                self.ceiling = None;
                self.mode = Mode::Probing;
                self.outgoing.end();
            } else {
                self.begin_slow_start(SlowStart::PACKET_SCALE_2017.len_after(len), estimate, None);
            }
            // The sender has usually been idle for a round trip, so that the first packet of the next stream needs no
            // gap. (A late estimate, after a timeout, may end a stream that is being sent: one packet then leaves
            // early.)
            self.outgoing.wait_for_nothing();
        }
    }

    fn on_loss_event(&mut self, now: Time) {
        if self.parts.classifier.finds_error() {
            // Where errors are frequent, a repair is always going on, so an error ends recovery. But it must not raise
            // the rate.
            if let Mode::Recovery { interrupted, .. } = self.mode
                && self.rate_after_recovery(interrupted) <= self.recovery_rate()
            {
                self.end_recovery(now);
            }
            return;
        }
        self.brake();
        self.outgoing.on_loss(now);
        let interrupted = match self.mode {
            Mode::SlowStart { .. } => Interrupted::SlowStart,
            Mode::Probing => Interrupted::Probing,
            Mode::Recovery { interrupted, .. } => {
                // Packets that were sent during recovery were lost, too. Such a loss begins another measurement of
                // what arrives, so that none is completed while more is sent than the path carries.
                self.lower_average(self.average * self.parts.beta);
                if let Some(arrives) = self.arrivals.rate().filter(|&rate| !self.are_bursts(rate)) {
                    self.lower_average(arrives);
                }
                interrupted
            }
        };
        self.begin_recovery(now, interrupted);
    }
}

/// Which of two estimates of slow start counts. The rates of its streams double from burst to burst, so two estimates
/// of the same available bandwidth may differ by a factor of four. If they do not differ by more, the lower one is
/// safe. If they do, the lower one comes from an interruption.
fn of_two(a: Rate, b: Rate) -> Rate {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    if high > low * 4.0 { high } else { low }
}

impl Sender for ThalwegSender {
    fn next(&mut self, now: Time, pipe: &Pipe) -> Next {
        let is_over = self.outgoing.is_over();
        // The feedback timeout runs while data is in flight and the present stream probes, and while slow start waits
        // for its estimate. The latter holds even if all packets of that stream were lost.
        let waits = matches!(self.mode, Mode::SlowStart { .. }) && is_over;
        if (pipe.in_flight == Bytes(0) && !waits) || !self.outgoing.stream().probes() {
            self.feedback.restart(now);
        }
        if now > self.feedback_deadline() {
            self.time_out(now);
        }
        if self.outgoing.is_over() {
            match self.mode {
                // One stream per round trip: wait for its estimate.
                Mode::SlowStart { .. } => {
                    return Next::At((self.feedback_deadline() + Duration(1)).max(now + Duration(1)));
                }
                // A uniform stream has no end, so this is reached only while probing.
                Mode::Probing | Mode::Recovery { .. } => self.begin_stream(now, pipe),
            }
        }
        self.outgoing.next(now)
    }

    fn on_send(&mut self, now: Time, size: Bytes, pipe: &Pipe) -> Stamp {
        self.outgoing.on_send(now, size, pipe)
    }

    fn on_ack(&mut self, now: Time, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.rtt = rtt;
            self.parts.rule.on_rtt(now, rtt);
            self.outgoing.on_rtt(now, rtt);
        }
        // The classifier remembers a number of streams, whatever the size of their bursts.
        let sent_at = self.highest_rate(now);
        if self.parts.classifier.on_ack(now, ack, self.outgoing.burst(), sent_at) {
            self.parts.rule.forget_collapses();
        }
        if ack.recovery && self.mode == Mode::Probing && self.parts.classifier.exceeds_chance() {
            self.begin_recovery(now, Interrupted::Probing);
        }
        if let Some(Report::Available { stream, rate, interval }) = ack.report {
            self.outgoing.on_batches(now, Duration::from_micros(interval.into()));
            self.on_estimate(now, stream, Rate::from_bps(f64::from(rate)));
        }
        if let Mode::SlowStart { .. } = self.mode {
            self.arrivals.forget(now, self.rtt);
        } else {
            self.arrivals.on_ack(now, ack, self.rtt, self.packet);
        }
        if let Mode::Recovery { .. } = self.mode
            && self.brake()
        {
            self.outgoing.begin(Stream::uniform(self.outgoing.stream().id(), self.recovery_rate()));
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
