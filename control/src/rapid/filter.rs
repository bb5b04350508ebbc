//! The filter F from estimates to the average rate (PACKET-SCALE-2017, equations 5 and 6; RAPID-2009, equation 6, which
//! is the first of them).

use crate::units::{Duration, Rate};

/// How the average rate follows the estimates of the available bandwidth.
#[derive(Clone, Debug)]
pub struct Filter {
    /// Time over which an increase of the available bandwidth is adopted (tau).
    pub tau: Duration,
    /// Number of streams over which a decrease is adopted (eta). 1: at once, as in RAPID-2009 (its footnote 10).
    pub eta: f64,
}

impl Filter {
    /// The average rate of a new stream, given the present `average` (r_avg), the newest `estimate` (ABest) and the
    /// `duration` of a stream at the present average: that of the new stream, L (2017), or of the most recent one, l
    /// (2009). **Decided**: for 2017, too, at the present average, as L depends on the result. **Decided**: no increase
    /// goes beyond the estimate.
    pub fn apply(&self, average: Rate, estimate: Rate, duration: Duration) -> Rate {
        let (average, target) = (average.as_bps(), estimate.as_bps());
        let share = (duration.as_secs() / self.tau.as_secs()).min(1.0);
        Rate::from_bps(if target > average {
            average + share * (target - average) // equation 5
        } else {
            average + (target - average) / self.eta // equation 6
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn converges_in_tau_upwards_and_in_eta_streams_downwards() {
        let filter = Filter { tau: Duration::from_millis(250), eta: 1.5 };
        let (mut average, target, duration) =
            (Rate::from_mbps(100.0), Rate::from_mbps(900.0), Duration::from_millis(1));
        for _ in 0..250 {
            average = filter.apply(average, target, duration);
        }
        // 1 - 1/e of the way after tau.
        assert!((average.as_mbps() - (900.0 - 800.0 / std::f64::consts::E)).abs() < 1.0, "{average}");
        assert_eq!(filter.apply(Rate::from_mbps(900.0), Rate::from_mbps(300.0), duration).as_mbps().round(), 500.0);
        // A stream longer than tau adopts the estimate, and does not go beyond it.
        assert_eq!(filter.apply(Rate::from_mbps(1.0), target, Duration::from_secs(9.0)), target);
    }
}
