//! The share of packets that is lost, and the share that transmission errors explain, which may be more than is
//! expected of every path.
//!
//! Losses of a full buffer depend on the rates of its flows, and errors do not. A flow that loses more than errors
//! explain lowers its rate, which is a trial: losses that half of the rate does not end are errors from then on. (In
//! the same way a queue that half of the rate does not drain is another's: [`super::rate_rule`].) Sender and receiver
//! each keep count, and learn without a message.
//!
//! Half of one flow's rate does not end the losses of many. So a trial finds nothing while a queue stands: the path of
//! a flow that loses packets to errors alone is empty at half of its rate, and the short buffer of many flows is not.
//! Behind a policer, which delays nothing, this does not help. But errors do not become more. If more is lost than a
//! trial found, it was wrong, and the next trial has to see twice as many losses.

/// What errors explain, and what is lost. See the [module](self).
#[derive(Clone, Debug)]
pub struct ErrorShare {
    /// The share of packets whose loss errors explain on every path; 0: errors explain no losses.
    least: f64,
    /// The largest share that errors may turn out to explain.
    most: f64,
    /// The share of packets whose loss errors explain on this path.
    errors: f64,
    /// The largest measured share of lost packets that these errors may cause by chance.
    chance: f64,
    /// The share of packets that is lost, a moving average over about [`MEMORY`] of them.
    lost: f64,
    trial: Option<Trial>,
    /// The packets since `errors` was last compared with what is lost.
    lately: Count,
    /// The packets since [`ErrorShare::excess`] was last asked for.
    unanswered: Count,
    /// How many times as many losses as at first a trial has to see.
    doubt: f64,
}

/// A flow sends at half of its rate or less, to find out whether that ends the losses.
#[derive(Clone, Copy, Debug)]
struct Trial {
    /// The highest rate at which more was lost than errors explain, bits per second.
    rate: f64,
    /// The packets that were sent at half of this rate or less.
    slow: Count,
    /// The sum, over these packets, of the queueing delays, as shares of the longest.
    queue: f64,
}

/// A number of packets, and how many of them were lost.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    sent: f64,
    lost: f64,
}

/// The number of packets that the share of losses is averaged over: fifteen streams of 60.
const MEMORY: f64 = 900.0;
/// Errors do not explain the losses if the share of lost packets exceeds that of errors by more than this many standard
/// deviations. The shares are compared upon every packet, so that three would be exceeded by chance every minute at 100
/// Mbps.
pub(super) const DEVIATIONS: f64 = 4.0;
/// The share of the rate that is tried.
const HALF: f64 = 0.5;
/// A trial ends after so many losses, or after as many packets as errors explain so many losses of.
const ENOUGH: f64 = 10.0;
/// The largest factor on this number after trials that were wrong.
const MOST_DOUBT: f64 = 16.0;
/// A trial finds no errors if the mean queueing delay meanwhile is more than this share of the longest.
const EMPTY: f64 = 0.05;
/// A queue whose delay exceeds this share of the longest may have been full.
pub(super) const FULL_QUEUE_SHARE: f64 = 0.75;
/// A trial found no errors if it lost more than the largest share of errors by this many standard deviations of its
/// number of losses.
const TRIAL_DEVIATIONS: f64 = 2.0;

impl Count {
    fn add(&mut self, sent: f64, lost: f64) {
        self.sent += sent;
        self.lost += lost;
    }
}

impl ErrorShare {
    /// Errors explain the loss of the share `least` of packets on every path (0: of none on any), and may turn out to
    /// explain the share `most`.
    pub fn new(least: f64, most: f64) -> ErrorShare {
        let chance = with_chance(least);
        ErrorShare {
            least,
            most,
            errors: least,
            chance,
            lost: 0.0,
            trial: None,
            lately: Count::default(),
            unanswered: Count::default(),
            doubt: 1.0,
        }
    }

    /// The share of packets whose loss errors explain.
    pub fn get(&self) -> f64 {
        self.errors
    }

    /// Of this number of packets (`sent`), which were sent at this `rate` (bits per second) or less, `lost` were lost,
    /// while the queueing delay was the share `queue` of the longest. Returns whether errors explain more than before.
    pub fn on_packets(&mut self, rate: f64, sent: f64, lost: f64, queue: f64) -> bool {
        if self.least == 0.0 || sent <= 0.0 {
            return false;
        }
        self.lost += (sent / MEMORY).min(1.0) * (lost / sent - self.lost);
        self.lately.add(sent, lost);
        self.unanswered.add(sent, lost);
        if self.lately.sent >= MEMORY {
            let lost = self.lately.lost;
            let share = (lost + DEVIATIONS * libm::sqrt(lost)) / self.lately.sent;
            self.set_errors(share.max(self.least).min(self.errors));
            self.lately = Count::default();
        }
        self.least < self.most && self.pursue_trial(rate, sent, lost, queue)
    }

