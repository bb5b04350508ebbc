//! The receiver of XCP and RCP-AC: reports the routers' feedback.

use crate::roles::{Receiver, Report, Stamp};
use crate::units::{Bytes, Time};

/// Reports the sum of all feedback so far with each packet, unless the packet has passed no router.
#[derive(Default)]
pub struct XcpReceiver {
    /// The sum, packets.
    total: f64,
}

impl Receiver for XcpReceiver {
    fn on_arrival(&mut self, _: Time, stamp: &Stamp, _: Bytes) -> Option<Report> {
        match *stamp {
            Stamp::Window { feedback, .. } if feedback.is_finite() => {
                self.total += f64::from(feedback);
                let whole = libm::floor(self.total);
                Some(Report::Feedback { whole: whole as i64 as i32, part: (self.total - whole) as f32 })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_of_feedback_of_either_sign_is_exact() {
        let mut sum = XcpReceiver::default();
        for _ in 0..1_000_000 {
            let stamp = Stamp::Window { window: 1e6, rtt: 0.1, feedback: -1e-4 };
            sum.on_arrival(Time::ZERO, &stamp, Bytes(1000));
        }
        let last = Stamp::Window { window: 1e6, rtt: 0.1, feedback: 0.25 };
        let Some(Report::Feedback { whole, part }) = sum.on_arrival(Time::ZERO, &last, Bytes(1000)) else { panic!() };
        assert_eq!(whole, -100);
        assert!((part - 0.25).abs() < 1e-3, "{part}");
        let untouched = Stamp::Window { window: 1.0, rtt: 0.1, feedback: f32::INFINITY };
        assert_eq!(sum.on_arrival(Time::ZERO, &untouched, Bytes(1000)), None);
    }
}
