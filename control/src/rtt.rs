//! The smoothed round-trip time of RFC 6298.

use crate::units::Duration;

/// SRTT, the smoothed round-trip time of one sender.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SmoothedRtt(f64);

impl SmoothedRtt {
    /// Adds a sample, if there is one. A sample of zero, which no path can give, is ignored.
    pub(crate) fn sample(&mut self, rtt: Option<Duration>) {
        if let Some(rtt) = rtt.map(Duration::as_secs).filter(|&rtt| rtt > 0.0) {
            self.0 = match self.seconds() {
                None => rtt,                             // RFC 6298, equation 2.2
                Some(srtt) => srtt + (rtt - srtt) / 8.0, // RFC 6298, equation 2.3, alpha = 1/8
            };
        }
    }

    /// SRTT in seconds; none before the first sample.
    pub(crate) fn seconds(self) -> Option<f64> {
        (self.0 > 0.0).then_some(self.0)
    }

    /// SRTT in seconds as a stamp carries it: zero before the first sample.
    pub(crate) fn stamped(self) -> f32 {
        self.0 as f32
    }
}
