//! How long a flow has heard nothing, and when that is too long (RFC 6298).

use control::{Duration, Time};

/// Bounds of the retransmission timeout (the lower one is what the simulator takes).
const TIMEOUT: std::ops::RangeInclusive<Duration> = Duration::from_millis(200)..=Duration::from_millis(60_000);
/// Before there is a sample of the round-trip time.
pub(crate) const FIRST_TIMEOUT: Duration = Duration::from_millis(1000);

/// The retransmission timer.
#[derive(Debug, Default)]
pub(crate) struct Silence {
    /// Smoothed round-trip time and its variation, once there is a sample.
    rtt: Option<(Duration, Duration)>,
    /// When something was acknowledged last, or the first packet left after that, or there was a timeout.
    since: Time,
    /// Timeouts since something was acknowledged.
    timeouts: u32,
}

impl Silence {
    /// Smoothed round-trip time.
    pub(crate) fn rtt(&self) -> Option<Duration> {
        self.rtt.map(|(smoothed, _)| smoothed)
    }

    /// By when an answer has come, without a timeout's lower bound.
    pub(crate) fn patience(&self) -> Duration {
        self.rtt.map_or(FIRST_TIMEOUT, |(smoothed, variation)| smoothed + variation.scale(4.0))
    }

    /// Timeouts in a row.
    pub(crate) fn timeouts(&self) -> u32 {
        self.timeouts
    }

    /// When it is too long.
    pub(crate) fn end(&self) -> Time {
        let (shortest, longest) = TIMEOUT.into_inner();
        let backed_off = self.patience().max(shortest).scale(f64::from(1u32 << self.timeouts.min(16)));
        self.since + backed_off.min(longest)
    }

    /// A packet leaves, and nothing else is on its way.
    pub(crate) fn begin(&mut self, now: Time) {
        self.since = now;
    }

    /// Something was acknowledged; `rtt` is the round-trip time that it took.
    pub(crate) fn on_ack(&mut self, now: Time, rtt: Option<Duration>) {
        (self.since, self.timeouts) = (now, 0);
        let Some(rtt) = rtt else { return };
        self.rtt = Some(match self.rtt {
            None => (rtt, rtt.scale(0.5)),
            Some((smoothed, variation)) => {
                let error = Duration(smoothed.0.abs_diff(rtt.0));
                (smoothed.scale(0.875) + rtt.scale(0.125), variation.scale(0.75) + error.scale(0.25))
            }
        });
    }

    /// It was too long: the next one may be twice as long.
    pub(crate) fn on_timeout(&mut self, now: Time) {
        self.since = now;
        self.timeouts += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_timeout_in_a_row_is_twice_as_long_up_to_a_minute() {
        let mut silence = Silence::default();
        assert_eq!(silence.end(), Time::ZERO + FIRST_TIMEOUT);
        silence.on_ack(Time::ZERO, Some(Duration::from_millis(100)));
        assert_eq!(silence.end(), Time::ZERO + Duration::from_millis(300), "100 ms and 4 times 50 ms");
        let mut ends = (0..10).map(|_| {
            silence.on_timeout(Time::ZERO);
            silence.end()
        });
        assert_eq!(ends.next(), Some(Time::ZERO + Duration::from_millis(600)));
        assert_eq!(ends.last(), Some(Time::ZERO + Duration::from_millis(60_000)));
        silence.on_ack(Time::ZERO, None);
        assert_eq!(silence.end(), Time::ZERO + Duration::from_millis(300));
        (0..100).for_each(|_| silence.on_ack(Time::ZERO, Some(Duration::from_millis(10))));
        assert_eq!(silence.end(), Time::ZERO + Duration::from_millis(200), "no less");
    }
}
