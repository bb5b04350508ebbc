//! The feedback functions: the congestion that a flow aims at, as a function of the rate that it gets.

use super::Rrrp;
use crate::units::Rate;

crate::parameters! {
    /// Which of the paper's three feedback functions.
    #[derive(Copy, PartialEq, Eq)]
    #[cfg_attr(feature = "registry", schemars(inline))]
    pub enum Function {
        /// The same at any rate (section 4.1).
        Fixed,
        /// Falling to zero at the rate that the flow wants at most (section 4.2).
        Linear,
        /// The loss rate at which a TCP would get this rate (section 4.3).
        TcpLike,
    }
}

/// A feedback function p_T.
#[derive(Clone, Debug)]
pub struct Feedback {
    function: Function,
    target: f64,
    limit: Rate,
    scale: Rate,
}

/// The largest congestion aimed at, as a share. **Decided**: equation 19 reaches 1, where equation 13 divides by zero.
const HIGHEST_TARGET: f64 = 0.9;

impl Feedback {
    /// The function that `parameters` choose.
    pub fn new(parameters: &Rrrp) -> Feedback {
        let Rrrp { function, target, limit, scale, .. } = *parameters;
        Feedback { function, target, limit, scale }
    }

    /// p_T at an arrival rate of `x`, 0 to 0.9.
    pub fn target(&self, x: Rate) -> f64 {
        let p = match self.function {
            Function::Fixed => self.target,                                    // equation 15
            Function::Linear => self.target * (1.0 - x / self.limit).max(0.0), // equation 16
            Function::TcpLike => (self.scale / x) * (self.scale / x),          // equation 19
        };
        p.min(HIGHEST_TARGET)
    }

    /// X_in, the rate at which to send, at an arrival rate of `x`.
    pub fn rate(&self, x: Rate) -> Rate {
        let rate = x * (1.0 / (1.0 - self.target(x))); // equation 13
        match self.function {
            // **Decided**: section 4.2 says that "the consumed bandwidth never exceeds" the limit. But above the limit
            // equation 16 aims at no congestion, so that the sender would keep the rate that arrives: a flow that a
            // draining queue has carried above the limit would stay there.
            Function::Linear if rate.as_bps() > self.limit.as_bps() => self.limit,
            _ => rate,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(function: Function, mbps: f64) -> f64 {
        Feedback::new(&Rrrp { function, ..Rrrp::default() }).target(Rate::from_mbps(mbps))
    }

    /// Points of figure 2's functions, computed by hand from the equations.
    #[test]
    fn the_three_functions() {
        for mbps in [0.1, 4.0, 100.0] {
            assert_eq!(target(Function::Fixed, mbps), 0.01);
        }
        for (mbps, p) in [(0.0, 0.01), (1.0, 0.0075), (4.0, 0.0), (5.0, 0.0)] {
            assert!((target(Function::Linear, mbps) - p).abs() < 1e-12);
        }
        for (mbps, p) in [(0.0, 0.9), (0.6, 0.9), (1.2, 0.25), (6.0, 0.01), (60.0, 1e-4)] {
            assert!((target(Function::TcpLike, mbps) - p).abs() < 1e-12);
        }
    }

    #[test]
    fn linear_feedback_never_exceeds_its_limit() {
        let linear = Feedback::new(&Rrrp { function: Function::Linear, ..Rrrp::default() });
        for (arrives, sent) in [(2.0, 2.0 / 0.995), (4.0, 4.0), (7.0, 4.0)] {
            assert!((linear.rate(Rate::from_mbps(arrives)).as_mbps() - sent).abs() < 1e-9);
        }
    }

    /// A link by equation 1 and a sender by equation 13 reach an equilibrium in which the congestion is p_T, from any
    /// first rate.
    #[test]
    fn a_link_and_a_function_meet_where_the_congestion_is_the_target() {
        let (capacity, others) = (10.0, 6.0);
        for function in [Function::Fixed, Function::TcpLike] {
            let feedback = Feedback::new(&Rrrp { function, ..Rrrp::default() });
            for start in [0.05, 1.6, 40.0] {
                let mut sent: f64 = start;
                let mut arriving = 0.0;
                for _ in 0..10_000 {
                    arriving = sent.min(capacity * sent / (sent + others)); // equation 1
                    sent = feedback.rate(Rate::from_mbps(arriving)).as_mbps();
                }
                let congestion = 1.0 - arriving / sent; // equation 8
                assert!((congestion - feedback.target(Rate::from_mbps(arriving))).abs() < 1e-9);
                assert!((sent + others) * (1.0 - congestion) - capacity < 1e-6);
                assert!(arriving > capacity - others, "{arriving}");
            }
        }
    }

    /// Equation 9: the congestion of a route is one less the product of what its links let through.
    #[test]
    fn congestion_composes_over_links() {
        let link = |sent: f64, others: f64| sent.min(10.0 * sent / (sent + others));
        let (first, second) = (link(5.0, 7.0), link(link(5.0, 7.0), 8.0));
        let (p1, p2) = (1.0 - first / 5.0, 1.0 - second / first);
        assert!(p1 > 0.1 && p2 > 0.1);
        assert!((1.0 - second / 5.0 - (1.0 - (1.0 - p1) * (1.0 - p2))).abs() < 1e-12);
    }
}
