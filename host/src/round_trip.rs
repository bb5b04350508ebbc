//! The round-trip time: RFC 6298, section 2.

use control::Duration;

/// The smoothed round-trip time and its variation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundTrip {
    /// SRTT; [`Duration::MAX`] before the first sample.
    smoothed: Duration,
    /// RTTVAR.
    variation: Duration,
}

impl Default for RoundTrip {
    /// Before the first sample.
    fn default() -> RoundTrip {
        RoundTrip { smoothed: Duration::MAX, variation: Duration::ZERO }
    }
}

impl RoundTrip {
    /// The smoothed round-trip time (SRTT); none before the first sample.
    #[inline]
    pub fn smoothed(&self) -> Option<Duration> {
        (self.smoothed != Duration::MAX).then_some(self.smoothed)
    }

    /// How far samples lie from the smoothed round-trip time (RTTVAR); none before the first sample.
    #[inline]
    pub fn variation(&self) -> Option<Duration> {
        (self.smoothed != Duration::MAX).then_some(self.variation)
    }

    /// Takes in a sample: section 2.2 for the first one, section 2.3 for the others. Integers, so that every machine
    /// computes the same.
    #[inline]
    pub fn sample(&mut self, rtt: Duration) {
        let (Duration(smoothed), Duration(variation)) = (self.smoothed, self.variation);
        *self = if self.smoothed == Duration::MAX {
            RoundTrip { smoothed: rtt, variation: Duration(rtt.0 / 2) }
        } else {
            RoundTrip {
                smoothed: Duration(smoothed - smoothed / 8 + rtt.0 / 8),
                variation: Duration(variation - variation / 4 + smoothed.abs_diff(rtt.0) / 4),
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_weighted_as_in_rfc_6298() {
        let ms = Duration::from_millis;
        let mut rtt = RoundTrip::default();
        assert_eq!((rtt.smoothed(), rtt.variation()), (None, None));
        rtt.sample(ms(80));
        assert_eq!((rtt.smoothed(), rtt.variation()), (Some(ms(80)), Some(ms(40))));
        rtt.sample(ms(160));
        assert_eq!((rtt.smoothed(), rtt.variation()), (Some(ms(90)), Some(ms(50))), "7/8 of 80 ms, 3/4 of 40 ms");
    }
}
