//! What claims and figures measure: a list of [`Measure`]s, by family. An artefact has no measure of its own.
//!
//! A measure is a function of an [`Excerpt`] of a run or of curves, and a line in its family's list,
//! which gives it the name that artefacts use and the title of its axis.

mod acquisition;
mod buffered;
mod connections;
mod crossed;
mod curves;
mod definition;
mod excerpt;
mod fairness;
mod flows;
mod queue;
mod throughput;
mod transfers;

pub use crossed::Crossed;
pub use curves::response;
pub use definition::{Compute, Measure};
pub use excerpt::{Excerpt, Scope};

use serde::de::Error;
use serde::{Deserialize, Deserializer};

/// All measures, family by family.
pub fn all() -> impl Iterator<Item = Measure> {
    let families = [
        acquisition::ALL,
        throughput::ALL,
        fairness::ALL,
        queue::ALL,
        buffered::ALL,
        flows::ALL,
        transfers::ALL,
        connections::ALL,
        curves::ALL,
    ];
    families.into_iter().flatten().copied()
}

/// The measure called `name`.
pub fn find(name: &str) -> Option<Measure> {
    all().find(|measure| measure.name() == name)
}

/// A measure is its name.
impl<'de> Deserialize<'de> for Measure {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Measure, D::Error> {
        let name = String::deserialize(deserializer)?;
        let names: Vec<&str> = all().map(Measure::name).collect();
        find(&name).ok_or_else(|| {
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
