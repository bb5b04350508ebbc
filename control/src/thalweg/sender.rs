//! The sending party: when each packet of the p-streams leaves, in slow start, on the ramp after it, while probing and
//! in recovery.
//!
//! In addition to RAPID's sender, it reduces its rate where much is lost. Losses that transmission errors explain are
//! repaired while probing goes on, and so are those of a short buffer, which the average rate follows. Recovery from
//! other losses begins at the reduced rate, and if it takes many round trips, its rate follows the rate at which
//! packets arrive.
//!
//! **After k timeouts more than estimates since**, slow start begins at the initial rate over 2^k (already the first
//! timeout halves it), with a stream of 10 packets over 2^k or three. No slow start after a timeout ends above half of
//! the rate before the first of them (of the mean rate of its stream, if that was slow start), and none begins above
//! that rate over 2^k. Its first stream ends at about twice that rate. Slow flows send shorter streams.
//!
//! **The least rate.** The average rate falls to two packets per round trip (the least slow-start threshold of RFC
//! 5681, equation 4) or a tenth of the initial rate, whichever is less. Flows that together send more than the link
//! carries even so lengthen the round-trip time and thereby slow down. If the buffer is too short for that, timeouts
//! slow them down: each halves the least rate and the least number of packets in a stream, and each estimate doubles
//! them again.
//!
//! **Without an estimate.** Each loss ends the present stream. A flow whose streams take longer than the time between
//! two losses has no estimate, and climbs slowly all the same ([`RateRule::without_estimate`]).

mod ramp;
mod recovery;
mod slow_start;
#[cfg(test)]
mod tests;

pub(super) use slow_start::SLOW_START;

use super::arrivals::Arrivals;
use super::classifier::LossClassifier;
use super::climb::StreamStart;
use super::delivery::Delivery;
use super::rate_rule::RateRule;
use crate::draw::draw;
use crate::pstream::{
    Feedback, INITIAL_RTT, Layout, MIN_RATE_SHARE, Outgoing, Stream, at_most_highest, feedback_timeout,
};
use crate::roles::{Ack, Conditions, Loss, Next, Phase, Pipe, Report, Sender, Stamp, State};
use crate::units::{Bytes, Duration, Rate, Time};

