//! The limits of rates.

use crate::units::Rate;

/// The highest rate that an estimate may have, bits per second. No path has more. Higher estimates come from a receiver
/// whose packets all arrive at once; they would raise a sender's rate for ever, to more packets than there are
/// picoseconds.
pub const HIGHEST_RATE: f64 = 1e13;

/// **Decided**: the average rate is never below this share of the initial rate. From a much lower one, streams would
/// take minutes to find out that the path is free again. A window protocol, too, sends at least a packet per round
/// trip.
pub const LEAST_SHARE: f64 = 0.1;

/// An estimate, or [`HIGHEST_RATE`] if that is less.
pub fn at_most_highest(estimate: Rate) -> Rate {
    Rate::from_bps(estimate.as_bps().min(HIGHEST_RATE))
}
