//! What to evaluate.

use super::block::Block;
use crate::reproduce::Scale;
use scenario::Set;

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
