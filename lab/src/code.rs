//! Which code this is, so that results of other code are not taken for those of this program.
//!
//! Both names are hashes of tokens: a comment, a documentation page or a test changes neither. `build.rs` makes them.

/// Names the code that decides what a simulation gives: the sources of `control`, `path`, `experiment` and `sim`, and
/// the versions of the libraries that they use.
pub const SIMULATION: &str = env!("THALWEG_SIMULATION");

/// Names the code that decides what a record says: that of simulations, `scenario`, `lab` and `report`, and the
/// versions of all the libraries that they use.
pub const CODE: &str = env!("THALWEG_CODE");
