//! The results of a plan whose runs are divided among machines. Each machine makes the runs of one [`Shard`], and
//! writes their metrics into a file of a folder or of an object store that all of them share; [`merge`] joins the files
//! of all shards.
//!
//! A file is there as a whole or not at all, and its name says which shard of which plan it holds. So no machine needs
//! to know of another one.

#[cfg(feature = "object-store")]
mod bucket;
mod join;
mod name;
mod refusal;
mod store;

use crate::results::{self, RunSummary};
use name::Name;
use scenario::{Plan, Shard};
use std::path::Path;
use store::Store;

pub use refusal::Refusal;
pub use store::is_object_store;

/// The name of the file with the runs of all shards.
const SUMMARY: &str = "summary.parquet";

/// The file of one shard's metrics.
pub struct Part {
    store: Store,
    name: Name,
    is_there: bool,
}

impl Part {
    /// The file of `shard` of `plan` in `place`: a folder, which is made if it is not there, or `s3://BUCKET/PREFIX`.
    ///
    /// # Errors
    /// If files cannot be written there, or shards of another plan are there.
    pub fn prepare(place: &Path, plan: &Plan, shard: Shard) -> Result<Part, Refusal> {
        let store = Store::open(place)?;
        store.prepare()?;
        let name = Name::of(shard, plan);
        let others = names(&store)?;
        if let Some(other) = others.iter().find(|other| !other.is_beside(&name)) {
            return Err(Refusal::Wrong(format!(
                "{}: holds {other}, which is of another scenario, other settings, another number of shards or another \
                 version of thalweg; name another folder, or remove it",
                place.display()
            )));
        }
        Ok(Part { store, is_there: others.contains(&name), name })
    }

    /// Where the file is.
    pub fn path(&self) -> String {
        self.store.path(&self.name.to_string())
    }

    /// Whether the file was there when it was prepared.
    pub fn is_there(&self) -> bool {
        self.is_there
    }

    /// The metrics in the file; none if it is not there.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn read(&self) -> Result<Option<Vec<u8>>, Refusal> {
        self.store.read(&self.name.to_string())
    }

    /// Writes the `metrics` of the shard.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, metrics: Vec<u8>) -> Result<(), Refusal> {
        self.store.write(&self.name.to_string(), metrics)
    }
}

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
        |(i, bytes): (usize, Vec<u8>)| join::InMemory { name: format!("shard {}/{of}", i + 1), bytes: bytes.into() };
    let parts: Vec<_> = shards.into_iter().enumerate().map(named).collect();
    join::join(&parts).map_err(Refusal::Failed)
}

/// Joins the shards in `place`, a folder or `s3://BUCKET/PREFIX`, to one file there, `summary.parquet`, in the order of
/// the plan's runs, and returns where it is. It is the same file for any number of shards.
///
/// # Errors
/// If shards are missing, there are none or those of several plans, or a file cannot be read or written.
pub fn merge(place: &Path) -> Result<String, Refusal> {
    let store = Store::open(place)?;
    let wrong = |why: String| Refusal::Wrong(format!("{}: {why}", place.display()));
    let mut all = names(&store)?;
    all.sort_by_key(|name| name.shard.number());
    let Some(first) = all.first() else {
        return Err(wrong("holds no shards; name the folder of thalweg run --shard".into()));
    };
    if let Some(other) = all.iter().find(|other| !other.is_beside(first)) {
        return Err(wrong(format!("{first} and {other} are not of the same plan; remove those of one")));
    }
    let of = first.shard.of();
    if let Some(missing) = missing(all.iter().map(|name| name.shard.number()), of) {
        return Err(Refusal::Failed(format!(
            "{}: these of {of} shards are missing: {missing}; run them with --shard, and merge again",
            place.display()
        )));
    }
    let joined = match &store {
        Store::Folder(folder) => {
            let parts: Vec<_> = all.iter().map(|name| folder.join(name.to_string())).collect();
            join::join(&parts)
        }
        #[cfg(feature = "object-store")]
        Store::Bucket(bucket) => {
            let mut parts = Vec::new();
            for name in all.iter().map(Name::to_string) {
                let bytes = bucket.read(&name)?.unwrap_or_default().into();
                parts.push(join::InMemory { name: bucket.path(&name), bytes });
            }
            join::join(&parts)
        }
    };
    store.write(SUMMARY, joined.map_err(Refusal::Failed)?)?;
    Ok(store.path(SUMMARY))
}

/// The shards in `store`.
fn names(store: &Store) -> Result<Vec<Name>, Refusal> {
    Ok(store.names()?.iter().filter_map(|name| Name::parse(name)).collect())
}

/// Which of the numbers from 1 to `of` are not among those `there`, which are sorted; none if all are there. Ranges are
/// written as Slurm takes them: `2,5-7`.
fn missing(there: impl Iterator<Item = usize>, of: usize) -> Option<String> {
    let mut next = 1;
    let mut ranges = Vec::new();
    for number in there.chain([of.saturating_add(1)]) {
        match number.saturating_sub(next) {
            0 => {}
            1 => ranges.push(next.to_string()),
            _ => ranges.push(format!("{next}-{}", number - 1)),
        }
        next = number.saturating_add(1);
    }
    (!ranges.is_empty()).then(|| ranges.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_shards_are_named_in_ranges() {
        let of_ten = |there: &[usize]| missing(there.iter().copied(), 10);
        assert_eq!(of_ten(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]), None);
        assert_eq!(of_ten(&[1, 3, 4, 8, 9]).unwrap(), "2,5-7,10");
        assert_eq!(of_ten(&[10]).unwrap(), "1-9");
        assert_eq!(missing([1].into_iter(), usize::MAX).unwrap(), format!("2-{}", usize::MAX - 1));
    }
}
