//! The results of runs, for people and for programs: a [table] for the terminal, a [summary] for JSON, and the
//! [metrics](runs()) of each run, time series and transfers as Parquet.

mod agreement;
pub(crate) mod columnar;
mod columns;
mod completion;
pub(crate) mod rows;
mod run_summary;
mod runs;
mod series;
mod summary;
pub mod table;
mod traffic;
mod transfers;

pub use agreement::Agreement;
pub(crate) use columns::maybe;
pub use columns::{Columns, DASH};
pub use completion::{SizeBin, by_size, completion};
pub use run_summary::{FlowSummary, LinkSummary, RunSummary, summarize};
pub use runs::runs;
pub use series::{SERIES, Series, flows, links};
pub use summary::{Summary, summary};
pub use table::table;
pub use traffic::{TrafficSummary, VideoSummary};
pub use transfers::transfers;

use experiment::Finished;
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::Path;

/// Writes all results into the existing folder `dir`: `summary.json`, `flows.parquet`, `links.parquet`,
/// `transfers.parquet` and `completion.parquet`. Returns the summary that it wrote.
///
/// The same runs give the same bytes: nothing in these files says when or how fast the runs were made.
///
/// # Errors
/// If a file cannot be written. The files that were written before it stay.
pub fn write(dir: &Path, title: &str, seed: u64, runs: &[Finished]) -> io::Result<Summary> {
    let summary = summary(title, seed, runs).without_wall_time();
    let mut json = serde_json::to_vec_pretty(&summary)?;
    json.push(b'\n');
    fs::write(dir.join("summary.json"), json)?;
    flows(BufWriter::new(File::create(dir.join("flows.parquet"))?), runs)?;
    links(BufWriter::new(File::create(dir.join("links.parquet"))?), runs)?;
    transfers(BufWriter::new(File::create(dir.join("transfers.parquet"))?), runs)?;
    completion(BufWriter::new(File::create(dir.join("completion.parquet"))?), runs)?;
    Ok(summary)
}