    fn pursue_trial(&mut self, rate: f64, sent: f64, lost: f64, queue: f64) -> bool {
        if self.errors > self.least && self.exceeds_chance() {
            // What a trial found are not errors, as these do not become more.
            self.set_errors(self.least);
            self.doubt = (self.doubt * 2.0).min(MOST_DOUBT);
            self.trial = None;
        }
        let begin = Trial { rate, slow: Count::default(), queue: 0.0 };
        let (exceeds, by_two_deviations) = (self.exceeds(), self.lost > (self.errors + self.chance) / 2.0);
        let Some(trial) = &mut self.trial else {
            self.trial = by_two_deviations.then_some(begin);
            return false;
        };
        if rate > trial.rate * HALF {
            if !exceeds {
                self.trial = None;
            } else if rate > trial.rate {
                *trial = begin;
            }
            return false;
        }
        // Losses of a full queue are counted neither as lost nor as sent.
        if queue < FULL_QUEUE_SHARE {
            trial.slow.add(sent, lost);
        } else {
            trial.slow.add(sent - lost, 0.0);
        }
        trial.queue += queue * sent;
        let Trial { slow, queue, .. } = *trial;
        let enough = ENOUGH * self.doubt;
        if slow.lost < enough && slow.sent * self.errors < enough {
            return false;
        }
        self.trial = None;
        if queue > EMPTY * slow.sent {
            return false;
        }
        // A trial that loses more than errors may explain overflows a queue: half of the rate can exceed the capacity,
        // too.
        let too_many = slow.lost - TRIAL_DEVIATIONS * libm::sqrt(slow.lost) > self.most * slow.sent;
        if too_many || slow.lost <= self.errors * slow.sent || self.errors >= self.most {
            return false;
        }
        // How many are errors is found out from the next packets.
        self.set_errors(self.most);
        self.lately = Count::default();
        true
    }

    /// Earlier losses no longer matter: the measured share of lost packets is lowered to that of errors.
    pub fn forget(&mut self) {
        self.lost = self.lost.min(self.errors);
    }

    /// Whether the share of lost packets exceeds that of errors. This may happen by chance.
    pub fn exceeds(&self) -> bool {
        self.lost > self.errors
    }

    /// Whether the share of lost packets exceeds that of errors by more than chance explains.
    pub fn exceeds_chance(&self) -> bool {
        self.lost > self.chance
    }

    /// If more is lost than errors explain and chance adds, by how much the share of packets that were lost since this
    /// was last asked exceeds that of errors; negative if fewer were.
    pub fn excess(&mut self) -> Option<f64> {
        let Count { sent, lost } = core::mem::take(&mut self.unanswered);
        self.exceeds_chance().then(|| if sent > 0.0 { lost / sent - self.errors } else { 0.0 })
    }

    /// Whether the share of lost packets exceeds that of errors by this share more than chance explains.
    pub fn exceeds_chance_by(&self, share: f64) -> bool {
        self.lost > self.chance + share
    }

    fn set_errors(&mut self, errors: f64) {
        (self.errors, self.chance) = (errors, with_chance(errors));
    }
}

