//! Recovery from losses that transmission errors do not explain: how far the rate is lowered, and when probing goes on.

use super::slow_start::AFTER_SLOW_START;
use super::{Interrupted, Mode, ThalwegSender};
use crate::pstream::Stream;
use crate::roles::Ack;
use crate::thalweg::delivery::Delivery;
use crate::units::{Bytes, Rate, Time};

/// The least number of bursts over which recovery measures the rate at which they arrive.
const MIN_DELIVERED_BURSTS: u64 = 8;
/// Factor on the average rate after a loss if no estimate came since the loss before it: then losses are all that the
/// flow hears of congestion, as they are for TCP.
const UNHEARD: f64 = 0.5;
/// After a loss, the average rate is at most this many times the rate at which packets arrive.
const MOST_OVER_ARRIVALS: f64 = 2.0;
/// The same if streams of the latter rate have bursts: a buffer of a few packets drops most of a burst, at any rate.
const MOST_OVER_BURSTS: f64 = 8.0;

impl ThalwegSender {
    /// A loss event begins recovery, unless an error explains it, or the rate follows the losses of a short buffer.
    pub(super) fn on_loss_event(&mut self, now: Time) {
        if self.parts.classifier.needs_no_recovery() {
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
            Mode::Ramp { .. } | Mode::Probing => Interrupted::Probing,
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

    /// Begins recovery, at a rate that depends on what the loss `interrupted`.
    pub(super) fn begin_recovery(&mut self, now: Time, interrupted: Interrupted) {
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
            self.parts.rule.on_loss();
        }
        let delivery = Delivery::of_packets_sent_from(now, self.rtt);
        self.mode = Mode::Recovery { interrupted, delivery };
        self.outgoing.begin(Stream::uniform(self.outgoing.next_id(), self.recovery_rate()));
    }

    /// Factor on the average rate after a loss.
    fn kept(&self, interrupted: Interrupted) -> f64 {
        match interrupted {
            Interrupted::SlowStart => AFTER_SLOW_START,
            Interrupted::Probing => self.parts.beta,
        }
    }

    /// The rate of recovery. Unlike RAPID's, it is reduced at once: the average rate may come from a time when fewer
    /// flows shared the path.
    pub(super) fn recovery_rate(&self) -> Rate {
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

    /// Ends recovery, if it goes on: probing begins at the rate that recovery leaves.
    pub(super) fn end_recovery(&mut self, now: Time) {
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
    pub(super) fn follow_delivery(&mut self, now: Time, ack: &Ack) {
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
    pub(super) fn brake(&mut self) -> bool {
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
}
