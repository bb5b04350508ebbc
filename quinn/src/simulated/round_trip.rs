//! A library's estimator of the round-trip time, which its controllers read and only it can make.
//!
//! The estimates are computed here, as the libraries compute them. Two ends of a QUIC connection are kept in this
//! process, and exchange packets on a clock of their own until the connection's estimator has the same values. As an
//! exchange costs some ten microseconds, this is done only when the smoothed round-trip time has moved by more than
//! [`PRECISION`], or the shortest one at all.

use std::time::{Duration, Instant};

/// What quinn assumes before the first sample (RFC 9002, section 6.2.2).
const INITIAL: Duration = Duration::from_millis(333);
/// The smoothed round-trip time that controllers are shown is exact to one part in this many.
pub(crate) const PRECISION: u32 = 256;
/// How many exchanges an estimate may take. A sample moves the estimate by at most an eighth, and so it takes two; more
/// than this would be needed only if the samples of several acknowledgments had been left out.
const MOST_EXCHANGES: u32 = 16;

/// Two ends of a connection of a library, and the estimator that the controller of one was shown last.
pub(crate) trait Connected {
    /// The library's estimator.
    type Estimator: Copy;
    /// Two ends that have opened a connection, with a round-trip time of `rtt`.
    fn connect(now: Instant, rtt: Duration) -> Self;
    /// One exchange of packets that takes `rtt`.
    fn exchange(&mut self, rtt: Duration);
    /// The smoothed round-trip time at the end whose controller is shown it.
    fn smoothed(&self) -> Duration;
    /// The estimator that the controller was shown last: as it was before the acknowledgment.
    fn shown(&self) -> Option<Self::Estimator>;
    /// The shortest round-trip time in an estimator.
    fn min_of(estimator: &Self::Estimator) -> Duration;
    /// The smoothed round-trip time in an estimator.
    fn smoothed_of(estimator: &Self::Estimator) -> Duration;
}

/// The estimator with these values, which the ends exchange packets to get.
fn show<E: Connected>(ends: &mut E, smoothed: Duration, min: Duration) -> Option<E::Estimator> {
    if ends.shown().is_none_or(|shown| E::min_of(&shown) > min) {
        ends.exchange(min);
    }
    for _ in 0..MOST_EXCHANGES {
        let own = ends.smoothed();
        if own.abs_diff(smoothed) <= smoothed / (16 * PRECISION) {
            break;
        }
        ends.exchange((8 * smoothed).saturating_sub(7 * own).max(min));
    }
    // A controller is shown the estimator as it was before the acknowledgment. Samples of the estimate itself do not
    // change it.
    let own = ends.smoothed();
    ends.exchange(own);
    ends.exchange(own);
    ends.shown()
}

/// See the [module](self).
pub(crate) struct RoundTrip<E: Connected> {
    /// None before the first sample, which is the duration of the handshake, too.
    estimates: Option<Estimates<E>>,
    origin: Instant,
}

struct Estimates<E: Connected> {
    smoothed: Duration,
    min: Duration,
    ends: Box<E>,
    /// The estimator of `ends` that stands for these estimates.
    shown: E::Estimator,
}

impl<E: Connected> RoundTrip<E> {
    /// An estimator without samples. `origin` is any instant.
    pub(crate) fn new(origin: Instant) -> RoundTrip<E> {
        RoundTrip { estimates: None, origin }
    }

    /// The newest estimate of the smoothed round-trip time.
    pub(crate) fn smoothed(&self) -> Duration {
        self.estimates.as_ref().map_or(INITIAL, |estimates| estimates.smoothed)
    }

    /// A round-trip time was measured. Returns the estimator as it was before, which is what controllers are shown with
    /// the acknowledgment; for the first sample, as it is after the handshake.
    pub(crate) fn sample(&mut self, rtt: Duration) -> Option<E::Estimator> {
        let Some(estimates) = &mut self.estimates else {
            let mut ends = Box::new(E::connect(self.origin, rtt));
            let shown = show(&mut *ends, rtt, rtt)?;
            self.estimates = Some(Estimates { smoothed: rtt, min: rtt, ends, shown });
            return Some(shown);
        };
        let before = estimates.shown;
        // RFC 6298, section 2, without delays of acknowledgments.
        estimates.smoothed = (7 * estimates.smoothed + rtt) / 8;
        estimates.min = estimates.min.min(rtt);
        let (smoothed, min) = (estimates.smoothed, estimates.min);
        if E::smoothed_of(&before).abs_diff(smoothed) > smoothed / PRECISION || E::min_of(&before) > min {
            estimates.shown = show(&mut *estimates.ends, smoothed, min)?;
        }
        Some(before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::ends::Ends;

    /// RFC 6298, section 2, as RFC 9002, section 5.3, has it: without delays of acknowledgments.
    #[test]
    fn the_estimator_smooths_what_was_measured() {
        let mut estimator = RoundTrip::<Ends>::new(Instant::now());
        assert_eq!(estimator.smoothed(), INITIAL);
        let (mut smoothed, mut min) = (0.1, f64::MAX);
        for ms in [100, 100, 180, 140, 90, 300, 95, 1000, 100, 100, 100, 100, 100, 20, 20, 21, 20, 20, 20, 20, 20] {
            let rtt = Duration::from_millis(ms);
            let before = estimator.sample(rtt).expect("the controller was shown it");
            let shown = before.get().as_secs_f64();
            assert!((shown / smoothed - 1.0_f64).abs() < 1.0 / f64::from(PRECISION), "{shown} and not {smoothed}");
            assert!((before.conservative().as_secs_f64() / smoothed - 1.0).abs() < 1.0 / f64::from(PRECISION));
            assert!(
                min == f64::MAX || (before.min().as_secs_f64() - min).abs() < 1e-6,
                "{:?} and not {min}",
                before.min()
            );
            smoothed = (7.0 * smoothed + rtt.as_secs_f64()) / 8.0;
            min = min.min(rtt.as_secs_f64());
            assert!((estimator.smoothed().as_secs_f64() - smoothed).abs() < 1e-6);
        }
    }

    #[test]
    fn long_flows_do_not_tire_it() {
        let mut estimator = RoundTrip::<Ends>::new(Instant::now());
        for i in 0..50_000u64 {
            let shown = estimator.sample(Duration::from_micros(1000 + i % 7 + 300 * (i / 40 % 2)));
            assert!(shown.is_some_and(|shown| shown.get() < Duration::from_micros(1310)));
        }
    }
}
