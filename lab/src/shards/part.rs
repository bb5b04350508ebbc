//! The files of one shard.

use super::draft::Draft;
use super::name::Name;
use super::refusal::Refusal;
use super::store::Store;
use crate::results::columnar::ROWS_PER_GROUP;
use crate::results::{self, RunSummary, SERIES, summarize};
use experiment::Finished;
use scenario::{Plan, Shard};
use std::path::Path;

/// About how many rows of time series are in memory while those of all shards are joined.
const ROWS_IN_MEMORY: usize = 1 << 20;
/// The least number of rows in a group of a shard's time series.
const LEAST_ROWS_PER_GROUP: usize = 1 << 10;

/// The files of one shard: its metrics, and its time series if they are wanted.
pub struct Part {
    store: Store,
    name: Name,
    with_series: bool,
    is_there: bool,
}

impl Part {
    /// The files of `shard` of `plan` in `place`: a folder, which is made if it is not there, or `s3://BUCKET/PREFIX`.
    ///
    /// # Errors
    /// If files cannot be written there, or shards of another plan are there.
    pub fn prepare(place: &Path, plan: &Plan, shard: Shard, with_series: bool) -> Result<Part, Refusal> {
        let store = Store::open(place)?;
        store.prepare()?;
        let name = Name::of(shard, plan);
        let there = Name::all_in(&store)?;
        if let Some(other) = there.iter().find(|other| !other.is_beside(&name)) {
            return Err(Refusal::Wrong(format!(
                "{}: holds {other}, which is of another scenario, other settings, another number of shards or another \
                 version of thalweg; name another folder, or remove it",
                place.display()
            )));
        }
        let has_series = || SERIES.iter().all(|series| there.contains(&name.with(series.name)));
        let is_there = there.contains(&name) && (!with_series || has_series());
        Ok(Part { store, name, with_series, is_there })
    }

    /// Where the metrics are.
    pub fn path(&self) -> String {
        self.store.path(&self.name.to_string())
    }

    /// Whether all files were there when it was prepared.
    pub fn is_there(&self) -> bool {
        self.is_there
    }

    /// The metrics in their file; none if it is not there.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn read(&self) -> Result<Option<Vec<u8>>, Refusal> {
        self.store.read(&self.name.to_string())
    }

    /// What is kept of the shard's runs until all are complete.
    ///
    /// # Errors
    /// If time series are wanted, and there can be no temporary file.
    pub fn begin(&self) -> Result<Kept, Refusal> {
        let series = self.with_series.then(|| self.store.temporary().map(Draft::in_file)).transpose()?;
        Ok(Kept { series })
    }

    /// Writes the shard's files: the time series of `kept`, and `metrics` when those are there. So a shard that has
    /// metrics is complete, whenever its process is killed.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn write(&self, plan: &Plan, kept: &Kept, metrics: Vec<u8>) -> Result<(), Refusal> {
        if let Some(draft) = &kept.series {
            // Of each shard, one group is in memory while they are joined.
            let rows = (ROWS_IN_MEMORY / self.name.shard.of()).clamp(LEAST_ROWS_PER_GROUP, ROWS_PER_GROUP);
            for (which, series) in SERIES.iter().enumerate() {
                let write = |out: results::rows::Out| draft.write(which, plan, out, rows).map_err(Refusal::Failed);
                self.store.fill(&self.name.with(series.name).to_string(), write)?;
            }
        }
        self.store.write(&self.name.to_string(), metrics)
    }
}

/// What is kept of a shard's runs beside their metrics: their time series, if they are wanted.
pub struct Kept {
    series: Option<Draft>,
}

impl Kept {
    /// Keeps the time series of a run if they are wanted, and returns its metrics.
    ///
    /// # Errors
    /// A line that says that the time series cannot be written.
    pub fn add(&self, run: &Finished) -> Result<RunSummary, String> {
        if let Some(draft) = &self.series {
            draft.add(run)?;
        }
        Ok(summarize(run))
    }
}
