//! A link, as plain data.

use super::direction::DirectionSetup;
use crate::Buffer;
use control::{Duration, Rate};
use std::iter;

/// What a link is like.
#[derive(Clone, Debug)]
pub struct LinkSetup {
    /// What results call it.
    pub name: String,
    /// From its near to its far end.
    pub forward: DirectionSetup,
    /// From its far to its near end; none if it is as forward.
    pub reverse: Option<DirectionSetup>,
}

impl LinkSetup {
    /// A link that is the same in both directions: with a drop-tail queue, without a router, errors or changes.
    pub fn plain(name: &str, rate: Rate, delay: Duration, buffer: Buffer) -> LinkSetup {
        LinkSetup { name: name.into(), forward: DirectionSetup::plain(rate, delay, buffer), reverse: None }
    }

    /// The forward direction, or the one in `reverse`.
    pub fn direction(&self, reverse: bool) -> &DirectionSetup {
        self.reverse.as_ref().filter(|_| reverse).unwrap_or(&self.forward)
    }

    /// Each description: that of both directions, or those of one and the other.
    pub fn each(&self) -> impl Iterator<Item = &DirectionSetup> {
        iter::once(&self.forward).chain(&self.reverse)
    }

    /// [`LinkSetup::each`], to change them.
    pub fn each_mut(&mut self) -> impl Iterator<Item = &mut DirectionSetup> {
        iter::once(&mut self.forward).chain(&mut self.reverse)
    }

    /// Propagation delay there and back.
    pub fn round_trip(&self) -> Duration {
        self.forward.delay + self.direction(true).delay
    }
}
