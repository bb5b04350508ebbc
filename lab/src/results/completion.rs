//! Mean completion time of transfers by size.

use super::columnar::{begin, io_error, optional, required, text};
use crate::processor_sharing;
use experiment::Finished;
use experiment::Transfer;
use parquet::data_type::{ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use serde::Serialize;
use std::io::{self, Write};

/// The transfers of one `[[traffic]]` whose size lies in a bin. The size is that of both sides' messages together.
#[derive(Clone, Debug, Serialize)]
pub struct SizeBin {
    /// The bin: from the first size on, and below the second.
    pub bytes: [u64; 2],
    /// How many transfers began within the measured interval and were completed.
    pub transfers: u64,
    /// Their mean size.
    pub mean_bytes: f64,
    /// Their mean completion time.
    pub mean_seconds: f64,
    /// The mean of the same transfers' completion times under processor sharing; none if [`processor_sharing::ideal`]
    /// has none.
    pub ideal_seconds: Option<f64>,
}

/// Number of bins per factor of ten in size.
const BINS_PER_DECADE: f64 = 4.0;

/// The transfers of workload `index` of `run`, by size. Bins without transfers are left out.
pub fn by_size(run: &Finished, index: usize) -> Vec<SizeBin> {
    let (from, to) = run.run.experiment.measure;
    let outcome = &run.outcome.workloads[index];
    let ideal = processor_sharing::ideal(run);
    let mut bins: Vec<Option<SizeBin>> = Vec::new();
    for (i, transfer) in outcome.transfers.iter().enumerate() {
        let Some(completed) = transfer.completed.filter(|_| from <= transfer.start && transfer.start < to) else {
            continue;
        };
        let size = size(transfer);
        let number = (libm::log10(size.max(1) as f64) * BINS_PER_DECADE + 1e-9) as usize;
        if bins.len() <= number {
            bins.resize(number + 1, None);
        }
        let ideal_time = ideal.as_ref().map(|times| times[i]);
        let empty = SizeBin {
            bytes: [number, number + 1].map(|edge| libm::pow(10.0, edge as f64 / BINS_PER_DECADE).round() as u64),
            transfers: 0,
            mean_bytes: 0.0,
            mean_seconds: 0.0,
            ideal_seconds: ideal_time.map(|_| 0.0),
        };
        let bin = bins[number].get_or_insert(empty);
        bin.transfers += 1;
        // Sums, which become means below.
        bin.mean_bytes += size as f64;
        bin.mean_seconds += completed.as_secs();
        bin.ideal_seconds = bin.ideal_seconds.zip(ideal_time).map(|(sum, time)| sum + time);
    }
    let mean = |bin: SizeBin| {
        let n = bin.transfers as f64;
        SizeBin {
            mean_bytes: bin.mean_bytes / n,
            mean_seconds: bin.mean_seconds / n,
            ideal_seconds: bin.ideal_seconds.map(|sum| sum / n),
            ..bin
        }
    };
    bins.into_iter().flatten().map(mean).collect()
}

/// Bytes that both sides sent for it.
fn size(transfer: &Transfer) -> u64 {
    transfer.sent[0].0.saturating_add(transfer.sent[1].0)
}

const COMPLETION: &str = "message completion {
    REQUIRED BYTE_ARRAY run (UTF8);
    REQUIRED BYTE_ARRAY traffic (UTF8);
    REQUIRED BYTE_ARRAY controller (UTF8);
    REQUIRED INT64 from_bytes;
    REQUIRED INT64 to_bytes;
    REQUIRED INT64 transfers;
    REQUIRED DOUBLE mean_bytes;
    REQUIRED DOUBLE mean_s;
    OPTIONAL DOUBLE ideal_s;
}";

/// Writes the bins of all runs as Parquet.
///
/// # Errors
/// If `out` cannot be written.
pub fn completion(out: impl Write + Send, runs: &[Finished]) -> io::Result<()> {
    write(out, runs).map_err(io_error)
}

fn write(out: impl Write + Send, runs: &[Finished]) -> Result<(), ParquetError> {
    let mut file = begin(out, COMPLETION)?;
    for run in runs {
        for (index, workload) in run.run.experiment.workloads.iter().enumerate() {
            let bins = by_size(run, index);
            let mut group = file.next_row_group()?;
            required::<ByteArrayType>(&mut group, vec![text(&run.run.name()); bins.len()])?;
            required::<ByteArrayType>(&mut group, vec![text(&workload.name); bins.len()])?;
            required::<ByteArrayType>(&mut group, vec![text(&workload.controller); bins.len()])?;
            for side in 0..2 {
                required::<Int64Type>(&mut group, bins.iter().map(|bin| bin.bytes[side] as i64).collect())?;
            }
            required::<Int64Type>(&mut group, bins.iter().map(|bin| bin.transfers as i64).collect())?;
            required::<DoubleType>(&mut group, bins.iter().map(|bin| bin.mean_bytes).collect())?;
            required::<DoubleType>(&mut group, bins.iter().map(|bin| bin.mean_seconds).collect())?;
            optional::<DoubleType>(&mut group, bins.iter().map(|bin| bin.ideal_seconds))?;
            group.close()?;
        }
    }
    file.close().map(drop)
}
