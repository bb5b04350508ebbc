//! The papers' tables and figures: what each says, which runs show it, and whether the runs confirm it.
//!
//! An [`artefact`] is data, a file of the [`catalogue`]: scenarios, claims, figures and [`curve`]s. [`runs`] plans and
//! makes its runs. A claim names its run by a [`selector`] and what it measures by a [`measure`]; `evaluate` takes the
//! value, [`judge`] compares it with the claim's band, and a [`record`] has what came of it. [`tally`] counts, the
//! papers' claims, those of other publications and ours apart; [`text`] writes records for people, [`records`] keeps
//! them in files.

pub mod artefact;
pub mod catalogue;
pub mod curve;
mod evaluate;
pub mod judge;
pub mod measure;
pub mod paper;
mod probing;
pub mod record;
pub mod records;
pub mod runs;
mod scenario_runs;
pub mod selector;
pub mod tally;
pub mod text;

pub use artefact::{Artefact, Scale};
pub use catalogue::{catalogue, file, unknown};
pub use judge::{Judged, Verdict};
pub use record::Record;
pub use runs::{Planned, Reproduced, make, plan};
pub use scenario_runs::ScenarioRuns;