/// The largest share of lost packets that may be measured by chance where errors lose the share `errors`.
fn with_chance(errors: f64) -> f64 {
    // An exponentially weighted mean over n packets varies as a plain one over 2n does.
    errors + DEVIATIONS * libm::sqrt(errors * (1.0 - errors) / (2.0 * MEMORY))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MBPS: f64 = 1e6;

    /// Packets of which each `nth` is lost, in streams of 50. Returns whether errors explain more than before.
    fn send(share: &mut ErrorShare, packets: u32, nth: u32, rate: f64, queue: f64) -> bool {
        let lost = |from: u32| (from..from + 50).filter(|i| i % nth == 0).count() as f64;
        (0..packets / 50).fold(false, |found, i| found | share.on_packets(rate, 50.0, lost(i * 50), queue))
    }

    #[test]
    fn losses_that_half_of_the_rate_does_not_end_are_errors() {
        let mut share = ErrorShare::new(0.02, 0.1);
        assert!(!send(&mut share, 3000, 20, 10.0 * MBPS, 0.0), "at the same rate, nothing is learned");
        assert!(share.exceeds_chance() && share.trial.is_some());
        assert!(!send(&mut share, 1000, 20, 6.0 * MBPS, 0.0), "more than half of the rate");
        assert!(send(&mut share, 300, 20, 5.0 * MBPS, 0.0));
        assert_eq!(share.get(), 0.1, "how many are errors is not known yet");
        send(&mut share, 900, 20, 5.0 * MBPS, 0.0);
        assert!(share.get() > 0.05 && share.get() < 0.09 && !share.exceeds_chance());
    }

    #[test]
    fn losses_that_end_at_half_of_the_rate_are_none() {
        let mut share = ErrorShare::new(0.02, 0.1);
        send(&mut share, 3000, 20, 10.0 * MBPS, 0.0);
        assert!(!send(&mut share, 3000, 100, 5.0 * MBPS, 0.0));
        assert_eq!((share.get(), share.trial.is_some(), share.exceeds_chance()), (0.02, false, false));
    }

    #[test]
    fn losses_of_a_full_queue_are_none_either() {
        let mut share = ErrorShare::new(0.02, 0.1);
        send(&mut share, 3000, 20, 10.0 * MBPS, 1.0);
        assert!(!send(&mut share, 3000, 20, 5.0 * MBPS, 1.0));
        assert_eq!(share.get(), 0.02);
    }

    #[test]
    fn errors_explain_less_once_less_is_lost() {
        let mut share = ErrorShare::new(0.02, 0.1);
        send(&mut share, 3000, 12, 10.0 * MBPS, 0.0);
        assert!(send(&mut share, 300, 12, 1.0 * MBPS, 0.0) && share.get() == 0.1 && !share.exceeds_chance());
        send(&mut share, 20_000, 50, 10.0 * MBPS, 0.0);
        assert!(share.get() < 0.05 && share.get() > 0.02);
        send(&mut share, 20_000, 1000, 10.0 * MBPS, 0.0);
        assert_eq!(share.get(), 0.02);
    }

    #[test]
    fn errors_do_not_become_more() {
        let mut share = ErrorShare::new(0.02, 0.1);
        // The number of packets at half of the rate after which a trial finds errors.
        let finds = |share: &mut ErrorShare| {
            send(share, 3000, 20, 10.0 * MBPS, 0.0);
            (1..).find(|_| send(share, 100, 20, 1.0 * MBPS, 0.0)).unwrap() * 100
        };
        assert_eq!(finds(&mut share), 200, "ten losses");
        send(&mut share, 900, 4, 10.0 * MBPS, 0.0);
        assert!(share.get() == 0.02 && share.exceeds_chance(), "a fourth of the packets is more than was found");
        assert_eq!(finds(&mut share), 400, "the next trial has to see twice as many losses");
    }

    #[test]
    fn while_a_queue_stands_a_trial_finds_nothing() {
        let found = |queue| {
            let mut share = ErrorShare::new(0.02, 0.1);
            send(&mut share, 3000, 20, 10.0 * MBPS, queue);
            send(&mut share, 3000, 20, 5.0 * MBPS, queue)
        };
        assert!(found(0.04) && !found(0.06));
    }

    #[test]
    fn the_excess_of_losses_is_that_of_the_packets_since_the_last_question() {
        let mut share = ErrorShare::new(0.02, 0.0);
        send(&mut share, 3000, 50, MBPS, 0.0);
        assert_eq!(share.excess(), None, "no more than errors explain");
        send(&mut share, 3000, 10, MBPS, 0.0);
        assert_eq!(share.excess().map(|excess| (excess * 1e3).round()), Some(80.0));
        send(&mut share, 100, 1000, MBPS, 0.0);
        assert_eq!(share.excess(), Some(-0.01), "one of a hundred");
        assert_eq!(share.excess(), Some(0.0), "nothing is known");
    }

    #[test]
    fn a_queue_that_half_of_the_rate_overflows_is_none() {
        let mut share = ErrorShare::new(0.02, 0.1);
        send(&mut share, 3000, 2, 10.0 * MBPS, 0.0);
        assert!(!send(&mut share, 1000, 2, 5.0 * MBPS, 0.0));
        assert_eq!(share.get(), 0.02);
    }

    #[test]
    fn without_errors_none_are_learned() {
        let mut share = ErrorShare::new(0.0, 0.1);
        send(&mut share, 3000, 20, 10.0 * MBPS, 0.0);
        assert!(!send(&mut share, 3000, 20, 1.0 * MBPS, 0.0) && share.get() == 0.0);
    }
}
