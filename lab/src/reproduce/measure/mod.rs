//! What claims and figures measure: a list of [`Measure`]s, by family. An artefact has no measure of its own.
//!
//! A measure is a function of an [`Excerpt`] of a run, of curves, or of a number, and a line in its family's list,
//! which gives it the name that artefacts use and the title of its axis.

mod acquisition;
mod curves;
mod excerpt;
mod fairness;
mod flows;
mod queue;
mod rapid;
mod throughput;
mod transfers;

pub use curves::{Crossed, response};
pub use excerpt::{Excerpt, Scope};

use super::curve::Curve;
use experiment::Finished;
use serde::de::Error;
use serde::{Deserialize, Deserializer};
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
    /// From a number: a closed form.
    OfLevel(fn(f64) -> f64),
}

/// All measures, family by family.
pub fn all() -> impl Iterator<Item = Measure> {
    let families = [
        acquisition::ALL,
        throughput::ALL,
        fairness::ALL,
        queue::ALL,
        flows::ALL,
        transfers::ALL,
        curves::ALL,
        rapid::ALL,
    ];
    families.into_iter().flatten().copied()
}

impl Measure {
    /// A measure of a part of a run. `name` is what artefacts call it; `axis`, the title of its axis with the unit in
    /// brackets.
    pub const fn of_run(name: &'static str, axis: &'static str, compute: fn(&Excerpt) -> f64) -> Measure {
        Measure::new(name, axis, Compute::OfRun(compute))
    }

    const fn new(name: &'static str, axis: &'static str, compute: Compute) -> Measure {
        Measure { name, axis, ranges_widely: false, compute }
    }

    /// The same measure, whose values differ between protocols by powers of ten.
    const fn ranging_widely(self) -> Measure {
        Measure { ranges_widely: true, ..self }
    }

    /// The measure called `name`.
    pub fn find(name: &str) -> Option<Measure> {
        all().find(|measure| measure.name == name)
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
            Compute::OfLevel(compute) => compute(scope.level),
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

/// A measure is its name.
impl<'de> Deserialize<'de> for Measure {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Measure, D::Error> {
        let name = String::deserialize(deserializer)?;
        let names: Vec<&str> = all().map(Measure::name).collect();
        Measure::find(&name).ok_or_else(|| {
            D::Error::custom(match scenario::nearest(&name, &names) {
                Some(near) => format!("there is no measure `{name}`; did you mean `{near}`?"),
                None => format!("there is no measure `{name}`; docs/reproduce-artefacts.md lists them"),
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        let mut names: Vec<&str> = all().map(Measure::name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn every_measure_is_documented() {
        let page = include_str!("../../../../docs/reproduce-artefacts.md");
        for measure in all() {
            assert!(page.contains(&format!("`{}`", measure.name())), "docs/reproduce-artefacts.md lacks {measure:?}");
        }
    }
}
