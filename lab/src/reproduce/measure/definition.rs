//! A measure: its name, the title of its axis, and how it is computed.

use super::crossed::Crossed;
use super::excerpt::{Excerpt, Scope};
use crate::reproduce::curve::Curve;
use experiment::Finished;
use std::fmt;

/// Something that can be measured.
#[derive(Clone, Copy)]
pub struct Measure {
    name: &'static str,
    axis: &'static str,
    ranges_widely: bool,
    /// How it is computed.
    pub compute: Compute,
}

/// How a measure is computed.
#[derive(Clone, Copy)]
pub enum Compute {
    /// From a part of a run.
    OfRun(fn(&Excerpt) -> f64),
    /// From a run, and a curve with its bound: see [`Curve::bounded`].
    OfRunAndCurve(fn(&Finished, &dyn Fn(f64) -> f64) -> f64),
    /// From a curve, at an argument.
    OfCurve(fn(&Curve, f64) -> f64),
    /// From the crossing of two curves; without one, the measure is infinite.
    OfCrossing(fn(&Crossed) -> f64),
}

impl Measure {
    /// A measure of a part of a run. `name` is what artefacts call it; `axis`, the title of its axis with the unit in
    /// brackets.
    pub const fn of_run(name: &'static str, axis: &'static str, compute: fn(&Excerpt) -> f64) -> Measure {
        Measure::new(name, axis, Compute::OfRun(compute))
    }

    /// A measure that is computed by `compute`.
    pub(super) const fn new(name: &'static str, axis: &'static str, compute: Compute) -> Measure {
        Measure { name, axis, ranges_widely: false, compute }
    }

    /// The same measure, whose values differ between protocols by powers of ten.
    pub(super) const fn ranging_widely(self) -> Measure {
        Measure { ranges_widely: true, ..self }
    }

    /// Its name in artefacts.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// The title of its axis, with the unit in brackets.
    pub fn axis(self) -> &'static str {
        self.axis
    }

    /// Whether its values differ between protocols by powers of ten, so that maps and axes are logarithmic.
    pub fn ranges_widely(self) -> bool {
        self.ranges_widely
    }

    /// Its value of the part of `run` that `scope` describes; NaN for measures that do not look at a run alone.
    pub fn of(self, run: &Finished, scope: Scope) -> f64 {
        match self.compute {
            Compute::OfRun(compute) => compute(&Excerpt::new(run, scope)),
            _ => f64::NAN,
        }
    }
}

impl PartialEq for Measure {
    fn eq(&self, other: &Measure) -> bool {
        self.name == other.name
    }
}

impl fmt::Debug for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
