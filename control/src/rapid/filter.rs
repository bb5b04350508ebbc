//! From estimates to the average rate (RAPID-2009, equation 6; PACKET-SCALE-2017, equations 5 and 6).

use crate::units::{Duration, Rate};

/// How the average rate follows the estimates of the available bandwidth.
#[derive(Clone, Debug)]
pub struct Filter {
    /// Time over which an increase is adopted.
    pub tau: Duration,
    /// Number of streams over which a decrease is adopted.
    pub eta: f64,
    /// Limits the increase, if there is such a limit.
    pub limit: Option<StepLimit>,
}

impl Filter {
    /// The average rate of a new stream that would last `length` at the present `average`, given the newest `estimate`.
    pub fn apply(&mut self, average: Rate, estimate: Rate, length: Duration) -> Rate {
        let (now, target) = (average.as_bps(), estimate.as_bps());
        let share = (length.as_secs() / self.tau.as_secs()).min(1.0);
        let limit = self.limit.as_mut().map_or(f64::INFINITY, |limit| limit.update(now, target, share));
        Rate::from_bps(if target > now {
            now + share * (target - now).min(limit) // equation 5
        } else {
            now + (target - now) / self.eta // equation 6
        })
    }
}

/// The self-tuning limit of `thalweg`: when estimates collapse, the senders together climb faster than their feedback comes
/// back, and each has to climb more gently.
#[derive(Clone, Debug)]
pub struct StepLimit {
    /// The most by which the average may aim above itself, as a multiple of itself: now, and its bounds.
    kappa: f64,
    lowest: f64,
    highest: f64,
    /// What is added to that, so that a slow flow moves at all.
    floor: Rate,
    /// Factor on a collapse; growth per tau otherwise.
    back_off: f64,
    regrow: f64,
}

impl StepLimit {
    /// A limit between `lowest` and `highest` times the average, plus `floor`.
    pub fn new(lowest: f64, highest: f64, floor: Rate, back_off: f64, regrow: f64) -> StepLimit {
        StepLimit { kappa: highest, lowest, highest, floor, back_off, regrow }
    }

    fn update(&mut self, average: f64, estimate: f64, share: f64) -> f64 {
        self.kappa = if estimate < average / 2.0 {
            (self.kappa * self.back_off).max(self.lowest)
        } else {
            (self.kappa * (1.0 + self.regrow * share)).min(self.highest)
        };
        self.kappa * average + self.floor.as_bps()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn converges_in_tau_upwards_and_in_eta_streams_downwards() {
        let mut filter = Filter { tau: Duration::from_millis(250), eta: 1.5, limit: None };
        let (mut average, target, length) = (Rate::from_mbps(100.0), Rate::from_mbps(900.0), Duration::from_millis(1));
        for _ in 0..250 {
            average = filter.apply(average, target, length);
        }
        // 1 - 1/e of the way after tau.
        assert!((average.as_mbps() - (900.0 - 800.0 / std::f64::consts::E)).abs() < 1.0, "{average}");
        assert_eq!(filter.apply(Rate::from_mbps(900.0), Rate::from_mbps(300.0), length).as_mbps().round(), 500.0);
        // A stream longer than tau adopts the estimate, and no more than that.
        assert_eq!(filter.apply(Rate::from_mbps(1.0), target, Duration::from_secs(9.0)), target);
    }

    #[test]
    fn the_limit_falls_with_collapses_and_recovers() {
        let limit = StepLimit::new(0.1, 8.0, Rate::from_mbps(1.0), 0.7, 0.02);
        let mut filter = Filter { tau: Duration::from_millis(250), eta: 1.5, limit: Some(limit) };
        let (average, length) = (Rate::from_mbps(100.0), Duration::from_millis(250));
        let climb = |filter: &mut Filter| filter.apply(average, Rate::from_gbps(10.0), length).as_mbps();
        assert_eq!(climb(&mut filter), 901.0, "8 times the average and 1 Mbps more");
        for _ in 0..100 {
            filter.apply(average, Rate::from_mbps(10.0), length);
        }
        assert!(climb(&mut filter) < 112.0);
        for _ in 0..300 {
            climb(&mut filter);
        }
        assert_eq!(climb(&mut filter), 901.0);
    }
}
