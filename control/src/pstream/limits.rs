//! The limits of rates.

use crate::units::Rate;

/// The highest rate that an estimate may have, bits per second. No path is faster. Higher estimates come from a
/// receiver at which all packets arrive at the same time. They would raise a sender's rate without limit, until its
/// gaps were shorter than a picosecond.
pub const HIGHEST_RATE: f64 = 1e13;

/// The least average rate, as a share of the initial rate. **Decided**: at a much lower rate, a stream would take
/// minutes to find out that the path is free again. A window protocol, too, sends at least one packet per round trip.
/// (`thalweg`'s least rate is lower where two packets per round trip are less.)
pub const MIN_RATE_SHARE: f64 = 0.1;

/// An estimate, or [`HIGHEST_RATE`] if that is less.
pub fn at_most_highest(estimate: Rate) -> Rate {
    Rate::from_bps(estimate.as_bps().min(HIGHEST_RATE))
}
