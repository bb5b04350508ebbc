//! The description of a link as plain data, before any packet is on it.

mod build;
mod direction;
mod link;

pub use direction::{DirectionSetup, Errors, Reorder, RouterSetup};
pub use link::LinkSetup;
