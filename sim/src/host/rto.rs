//! The retransmission timeout (RFC 6298).

use ::host::RoundTrip;
use control::Duration;

/// The retransmission timeout and what it follows from.
#[derive(Clone, Debug)]
pub struct RetransmissionTimeout {
    rtt: RoundTrip,
    /// The least margin of the timeout over the smoothed round-trip time.
    least: Duration,
    /// How many times the timeout is doubled.
    backoff: u32,
}

/// The timeout before the first sample (section 2.1).
const INITIAL: Duration = Duration::from_millis(1000);
/// The longest timeout that doubling leads to (section 2.5).
const LARGEST: Duration = Duration::from_millis(60_000);
/// The most times that the timeout is doubled.
const MOST_DOUBLINGS: u32 = 10;

impl RetransmissionTimeout {
    /// No sample yet. `least` is the least margin of the timeout over the smoothed round-trip time.
    pub fn new(least: Duration) -> RetransmissionTimeout {
        RetransmissionTimeout { rtt: RoundTrip::default(), least, backoff: 0 }
    }

    /// Takes in a sample of the round-trip time (sections 2.2 and 2.3). Ends the doubling of the timeout.
    #[inline]
    pub fn sample(&mut self, rtt: Duration) {
        self.rtt.sample(rtt);
        self.backoff = 0;
    }

    /// The smoothed round-trip time; none before the first sample.
    pub fn smoothed(&self) -> Option<Duration> {
        self.rtt.smoothed()
    }

    /// The current timeout.
    #[inline(always)]
    pub fn timeout(&self) -> Duration {
        let base = match (self.rtt.smoothed(), self.rtt.variation()) {
            // Where the round-trip time does not vary, SRTT + 4 RTTVAR equals SRTT, and a repair takes just as long. So
            // the minimum applies to the second term, as in Linux, and not to the sum.
            (Some(smoothed), Some(variation)) => smoothed + Duration(variation.0.saturating_mul(4)).max(self.least),
            _ if self.backoff == 0 => INITIAL.max(self.least),
            _ => INITIAL,
        };
        if self.backoff == 0 { base } else { Duration(base.0.saturating_mul(1 << self.backoff)).min(LARGEST.max(base)) }
    }

    /// The timer has expired: doubles the timeout (section 5.5).
    pub fn back_off(&mut self) {
        self.backoff = (self.backoff + 1).min(MOST_DOUBLINGS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn follows_rfc_6298() {
        let ms = Duration::from_millis;
        let mut rtt = RetransmissionTimeout::new(ms(200));
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
