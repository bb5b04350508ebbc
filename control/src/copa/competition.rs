//! Whether a flow that fills the buffer takes part, and the delta to compete with it (section 2.2).
//!
//! With Copa flows alone, the queue is nearly empty at least once in five round trips. If it was not, 1/delta follows
//! the additive increase and multiplicative decrease of the flows that fill the buffer.

use super::Copa;
use crate::units::{Duration, Time};

/// After how many round trips without a nearly empty queue a flow competes.
const FULL_ROUNDS: u32 = 5;
/// By how much 1/delta grows per round trip in competition.
const INCREASE: f64 = 1.0;
/// What a loss leaves of 1/delta in competition.
const DECREASE: f64 = 0.5;

/// The mode of one flow.
#[derive(Clone, Debug)]
pub(super) struct Competition {
    /// Whether there is a competitive mode.
    enabled: bool,
    /// 1/delta in the default mode.
    default: f64,
    /// The queue is nearly empty if the queueing delay is at most this share of its range in the last round trips.
    nearly_empty: f64,
    mode: Mode,
    /// When the present round trip began.
    begin: Time,
    /// Whether the queue was nearly empty in it.
    emptied: bool,
    /// How many round trips have ended since one in which the queue was nearly empty.
    full_rounds: u32,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    Default,
    Competitive {
        /// 1/delta, no less than in the default mode.
        inverse: f64,
    },
}

impl Competition {
    /// In the default mode.
    pub(super) fn new(parameters: &Copa) -> Competition {
        Competition {
            enabled: parameters.competitive_mode,
            default: 1.0 / parameters.delta,
            nearly_empty: parameters.nearly_empty,
            mode: Mode::Default,
            begin: Time::ZERO,
            emptied: false,
            full_rounds: 0,
        }
    }

    /// 1/delta: at how many of its packets in the queue the flow aims.
    pub(super) fn inverse_delta(&self) -> f64 {
        match self.mode {
            Mode::Default => self.default,
            Mode::Competitive { inverse } => inverse,
        }
    }

    /// An acknowledgment of a packet that was sent `rtt` ago shows a queueing delay of `queueing` seconds. In the last
    /// four round trips, the longest was `range` seconds. Round trips in which the window is not `steady` do not make
    /// the flow compete: it may still have to empty the queue that it has built.
    pub(super) fn on_ack(&mut self, now: Time, rtt: Duration, queueing: f64, range: f64, steady: bool) {
        // Without any queue, both are zero.
        if queueing <= self.nearly_empty * range {
            (self.emptied, self.mode) = (true, Mode::Default);
        }
        if now - rtt >= self.begin {
            self.full_rounds = if self.emptied { 0 } else { self.full_rounds + u32::from(steady) };
            (self.begin, self.emptied) = (now, false);
            if self.enabled && self.full_rounds >= FULL_ROUNDS {
                self.mode = match self.mode {
                    Mode::Default => Mode::Competitive { inverse: self.default },
                    Mode::Competitive { inverse } => Mode::Competitive { inverse: inverse + INCREASE },
                };
            }
        }
    }

    /// Packets were lost, for the first time in a window of data.
    pub(super) fn on_loss(&mut self) {
        if let Mode::Competitive { inverse } = &mut self.mode {
            *inverse = (*inverse * DECREASE).max(self.default);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(100);

    fn competition() -> Competition {
        Competition::new(&Copa { nearly_empty: 0.1, ..Copa::default() })
    }

    /// Tells of a queueing delay in ms at the end of round trip `round`, after queues of up to 40 ms. Returns 1/delta.
    fn see(competition: &mut Competition, round: u64, queueing: f64) -> f64 {
        competition.on_ack(Time(RTT.0 * round), RTT, queueing / 1e3, 0.04, true);
        competition.inverse_delta()
    }

    #[test]
    fn a_queue_that_is_never_nearly_empty_in_five_round_trips_is_competed_for() {
        let mut competition = competition();
        assert_eq!(see(&mut competition, 1, 4.0), 2.0); // a tenth of 40 ms
        for round in 2..=6 {
            assert_eq!(see(&mut competition, round, 4.1), 2.0, "{round}"); // from the sixth on, it competes
        }
        for (round, expected) in [(7, 3.0), (8, 4.0), (9, 5.0), (10, 6.0)] {
            assert_eq!(see(&mut competition, round, 20.0), expected);
        }
        competition.on_loss();
        assert_eq!(competition.inverse_delta(), 3.0);
        competition.on_loss();
        assert_eq!(competition.inverse_delta(), 2.0, "no less than in the default mode");
        assert_eq!(see(&mut competition, 11, 20.0), 3.0);
        assert_eq!(see(&mut competition, 12, 3.9), 2.0, "the default mode again");
        assert_eq!(see(&mut competition, 13, 20.0), 2.0);
    }

    #[test]
    fn a_window_that_is_not_steady_waits_until_it_is() {
        let mut competition = competition();
        for round in 1..=20 {
            competition.on_ack(Time(RTT.0 * round), RTT, 0.02, 0.04, false);
        }
        for (round, expected) in (21..).zip([2.0, 2.0, 2.0, 2.0, 2.0, 3.0]) {
            assert_eq!(see(&mut competition, round, 20.0), expected, "{round}");
        }
    }

    #[test]
    fn losses_change_nothing_in_the_default_mode() {
        let mut competition = Competition::new(&Copa { delta: 0.1, ..Copa::default() });
        see(&mut competition, 1, 0.0);
        competition.on_loss();
        assert_eq!(competition.inverse_delta(), 10.0);
    }

    #[test]
    fn without_the_mode_delta_stays() {
        let mut competition = Competition::new(&Copa { competitive_mode: false, ..Copa::default() });
        assert!((1..20).all(|round| see(&mut competition, round, 20.0) == 2.0));
    }

    #[test]
    fn a_path_without_any_queue_is_not_competed_for() {
        let mut competition = competition();
        for round in 1..20 {
            competition.on_ack(Time(RTT.0 * round), RTT, 0.0, 0.0, true);
            assert_eq!(competition.inverse_delta(), 2.0);
        }
    }
}
