//! Figures as data: what a page shows, before anything is drawn.
//!
//! A [`Page`] has groups of figures that share a legend; a [`Figure`] has lines over time or over an axis of its own,
//! or a map of coloured squares. Which figures there are is decided in `runs` and `artefact`; `svg` and `html/page.js`
//! draw them.

mod curve;
mod heat;
mod page;
mod stated;
pub mod style;

pub use curve::Curve;
pub use heat::Heat;
pub use page::{Across, Band, Entry, Figure, Group, Line, Mark, Page, Vertical};
pub use stated::{Stated, apart};
