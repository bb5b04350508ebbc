//! The transfers of connections that come and go, as Parquet. `docs/results.md` has the columns.

use super::columnar::{ROWS_PER_GROUP, begin, io_error, optional, required, text};
use experiment::Finished;
use parquet::data_type::{ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use std::io::{self, Write};

const TRANSFERS: &str = "message transfers {
    REQUIRED BYTE_ARRAY run (UTF8);
    REQUIRED BYTE_ARRAY traffic (UTF8);
    REQUIRED BYTE_ARRAY controller (UTF8);
    REQUIRED INT32 connection;
    REQUIRED DOUBLE start_s;
    REQUIRED DOUBLE rtt_ms;
    REQUIRED INT64 sent_bytes;
    REQUIRED INT64 answered_bytes;
    OPTIONAL DOUBLE completion_s;
    REQUIRED INT64 retransmitted_packets;
}";

/// Writes the transfers as Parquet, in the order in which they ended.
///
/// # Errors
/// If `out` cannot be written.
pub fn transfers(out: impl Write + Send, runs: &[Finished]) -> io::Result<()> {
    write(out, runs).map_err(io_error)
}

fn write(out: impl Write + Send, runs: &[Finished]) -> Result<(), ParquetError> {
    let mut file = begin(out, TRANSFERS)?;
    for Finished { run, outcome, .. } in runs {
        for (workload, outcome) in run.experiment.workloads.iter().zip(&outcome.workloads) {
            for rows in outcome.transfers.chunks(ROWS_PER_GROUP) {
                let mut group = file.next_row_group()?;
                let bytes = |side: usize| rows.iter().map(|row| row.sent[side].0 as i64).collect();
                required::<ByteArrayType>(&mut group, vec![text(&run.name()); rows.len()])?;
                required::<ByteArrayType>(&mut group, vec![text(&workload.name); rows.len()])?;
                required::<ByteArrayType>(&mut group, vec![text(&workload.controller); rows.len()])?;
                required::<Int32Type>(&mut group, rows.iter().map(|row| row.connection as i32 + 1).collect())?;
                required::<DoubleType>(&mut group, rows.iter().map(|row| row.start.as_secs()).collect())?;
                required::<DoubleType>(&mut group, rows.iter().map(|row| row.rtt.as_millis()).collect())?;
                required::<Int64Type>(&mut group, bytes(0))?;
                required::<Int64Type>(&mut group, bytes(1))?;
                optional::<DoubleType>(&mut group, rows.iter().map(|row| row.completed.map(|time| time.as_secs())))?;
                required::<Int64Type>(&mut group, rows.iter().map(|row| row.retransmitted.into()).collect())?;
                group.close()?;
            }
        }
    }
    file.close().map(drop)
}
