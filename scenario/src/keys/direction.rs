//! The direction of a flow or of traffic along its route.

use schemars::JsonSchema;
use serde::Deserialize;

/// Which way along a route.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// From its first link to its last.
    #[default]
    Forward,
    /// From its last link to its first.
    Reverse,
}
