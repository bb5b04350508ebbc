//! The crossing of two curves.

use crate::reproduce::curve::Curve;
use crate::theory;
use std::ops::Range;

/// Where two curves cross.
pub struct Crossed {
    /// The largest argument at which they do.
    pub at: f64,
    /// Their value there.
    pub height: f64,
}

impl Crossed {
    /// Where `one` and `other` cross for arguments within `range`; none if nowhere.
    pub fn of(one: &Curve, other: &Curve, range: Range<f64>) -> Option<Crossed> {
        let at = theory::crossing(|x| one.at(x), |x| other.at(x), range)?;
        Some(Crossed { at, height: other.at(at) })
    }
}
