//! How a receiver breaks the rules.

use schemars::JsonSchema;
use serde::Deserialize;

/// How the receiver of a flow breaks the rules to get more than honest ones (RFC 9743, section 7.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Misbehaviour {
    /// It acknowledges what has not arrived: all packets before the one that did, and a hundred after it.
    OptimisticAcks,
    /// It reports ten times what it measured, or what routers allow.
    FalseReports,
}
