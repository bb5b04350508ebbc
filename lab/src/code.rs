//! Which code this is, so that results of other code are not taken for those of this program.
//!
//! Both names are hashes of tokens: a comment, a documentation page or a test changes neither. `build/main.rs` makes
//! them.

/// Names the code that decides what a simulation gives: the sources of `sim` and of the crates that it uses, and the
/// versions of their libraries.
pub const SIMULATION: &str = env!("THALWEG_SIMULATION");

/// Names the code that decides what a record says: the sources of `report` and of the crates that it uses, and the
/// versions of their libraries.
pub const CODE: &str = env!("THALWEG_CODE");
