//! Microseconds in tables.

use control::Duration;
use wire::bench::GapErrors;

/// A time in microseconds.
pub(super) fn micros(duration: Duration) -> f64 {
    duration.as_secs() * 1e6
}

/// The error that this share of the gaps does not exceed, in microseconds; a dash if there are no gaps.
pub(super) fn shown(errors: &GapErrors, share: f64) -> String {
    errors.quantile(share).map_or("-".into(), |error| format!("{:.2}", micros(error)))
}
