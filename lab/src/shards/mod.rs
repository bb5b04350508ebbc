//! The results of a plan whose runs are divided among machines. Each machine makes the runs of one [`Shard`], and
//! writes their metrics, and their time series if they are wanted, into files of a folder or of an object store that
//! all of them share; [`merge`] joins the files of all shards.
//!
//! A file is there as a whole or not at all, and its name says which shard of which plan it holds. So no machine needs
//! to know of another one.

#[cfg(feature = "object-store")]
mod bucket;
mod draft;
mod join;
mod merge;
mod name;
mod part;
mod refusal;
mod series;
mod source;
mod store;

use crate::results::{self, RunSummary};
use name::Name;
use scenario::{Plan, Shard};

pub use merge::{Merged, merge};
pub use part::{Kept, Part};
pub use refusal::Refusal;
pub use store::is_object_store;

/// What names `plan` in the names of its files: a hash of its values and of the code.
pub fn plan_name(plan: &Plan) -> String {
    Name::of(Shard::ALL, plan).plan
}

/// The metrics of `runs`, those of a shard of `plan` in its order, as a Parquet file. It has no wall times: so it is
/// the same file whenever it is made.
///
/// # Errors
/// If it cannot be written, for lack of memory.
pub fn metrics(plan: &Plan, mut runs: Vec<RunSummary>) -> Result<Vec<u8>, Refusal> {
    for run in &mut runs {
        run.wall_seconds = None;
    }
    let mut parquet = Vec::new();
    let written = results::runs(&mut parquet, &runs, &plan.sweep);
    written.map_err(|e| Refusal::Failed(format!("the metrics cannot be written ({e})")))?;
    Ok(parquet)
}

/// Joins the [`metrics`] of all shards of a plan, in their order, to one Parquet file with the runs in the plan's
/// order.
///
/// # Errors
/// If one of them is no such file.
pub fn join(shards: Vec<Vec<u8>>) -> Result<Vec<u8>, Refusal> {
    let of = shards.len();
    let named =
        |(i, bytes): (usize, Vec<u8>)| source::InMemory { name: format!("shard {}/{of}", i + 1), bytes: bytes.into() };
    let parts: Vec<_> = shards.into_iter().enumerate().map(named).collect();
    join::join(&parts).map_err(Refusal::Failed)
}
