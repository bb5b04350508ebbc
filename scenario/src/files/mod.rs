//! The files beside a scenario that it names: traces of delivery opportunities, connection vectors, distributions of
//! sizes.

mod line_error;
pub(crate) mod regular;
pub(crate) mod size_distribution;
pub(crate) mod trace;
pub mod vectors;
