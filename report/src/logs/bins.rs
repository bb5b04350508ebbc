//! The bins of time that the curves of a page of logs share.

use super::Log;
use qlog::Trace;

/// How many bins there are at most: more than a figure has columns of pixels.
const MOST: usize = 1500;
/// The least length of a bin, in milliseconds.
const LEAST: f64 = 0.1;

/// Equal bins from zero.
#[derive(Clone, Copy)]
pub struct Bins {
    /// Length of a bin, in milliseconds.
    pub step: f64,
    /// How many there are.
    pub count: usize,
}

impl Bins {
    /// Bins for all events of `logs`.
    pub fn new(logs: &[Log]) -> Bins {
        let end = logs.iter().map(|log| end(&log.trace)).fold(0.0, f64::max);
        let step = (end / MOST as f64).max(LEAST);
        Bins { step, count: ((end / step).ceil() as usize).clamp(1, MOST) }
    }

    /// The bin of a time.
    pub fn of(&self, time: f64) -> usize {
        ((time / self.step).max(0.0) as usize).min(self.count - 1)
    }
}

/// The time of the last event, in milliseconds.
pub fn end(trace: &Trace) -> f64 {
    trace.events.last().map_or(0.0, |event| event.time)
}
