//! The results of a plan whose runs are divided among machines. Each machine makes the runs of one [`Shard`], and
//! writes their metrics into a file of a folder that all of them share; [`merge`] joins the files of all shards.
//!
//! A file is there as a whole or not at all, and its name says which shard of which plan it holds. So no machine needs
//! to know of another one.

mod join;
mod name;

use crate::files;
use crate::results::{self, RunSummary};
use name::Name;
use scenario::{Plan, Shard, reason};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Why a shard or the whole is not written: a line that says so, and what to do.
#[derive(Debug)]
pub enum Refusal {
    /// The folder is not one for this.
    Wrong(String),
    /// Shards are missing, or a file cannot be read or written.
    Failed(String),
}

/// The file of one shard's metrics.
pub struct Part {
    folder: PathBuf,
    name: Name,
}

impl Part {
    /// The file of `shard` of `plan` in `folder`, which is made if it is not there.
    ///
    /// # Errors
    /// If files cannot be written in the folder, or it holds shards of another plan.
    pub fn prepare(folder: &Path, plan: &Plan, shard: Shard) -> Result<Part, Refusal> {
        let unwritable = |e: io::Error| {
            let why = reason(&e);
            Refusal::Wrong(format!("{}: cannot be written ({why}); name another folder", folder.display()))
        };
        fs::create_dir_all(folder).map_err(unwritable)?;
        // A shard may take hours. So it is tried first whether there can be a file.
        tempfile::tempfile_in(folder).map_err(unwritable)?;
        let name = Name::of(shard, plan);
        match names(folder)?.into_iter().find(|other| !other.is_beside(&name)) {
            Some(other) => Err(Refusal::Wrong(format!(
                "{}: holds {other}, which is of another scenario, other settings, another number of shards or another \
                 version of thalweg; name another folder, or remove it",
                folder.display()
            ))),
            None => Ok(Part { folder: folder.to_path_buf(), name }),
        }
    }

    /// Where the file is.
    pub fn path(&self) -> PathBuf {
        self.folder.join(self.name.to_string())
    }

    /// The metrics in the file; none if it is not there.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn read(&self) -> Result<Option<Vec<u8>>, Refusal> {
        let path = self.path();
        match fs::read(&path) {
            Ok(metrics) => Ok(Some(metrics)),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(Refusal::Failed(format!(
                "{}: cannot be read ({}); remove it, and run its shard again",
                path.display(),
                reason(&e)
            ))),
        }
    }

    /// Writes the `metrics` of the shard.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, metrics: &[u8]) -> Result<(), Refusal> {
        let path = self.path();
        files::write(&path, |file| file.write_all(metrics)).map_err(|e| unwritten(&path, &e))
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

/// Joins the shards in `folder` to one file there, `summary.parquet`, in the order of the plan's runs, and returns its
/// path. It is the same file for any number of shards.
///
/// # Errors
/// If shards are missing, the folder holds none or those of several plans, or a file cannot be read or written.
pub fn merge(folder: &Path) -> Result<PathBuf, Refusal> {
    let wrong = |why: String| Refusal::Wrong(format!("{}: {why}", folder.display()));
    let mut all = names(folder)?;
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
            folder.display()
        )));
    }
    let parts: Vec<PathBuf> = all.iter().map(|name| folder.join(name.to_string())).collect();
    let path = folder.join("summary.parquet");
    let joined = join::join(&parts).map_err(Refusal::Failed)?;
    files::write(&path, |file| file.write_all(&joined)).map_err(|e| unwritten(&path, &e))?;
    Ok(path)
}

/// The shards in `folder`.
fn names(folder: &Path) -> Result<Vec<Name>, Refusal> {
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let entries = entries.map_err(|e| {
        let why = reason(&e);
        Refusal::Wrong(format!("{}: cannot be read ({why}); check its name and permissions", folder.display()))
    })?;
    Ok(entries.iter().filter_map(|entry| Name::parse(entry.file_name().to_str()?)).collect())
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

fn unwritten(path: &Path, error: &io::Error) -> Refusal {
    Refusal::Failed(format!("{}: cannot be written ({})", path.display(), reason(error)))
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
