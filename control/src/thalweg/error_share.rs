//! The share of packets that is lost, and the share that transmission errors explain, which may be more than is
//! expected of every path.
//!
//! Losses of a full buffer depend on the rates of its flows, and errors do not. A flow that loses more than errors
//! explain lowers its rate, which is a trial: losses that half of the rate does not end are errors from then on. (In
//! the same way a queue that half of the rate does not drain is another's: [`super::rate_rule`].) Sender and receiver
//! each keep count, and learn without a message.

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
}

/// A flow sends at half of its rate or less, to find out whether that ends the losses.
#[derive(Clone, Copy, Debug)]
struct Trial {
    /// The highest rate at which more was lost than errors explain, bits per second.
    rate: f64,
    /// The packets that were sent at half of this rate or less.
    slow: Count,
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
        ErrorShare { least, most, errors: least, chance, lost: 0.0, trial: None, lately: Count::default() }
    }

    /// The share of packets whose loss errors explain.
    pub fn get(&self) -> f64 {
        self.errors
    }

    /// Of this number of packets (`sent`), which were sent at this `rate` (bits per second) or less, `lost` were lost,
    /// and no queue can have overflowed if the path `has_room`. Returns whether errors explain more than before.
    pub fn on_packets(&mut self, rate: f64, sent: f64, lost: f64, has_room: bool) -> bool {
        if self.least == 0.0 || sent <= 0.0 {
            return false;
        }
        self.lost += (sent / MEMORY).min(1.0) * (lost / sent - self.lost);
        self.lately.add(sent, lost);
        if self.lately.sent >= MEMORY {
            let lost = self.lately.lost;
            let share = (lost + DEVIATIONS * libm::sqrt(lost)) / self.lately.sent;
            self.set_errors(share.max(self.least).min(self.errors));
            self.lately = Count::default();
        }
        self.least < self.most && self.pursue_trial(rate, sent, lost, has_room)
    }

    fn pursue_trial(&mut self, rate: f64, sent: f64, lost: f64, has_room: bool) -> bool {
        let exceeds = self.exceeds_chance();
        let Some(trial) = &mut self.trial else {
            self.trial = exceeds.then_some(Trial { rate, slow: Count::default() });
            return false;
        };
        if rate > trial.rate * HALF {
            if !exceeds {
                self.trial = None;
            } else if rate > trial.rate {
                *trial = Trial { rate, slow: Count::default() };
            }
            return false;
        }
        // Losses of a full queue are counted neither as lost nor as sent.
        if has_room {
            trial.slow.add(sent, lost);
        } else {
            trial.slow.add(sent - lost, 0.0);
        }
        let slow = trial.slow;
        if slow.lost < ENOUGH && slow.sent * self.errors < ENOUGH {
            return false;
        }
        self.trial = None;
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
    fn send(share: &mut ErrorShare, packets: u32, nth: u32, rate: f64, has_room: bool) -> bool {
        let lost = |from: u32| (from..from + 50).filter(|i| i % nth == 0).count() as f64;
        (0..packets / 50).fold(false, |found, i| found | share.on_packets(rate, 50.0, lost(i * 50), has_room))
    }

    #[test]
    fn losses_that_half_of_the_rate_does_not_end_are_errors() {
        let mut share = ErrorShare::new(0.02, 0.1);
        assert!(!send(&mut share, 3000, 20, 10.0 * MBPS, true), "at the same rate, nothing is learned");
        assert!(share.exceeds_chance() && share.trial.is_some());
        assert!(!send(&mut share, 1000, 20, 6.0 * MBPS, true), "more than half of the rate");
        assert!(send(&mut share, 300, 20, 5.0 * MBPS, true));
        assert_eq!(share.get(), 0.1, "how many are errors is not known yet");
        send(&mut share, 900, 20, 5.0 * MBPS, true);
        assert!(share.get() > 0.05 && share.get() < 0.09 && !share.exceeds_chance());
    }

    #[test]
    fn losses_that_end_at_half_of_the_rate_are_none() {
        let mut share = ErrorShare::new(0.02, 0.1);
        send(&mut share, 3000, 20, 10.0 * MBPS, true);
        assert!(!send(&mut share, 3000, 100, 5.0 * MBPS, true));
        assert_eq!((share.get(), share.trial.is_some(), share.exceeds_chance()), (0.02, false, false));
    }

    #[test]
    fn losses_of_a_full_queue_are_none_either() {
        let mut share = ErrorShare::new(0.02, 0.1);
        send(&mut share, 3000, 20, 10.0 * MBPS, false);
        assert!(!send(&mut share, 3000, 20, 5.0 * MBPS, false));
        assert_eq!(share.get(), 0.02);
    }

    #[test]
    fn errors_explain_a_tenth_at_most_and_less_once_less_is_lost() {
        let mut share = ErrorShare::new(0.02, 0.1);
        send(&mut share, 3000, 6, 10.0 * MBPS, true);
        assert!(send(&mut share, 1000, 6, 1.0 * MBPS, true));
        assert!(share.get() == 0.1 && share.exceeds_chance(), "a sixth is more than that");
        send(&mut share, 3000, 6, 10.0 * MBPS, true);
        assert!(!send(&mut share, 1000, 6, 1.0 * MBPS, true), "nothing new");
        send(&mut share, 20_000, 50, 10.0 * MBPS, true);
        assert!(share.get() < 0.05 && share.get() > 0.02);
        send(&mut share, 20_000, 1000, 10.0 * MBPS, true);
        assert_eq!(share.get(), 0.02);
    }

    #[test]
    fn a_queue_that_half_of_the_rate_overflows_is_none() {
        let mut share = ErrorShare::new(0.02, 0.1);
        send(&mut share, 3000, 2, 10.0 * MBPS, true);
        assert!(!send(&mut share, 1000, 2, 5.0 * MBPS, true));
        assert_eq!(share.get(), 0.02);
    }

    #[test]
    fn without_errors_none_are_learned() {
        let mut share = ErrorShare::new(0.0, 0.1);
        send(&mut share, 3000, 20, 10.0 * MBPS, true);
        assert!(!send(&mut share, 3000, 20, 1.0 * MBPS, true) && share.get() == 0.0);
    }
}
