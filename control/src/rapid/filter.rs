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

/// The self-tuning limit of `thalweg`: an estimate well below the average means that the senders together climb faster than
/// their feedback comes back; so each climbs more gently, the fast ones like the slow ones, or a fast flow would be the first
/// to take back what all gave up.
#[derive(Clone, Debug)]
pub struct StepLimit {
    /// The most by which the average may aim above itself, as a multiple of itself.
    pub kappa: f64,
    /// The least and the most that may become.
    pub bounds: (f64, f64),
    /// What is added to it, so that a slow flow moves at all.
    pub floor: Rate,
    /// An estimate below this share of the average is a collapse.
    pub collapse: f64,
    /// Factor on kappa upon a collapse.
    pub back_off: f64,
    /// Growth of kappa per tau otherwise.
    pub regrow: f64,
}

impl StepLimit {
    fn update(&mut self, average: f64, estimate: f64, share: f64) -> f64 {
        self.kappa = if estimate < average * self.collapse {
            (self.kappa * self.back_off).max(self.bounds.0)
        } else {
            (self.kappa * (1.0 + self.regrow * share)).min(self.bounds.1)
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
        let limit = StepLimit {
            kappa: 8.0,
            bounds: (0.1, 8.0),
            floor: Rate::from_mbps(1.0),
            collapse: 0.5,
            back_off: 0.7,
            regrow: 0.02,
        };
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
