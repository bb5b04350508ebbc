//! `thalweg bench`.

#[cfg(feature = "lab")]
mod estimators;
#[cfg(feature = "wire")]
mod micros;
#[cfg(feature = "wire")]
mod pacing;
#[cfg(feature = "wire")]
mod quantum;

use crate::args::Bench;
use crate::failure::Failure;

/// Measures what `bench` names, and prints a table.
pub fn bench(bench: &Bench) -> Result<(), Failure> {
    match bench {
        #[cfg(feature = "wire")]
        Bench::Pacing { rates, duration } => pacing::bench(rates, *duration),
        #[cfg(feature = "lab")]
        Bench::Estimators(args) => estimators::bench(args),
    }
}