/// The parameters of a sender, and the parts of it that keep state of their own.
#[derive(Clone, Debug)]
pub struct Parts {
    /// The largest number of packets in a p-stream (N), or of bursts on a host that sends bursts.
    pub len: u16,
    /// The longest duration of a p-stream, unless the stream would then have fewer than [`MIN_STREAM_BURSTS`].
    pub longest_stream: Duration,
    /// The spread factor (m) of a stream of `len` packets. Shorter streams have the same range of rates.
    pub spread: f64,
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
/// for the ramp between slow start and probing, and for losses:
///
/// | from | event | to |
/// |---|---|---|
/// | slow start, ramp, probing | a loss event that needs recovery | recovery |
/// | ramp, probing | during a repair, more losses than errors explain by chance (short buffer: many more) | recovery |
/// | recovery | a loss event that needs recovery | recovery, at beta times the rate, or the rate that arrives |
/// | recovery | another loss event | probing, unless that would raise the rate |
/// | recovery | less arrives than is sent | recovery, at beta times the rate that arrives |
/// | recovery | all arrives that is sent, or the loss is repaired | probing |
pub struct ThalwegSender {
    parts: Parts,
    packet: Bytes,
    mode: Mode,
    /// The mean rate of the present p-stream; in recovery: the mean rate before recovery, unless lower because of what
    /// arrived since.
    average: Rate,
    /// The newest estimate of the available bandwidth, and whether it came since the last stream began.
    estimate: Option<Rate>,
    is_new: bool,
    feedback: Feedback,
    /// Timeouts, less the estimates since; at least 0.
    timeouts: i32,
    /// The highest rate at which slow start may end, if a timeout limits it.
    ceiling: Option<Rate>,
    outgoing: Outgoing,
    /// The highest over the average rate of a full stream.
    top: f64,
    /// The longest duration that the next stream may have, unless it would then be too short.
    longest: Duration,
    /// The newest round-trip time.
    rtt: Duration,
    /// Whether nothing is in flight: all that was sent is acknowledged or lost.
    idle: bool,
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
    /// `top`, then waits for that estimate. The quantum of its bursts is at least `quantum`. `doubted` is the estimate
    /// of the stream that this one repeats, if it repeats one.
    SlowStart { len: u16, first: Rate, top: Rate, doubted: Option<Rate>, quantum: Duration },
    /// Sends p-streams, at a rate that grows in steps to `goal`.
    Ramp { goal: Rate },
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

/// The least number of bursts in a stream, if there is enough data. Fewer do not show at which rate congestion begins.
/// (On a host without a quantum, a burst is a packet.)
const MIN_STREAM_BURSTS: u16 = 8;
/// The least number of bursts in a stream after timeouts.
const SHORTEST_STREAM: u16 = 3;

/// So many low estimates in a row, of bursts, end the search after another protocol's slow start.
const SEARCH_PATIENCE: u32 = 2;

/// How long a stream may last is drawn for each, between this share of [`Parts::longest_stream`] and all of it. The
/// streams of many slow flows all last as long as they may. If that were the same time for all, they would keep step,
/// and their highest rates would come together.
const SHORTEST_SHARE: f64 = 0.85;

/// A share between [`SHORTEST_SHARE`] and 1.
fn draw_share(now: Time) -> f64 {
    SHORTEST_SHARE + (1.0 - SHORTEST_SHARE) * (draw(now) >> 11) as f64 / (1u64 << 53) as f64
}

/// A rate, or the least one if that is higher.
fn at_least(rate: Rate, least: Rate) -> Rate {
    if rate < least { least } else { rate }
}

impl ThalwegSender {
    /// A sender that has sent nothing yet.
    pub fn new(parts: Parts, host: &Conditions) -> ThalwegSender {
        let mut sender = ThalwegSender {
            packet: host.packet,
            mode: Mode::Probing,
            average: parts.initial_rate,
            estimate: None,
            is_new: false,
            feedback: Feedback::default(),
            timeouts: 0,
            ceiling: None,
            outgoing: Outgoing::new(Stream::uniform(0, parts.initial_rate), host),
            top: Stream::top_over_average(parts.len, parts.spread, Layout::AllRising),
            longest: parts.longest_stream,
            rtt: INITIAL_RTT,
            idle: true,
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
    /// is no slow start, as streams around that rate find out whether more is available. There is a search if the other
    /// protocol was in a slow start that nothing had stopped; otherwise it has found its share.
    pub(crate) fn take_over(
        &mut self,
        now: Time,
        rate: Rate,
        rtt: Duration,
        classifier: &LossClassifier,
        is_unstopped: bool,
    ) {
        self.parts.classifier = classifier.clone();
        self.mode = Mode::Probing;
        self.set_average(rate);
        self.rtt = rtt;
        (self.timeouts, self.ceiling, self.idle) = (0, None, false);
        self.parts.rule.forget_queues();
        self.parts.rule.forget_collapses();
        self.parts.rule.search(if is_unstopped { SEARCH_PATIENCE } else { 0 });
        self.arrivals.forget(now, rtt);
        // Estimates of streams from before the other protocol took over are out of date.
        self.estimate = None;
        self.feedback.ignore_before(self.outgoing.next_id());
        self.feedback.restart(now);
        self.outgoing.forget_lateness();
        self.outgoing.wait_from(now);
        self.outgoing.end();
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

    /// Begins the next p-stream.
    fn begin_stream(&mut self, now: Time, pipe: &Pipe) {
        // The sender never waits for more data. If there is less than a full stream, it sends a shorter one.
        let two_thirds = self.duration(self.parts.len * 2 / 3);
        self.longest = self.parts.longest_stream.min(self.rtt.max(two_thirds)).scale(draw_share(now));
        // The rate on a ramp changes with its steps.
        if !matches!(self.mode, Mode::Ramp { .. }) {
            self.follow_estimate(now, pipe);
        }
        self.followed = now;
        let len = self.len_of_data(pipe);
        // A shorter stream has the same range of rates: if it saw only what is near its average rate, a flow at its
        // least rate would climb by a few per cent with each stream.
        let spread = libm::pow(self.parts.spread, f64::from(self.parts.len) / f64::from(len));
        self.outgoing.begin(Stream::new(self.outgoing.next_id(), len, spread, self.average, Layout::AllRising));
    }

    /// Adjusts the average rate for the next stream to the newest estimate, or to the time without one.
    fn follow_estimate(&mut self, now: Time, pipe: &Pipe) {
        let is_new = core::mem::take(&mut self.is_new);
        let average = if let Some(estimate) = self.estimate {
            let bursts = self.len_of_data(pipe);
            let fullness = f64::from(bursts) / f64::from(self.parts.len);
            let (burst, duration, rtt, packet) =
                (self.packets_in_burst(), self.duration(bursts), self.rtt, self.packet);
            // A burst overflows a short buffer by itself, at any rate.
            let feedback = if burst == 1 { rtt + duration } else { Duration::ZERO };
            let excess = self.parts.classifier.excess(feedback);
            let batches = self.outgoing.bursts().batches();
            let start = StreamStart { estimate, is_new, duration, fullness, burst, batches, rtt, packet, excess };
            self.parts.rule.apply(self.average, &start)
        } else {
            let stream = self.duration(self.len());
            let since = now.since(self.followed).min(self.rtt.max(stream));
            self.parts.rule.without_estimate(self.average, since, self.rtt, stream)
        };
        self.set_average(average);
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
        let most = self.average.as_bps() * self.longest.as_secs() / self.burst().as_bits();
        // At the least rate after timeouts, eight bursts would take many seconds, and only their estimate undoes a
        // timeout.
        let least = (MIN_STREAM_BURSTS >> self.timeouts.min(15)).max(SHORTEST_STREAM);
        self.parts.len.min((most as u16).max(least))
    }

    /// The number of bursts in the next stream: no more than there is data for, but one at least.
    fn len_of_data(&self, pipe: &Pipe) -> u16 {
        pipe.backlog.0.div_ceil(self.burst().0).clamp(1, u64::from(self.len())) as u16
    }

    /// How long this many bursts take at the average rate.
    fn duration(&self, bursts: u16) -> Duration {
        self.average.time_for(Bytes(self.burst().0 * u64::from(bursts)))
    }

    /// When the sender gives up waiting for an estimate: in slow start, four round trips after the end of its stream.
    fn feedback_deadline(&self) -> Time {
        let timeout = match self.mode {
            Mode::SlowStart { .. } => {
                let stream = self.duration(self.outgoing.stream().length());
                stream + feedback_timeout(self.rtt, Duration::ZERO)
            }
            Mode::Ramp { .. } | Mode::Probing | Mode::Recovery { .. } => {
                feedback_timeout(self.rtt, self.duration(self.len()))
            }
        };
        self.feedback.deadline(timeout)
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

    fn on_estimate(&mut self, now: Time, stream: u32, estimate: Rate) {
        if !self.feedback.on_estimate(now, stream) {
            return;
        }
        let estimate = at_most_highest(estimate);
        self.timeouts = (self.timeouts - 1).max(0);
        (self.estimate, self.is_new) = (Some(estimate), true);
        match self.mode {
            Mode::SlowStart { .. } => self.on_estimate_in_slow_start(estimate),
            Mode::Ramp { .. } => self.on_estimate_in_ramp(estimate),
            Mode::Probing | Mode::Recovery { .. } => {}
        }
    }
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
                Mode::Ramp { .. } | Mode::Probing | Mode::Recovery { .. } => self.begin_stream(now, pipe),
            }
        }
        self.outgoing.next(now)
    }

    fn on_send(&mut self, now: Time, size: Bytes, pipe: &Pipe) -> Stamp {
        self.idle = false;
        self.outgoing.on_send(now, size, pipe)
    }

    fn on_ack(&mut self, now: Time, ack: &Ack) {
        self.idle = ack.in_flight == Bytes(0);
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
        if ack.recovery
            && matches!(self.mode, Mode::Ramp { .. } | Mode::Probing)
            && self.parts.classifier.exceeds_by_far()
        {
            self.begin_recovery(now, Interrupted::Probing);
        }
        if let Some(Report::Available { stream, rate, interval }) = ack.report {
            self.on_estimate(now, stream, Rate::from_bps(f64::from(rate)));
            // Batches that a stream of slow start shows do not count before its estimate does, so that a host that can
            // time any gap does not repeat it in bursts. A batch's time apart, these would overload the path for many
            // batches, and flows that begin together would all take what one of them finds.
            self.outgoing.on_batches(now, Duration::from_micros(interval.into()));
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
            // The host waits for packets that are to be sent again, and these wait for their time, which may be later
            // than the host's timer. The path has lost nothing since.
            Loss::Timeout if self.idle => {}
            Loss::Timeout => {
                self.idle = true;
                self.time_out(now);
            }
            Loss::Event => self.on_loss_event(now),
        }
    }

    fn state(&self) -> State {
        let (phase, rate) = match self.mode {
            Mode::SlowStart { .. } => (Phase::SlowStart, self.average),
            Mode::Ramp { .. } | Mode::Probing => (Phase::Probing, self.average),
            Mode::Recovery { .. } => (Phase::Recovery, self.recovery_rate()),
        };
        State { window: None, rate: Some(rate), phase }
    }

    fn available(&self) -> Option<Rate> {
        self.estimate
    }
}
