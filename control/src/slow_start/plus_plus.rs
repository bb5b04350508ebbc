//! HyStart++ (RFC 9406).
//!
//! ```text
//!   +-----------+  round-trip time rises   +--------------+  CSS_ROUNDS
//!   | SlowStart | -----------------------> | Conservative | ------------> congestion avoidance
//!   +-----------+ <----------------------- +--------------+
//!                  and falls below that
//! ```

use super::round::Round;
use super::{SAMPLES, threshold};
use crate::units::{Duration, Time};

/// By how many packets the window grows for one acknowledgment at most, if the host does not pace (L).
const LIMIT: f64 = 8.0;

/// How many times slower the window grows in Conservative Slow Start.
const CSS_GROWTH_DIVISOR: f64 = 4.0;

/// How many rounds Conservative Slow Start lasts, of which the first may be a part of one.
const CSS_ROUNDS: u32 = 5;

/// The state in the first slow start.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PlusPlus {
    round: Round,
    /// lastRoundMinRTT: the least round-trip time of the round before, if it had any.
    last: Option<Duration>,
    stage: Stage,
    /// The host spaces packets: L is infinite.
    paced: bool,
}

#[derive(Clone, Copy, Debug, Default)]
enum Stage {
    /// Standard slow start.
    #[default]
    SlowStart,
    /// Conservative Slow Start (CSS).
    Conservative {
        /// cssBaselineMinRtt: the round's least round-trip time when it began.
        baseline: Duration,
        /// How many rounds have ended since.
        rounds: u32,
    },
}

impl PlusPlus {
    /// Before the first slow start. The host is `paced` if it spaces packets.
    pub fn new(paced: bool) -> PlusPlus {
        PlusPlus { paced, ..PlusPlus::default() }
    }

    /// An acknowledgment of `acked` packets arrives. Returns by how much the window may grow per acknowledged packet;
    /// none ends slow start.
    pub fn on_ack(&mut self, now: Time, rtt: Duration, acked: f64) -> Option<f64> {
        if let Some(ended) = self.round.end(now, rtt) {
            self.last = ended.least;
            if let Stage::Conservative { rounds, .. } = &mut self.stage {
                *rounds += 1;
                if *rounds == CSS_ROUNDS {
                    return None;
                }
            }
        }
        let current = self.round.sample(rtt);
        if self.round.samples >= SAMPLES {
            self.stage = self.stage(current);
        }
        let limited = if acked > LIMIT && !self.paced { LIMIT / acked } else { 1.0 };
        Some(match self.stage {
            Stage::SlowStart => limited,
            Stage::Conservative { .. } => limited / CSS_GROWTH_DIVISOR,
        })
    }

    /// Whether this is Conservative Slow Start.
    pub fn is_conservative(&self) -> bool {
        matches!(self.stage, Stage::Conservative { .. })
    }

    /// The stage after a round-trip time, with which the round's least is `current`.
    fn stage(&self, current: Duration) -> Stage {
        match (self.stage, self.last) {
            (Stage::SlowStart, Some(last)) if current >= last + threshold(last) => {
                Stage::Conservative { baseline: current, rounds: 0 }
            }
            // The exit was spurious.
            (Stage::Conservative { baseline, .. }, _) if current < baseline => Stage::SlowStart,
            (stage, _) => stage,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A flow in slow start whose rounds the test makes up.
    struct Rounds {
        plus_plus: PlusPlus,
        now: Time,
    }

    impl Rounds {
        fn new() -> Rounds {
            Rounds { plus_plus: PlusPlus::default(), now: Time::ZERO }
        }

        /// A round of `packets` acknowledgments of a packet each, 1 ms apart, after round-trip times of `ms`
        /// milliseconds. Returns the growth for the last.
        fn round(&mut self, packets: u32, ms: u64) -> Option<f64> {
            let rtt = Duration::from_millis(ms);
            let first = self.now + rtt;
            let mut growth = Some(0.0);
            for i in 0..packets {
                let now = first + Duration::from_millis(u64::from(i));
                growth = self.plus_plus.on_ack(now, rtt, 1.0);
            }
            self.now = first;
            growth
        }
    }

    #[test]
    fn a_longer_round_trip_makes_growth_four_times_slower_for_five_rounds_and_then_ends_slow_start() {
        let mut flow = Rounds::new();
        assert_eq!([100, 100, 112].map(|ms| flow.round(20, ms)), [Some(1.0); 3], "less than an eighth longer");
        assert_eq!([126, 130, 140, 150, 160].map(|ms| flow.round(20, ms)), [Some(0.25); 5]);
        assert_eq!(flow.round(1, 170), None);
    }

    #[test]
    fn a_round_of_fewer_than_eight_round_trip_times_says_nothing() {
        let mut flow = Rounds::new();
        flow.round(20, 100);
        assert_eq!(flow.round(7, 200), Some(1.0));
        flow.round(20, 100);
        assert_eq!(flow.round(8, 200), Some(0.25));
    }

    #[test]
    fn a_round_trip_shorter_than_at_the_exit_resumes_slow_start() {
        let mut flow = Rounds::new();
        let growth = [100, 130, 128, 100, 100, 100, 100].map(|ms| flow.round(20, ms));
        assert_eq!(growth[1], Some(0.25));
        assert_eq!(growth[2..], [Some(1.0); 5], "128 ms is less than 130 ms, and no eighth more than that");
    }

    #[test]
    fn an_acknowledgment_of_many_packets_counts_as_eight() {
        let mut flow = PlusPlus::default();
        let at = |ms| Time::ZERO + Duration::from_millis(ms);
        assert_eq!(flow.on_ack(at(100), Duration::from_millis(100), 8.0), Some(1.0));
        assert_eq!(flow.on_ack(at(101), Duration::from_millis(101), 32.0), Some(0.25), "32 x 0.25 = 8");
    }
}
