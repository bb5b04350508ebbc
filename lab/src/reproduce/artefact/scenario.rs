//! The scenarios of an artefact.

use super::scale::Scale;
use serde::Deserialize;

/// Some of an artefact's runs: a scenario file, and what is changed in it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Scenario {
    /// The name by which claims and figures refer to it.
    pub name: String,
    /// The file, in the folder `scenarios` of the paper.
    pub file: String,
    /// Keys that replace those of the file, each like `path.rate=10 Gbps`.
    #[serde(default)]
    set: Vec<String>,
    /// Keys that replace those, at quick scale.
    #[serde(default)]
    quick: Vec<String>,
    /// Keys that replace those, at full scale.
    #[serde(default)]
    full: Vec<String>,
    /// The only scale at which it runs; none if at both.
    pub scale: Option<Scale>,
}

impl Scenario {
    /// The keys that replace those of the file at `scale`, in the order in which they are to be set.
    pub fn sets(&self, scale: Scale) -> impl Iterator<Item = &String> {
        self.set.iter().chain(match scale {
            Scale::Quick => &self.quick,
            Scale::Full => &self.full,
        })
    }
}
