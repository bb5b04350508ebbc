//! What to evaluate.

use super::block::Block;
use crate::reproduce::Scale;
use scenario::Set;

/// Why the key `key` of all scenarios cannot be set in an evaluation beside `baseline`, and what to do.
pub fn unsettable(key: &str, baseline: &str) -> Option<&'static str> {
    if key.starts_with(&format!("controller.{baseline}.")) {
        Some("would change the baseline, too; name another baseline")
    } else if ["sweep", "compare", "flow", "traffic", "seed"].iter().any(|part| key.starts_with(part)) {
        Some("is what the blocks are made of; set a parameter of the controller")
    } else {
        None
    }
}

/// What to evaluate.
pub struct Task {
    /// The controller to evaluate.
    pub subject: String,
    /// The controller with which it is compared.
    pub baseline: String,
    /// The blocks.
    pub blocks: Vec<Block>,
    /// How much of each is run.
    pub scale: Scale,
    /// Values that replace those of all scenarios, such as parameters of the subject.
    pub sets: Vec<Set>,
}
