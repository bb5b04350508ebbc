//! The receiver of the bench: draws one estimate from each stream with every estimator.

use control::pstream::{Analysis, Begins, Estimator, Incoming, Received, SMOOTHING, Sample};
use control::{Bytes, Conditions, Duration, Receiver, Report, Setting, Stamp, Time};
use std::sync::mpsc;

/// The estimators, in the order of the results, and their names.
pub const ESTIMATORS: [(Estimator, &str); 3] =
    [(Estimator::Onset, "onset"), (Estimator::PathChirp, "pathchirp"), (Estimator::Regression, "regression")];

/// The estimates of one stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimated {
    /// The stream's number.
    pub stream: u32,
    /// What each of [`ESTIMATORS`] found, in bits per second, if it found anything.
    pub rates: [Option<f64>; ESTIMATORS.len()],
}

/// See the [module](self).
pub struct AllEstimators {
    incoming: Incoming,
    analyses: [Analysis; ESTIMATORS.len()],
    /// What estimators work on, as they may change the samples.
    copy: Vec<Sample>,
    /// The tick of both hosts' clocks; zero: they are exact.
    tick: Duration,
    results: mpsc::Sender<Estimated>,
}

impl AllEstimators {
    /// A receiver of streams of up to `longest` packets on hosts whose clocks advance by `tick`, which also know that
    /// times are wrong by up to `timing_error`. It sends what it finds to `results`.
    pub fn new(
        longest: u16,
        tick: Duration,
        timing_error: Duration,
        results: mpsc::Sender<Estimated>,
    ) -> AllEstimators {
        let host = Conditions { timing_error: tick.max(timing_error), ..Conditions::exact(Bytes(0)) };
        let longest = usize::from(longest);
        let analysis = |(estimator, _)| Analysis::on(&host, estimator, Setting::Auto, longest);
        AllEstimators {
            incoming: Incoming::new(longest, SMOOTHING, Begins::WithFirstArrival),
            analyses: ESTIMATORS.map(analysis),
            copy: Vec::with_capacity(longest),
            tick,
            results,
        }
    }

    /// What a clock shows at `time`.
    fn read(&self, time: Time) -> Time {
        Time(time.0 - time.0 % self.tick.0.max(1))
    }
}

impl Receiver for AllEstimators {
    fn on_arrival(&mut self, now: Time, stamp: &Stamp, size: Bytes) -> Option<Report> {
        let Stamp::Probe { stream, index, len, rate, sent } = *stamp else { return None };
        let stamp = Stamp::Probe { stream, index, len, rate, sent: self.read(sent) };
        let now = self.read(now);
        let AllEstimators { incoming, analyses, copy, results, .. } = self;
        let mut rates = [None; ESTIMATORS.len()];
        let report = incoming.on_arrival(now, &stamp, |Received { samples, bunches, burst, .. }| {
            let unit = Bytes(size.0 * u64::from(burst));
            for (analysis, rate) in analyses.iter_mut().zip(&mut rates) {
                copy.clear();
                copy.extend_from_slice(samples);
                *rate = analysis.estimate(copy, bunches, Duration::ZERO, unit);
            }
            Some(0.0) // so that there is a report, which names the stream
        });
        if let Some(Report::Available { stream, .. }) = report {
            // Whoever no longer listens needs no results.
            let _ = results.send(Estimated { stream, rates });
        }
        None // the sender does not react
    }
}
