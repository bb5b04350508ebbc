//! The size of a step: from the utility's gradient to a change of the rate (section 4.2).

use super::Vivace;

/// What the steps so far allow the next one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Steps {
    /// Whether the last step was up; none before the first.
    up: Option<bool>,
    /// tau: how many steps in succession went in the same direction.
    same: u32,
    /// k: how many of them in succession reached the boundary.
    bounded: u32,
}

/// m(tau), the confidence amplifier: 1, 2, 3, 5, 7, 9 ...
fn amplifier(same: u32) -> f64 {
    f64::from(if same <= 3 { same } else { 2 * same - 3 })
}

impl Steps {
    /// The change of the `rate`, in Mbps, where the utility has this gradient, per Mbps.
    pub(super) fn next(&mut self, of: &Vivace, gradient: f64, rate: f64) -> f64 {
        let up = gradient >= 0.0;
        if self.up != Some(up) {
            *self = Steps { up: Some(up), same: 0, bounded: 0 };
        }
        self.same = self.same.saturating_add(1).min(1 << 20);
        let change = amplifier(self.same) * of.conversion * gradient.abs(); // theta_0 m(tau) gamma
        // The dynamic change boundary, omega = omega_0 + k delta.
        let boundary = (of.boundary + f64::from(self.bounded) * of.boundary_growth) * rate;
        let size = if change > boundary {
            self.bounded = (self.bounded + 1).min(1000);
            boundary
        } else {
            // k becomes the least with which the change stays within the boundary.
            let above = libm::ceil((change / rate - of.boundary) / of.boundary_growth);
            self.bounded = self.bounded.min(if above > 0.0 { above as u32 } else { 0 });
            change
        };
        if up { size } else { -size }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps<const N: usize>(gradients: [f64; N], rate: f64) -> [f64; N] {
        let (parameters, mut steps) = (Vivace::default(), Steps::default());
        gradients.map(|gradient| (steps.next(&parameters, gradient, rate) * 1e6).round() / 1e6)
    }

    #[test]
    fn steps_in_one_direction_grow_until_the_direction_changes() {
        let found = steps([0.1, 0.1, 0.1, 0.1, 0.1, -0.1, -0.1, 0.1], 100.0);
        assert_eq!(found, [0.1, 0.2, 0.3, 0.5, 0.7, -0.1, -0.2, 0.1]);
    }

    /// 5 % of 100 Mbps at first, 10 % more after each step that would be larger.
    #[test]
    fn large_steps_are_bounded_less_and_less() {
        assert_eq!(steps([-400.0, -400.0, -400.0, 400.0], 100.0), [-5.0, -15.0, -25.0, 5.0]);
    }

    /// After steps of 5, 15 and 25, one of 5 x 3 = 15 needs k = 1: the next may have 15 and no more.
    #[test]
    fn a_smaller_step_lowers_the_boundary_to_what_it_needs() {
        assert_eq!(steps([400.0, 400.0, 400.0, 3.0, 100.0, 100.0], 100.0), [5.0, 15.0, 25.0, 15.0, 15.0, 25.0]);
        assert_eq!(steps([400.0, 400.0, 1.0, 100.0], 100.0), [5.0, 15.0, 3.0, 5.0]);
    }
}
