//! The utility of a sending rate (equation 1 of section 3).

use super::Vivace;
use crate::monitor::Measured;

impl Vivace {
    /// u(x, dRTT/dT, L) = x^t - b x dRTT/dT - c x L, where x is in Mbps.
    pub(super) fn utility(&self, of: &Measured) -> f64 {
        let x = of.rate.as_mbps();
        // Section 4.3: low-pass filtering of the RTT gradient.
        let gradient = if of.rtt_gradient.abs() < self.noise { 0.0 } else { of.rtt_gradient };
        libm::pow(x, self.exponent) - self.latency * x * gradient - self.loss * x * of.loss
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Rate;

    fn utility(mbps: f64, rtt_gradient: f64, loss: f64) -> f64 {
        let rate = Rate::from_mbps(mbps);
        Vivace::default().utility(&Measured { number: 0, rate, loss, rtt_gradient, app_limited: false })
    }

    /// 100^0.9 is 10^1.8.
    #[test]
    fn rewards_the_rate_and_charges_for_growing_delay_and_losses() {
        let clear = 10f64.powf(1.8);
        for (gradient, loss, expected) in [
            (0.0, 0.0, clear),
            (0.02, 0.0, clear - 900.0 * 2.0),
            (-0.02, 0.0, clear + 900.0 * 2.0),
            (0.0099, 0.0, clear), // noise
            (-0.0099, 0.0, clear),
            (0.0, 0.01, clear - 11.35),
            (0.05, 0.1, clear - 4500.0 - 113.5),
        ] {
            let found = utility(100.0, gradient, loss);
            assert!((found - expected).abs() < 1e-9, "{found} instead of {expected}");
        }
    }

    /// Section 3.2: with random losses L, the utility grows with the rate up to (t/(c L))^(1/(1-t)): 100 Mbps at 5 %,
    /// 3.5 at 7 %.
    #[test]
    fn random_losses_up_to_five_percent_do_not_make_less_than_100_mbps_better() {
        let best = |loss: f64| {
            let rates = (1..4000).map(|i| 0.05 * i as f64);
            rates.max_by(|&a, &b| utility(a, 0.0, loss).total_cmp(&utility(b, 0.0, loss))).unwrap()
        };
        assert!((best(0.05) - 100.6).abs() < 0.2, "{}", best(0.05)); // (0.9/0.5675)^10
        assert!((best(0.07) - 3.43).abs() < 0.1, "{}", best(0.07)); // (0.9/0.7945)^10
        assert!(best(0.04) > 199.0);
    }
}
