//! The retransmission timeout (RFC 6298).

use control::Duration;

/// The smoothed round-trip time and its variation, from which the timeout follows.
#[derive(Clone, Debug)]
pub struct RoundTrip {
    smoothed: u64,
    variation: u64,
    least: Duration,
    backoff: u32,
}

/// The timeout before the first sample (section 2.1).
const INITIAL: Duration = Duration::from_millis(1000);
/// The longest timeout that doubling leads to (section 2.5).
const LARGEST: Duration = Duration::from_millis(60_000);

impl RoundTrip {
    /// No sample yet. `least` is the least margin of the timeout over the smoothed round-trip time.
    pub fn new(least: Duration) -> RoundTrip {
        RoundTrip { smoothed: 0, variation: 0, least, backoff: 0 }
    }

    /// Takes in a sample (sections 2.2 and 2.3). Ends the doubling of the timeout.
    #[inline]
    pub fn sample(&mut self, rtt: Duration) {
        if self.smoothed == 0 {
            self.smoothed = rtt.0;
            self.variation = rtt.0 / 2;
        } else {
            self.variation -= self.variation / 4;
            self.variation += self.smoothed.abs_diff(rtt.0) / 4;
            self.smoothed -= self.smoothed / 8;
            self.smoothed += rtt.0 / 8;
        }
        self.backoff = 0;
    }

    /// The current timeout.
    #[inline]
    pub fn timeout(&self) -> Duration {
        if self.smoothed == 0 && self.backoff == 0 {
            return INITIAL.max(self.least);
        }
        // Where the round-trip time does not vary, SRTT + 4 RTTVAR equals SRTT, and a repair takes just as long. So the minimum
        // applies to the second term, as in Linux, and not to the sum.
        let margin = Duration(self.variation.saturating_mul(4)).max(self.least);
        let base = if self.smoothed == 0 { INITIAL } else { Duration(self.smoothed) + margin };
        if self.backoff == 0 { base } else { Duration(base.0.saturating_mul(1 << self.backoff)).min(LARGEST.max(base)) }
    }

    /// The timer has expired: doubles the timeout (section 5.5).
    pub fn back_off(&mut self) {
        self.backoff = (self.backoff + 1).min(10);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn follows_rfc_6298() {
        let ms = Duration::from_millis;
        let mut rtt = RoundTrip::new(ms(200));
        assert_eq!(rtt.timeout(), ms(1000));
        rtt.sample(ms(100));
        assert_eq!(rtt.timeout(), ms(300), "SRTT + 4 SRTT/2");
        for _ in 0..100 {
            rtt.sample(ms(100));
        }
        assert_eq!(rtt.timeout(), ms(300), "SRTT and the minimum, as the variation has vanished");
        rtt.back_off();
        rtt.back_off();
        assert_eq!(rtt.timeout(), ms(1200));
        rtt.sample(ms(100));
        assert_eq!(rtt.timeout(), ms(300));
    }
}
