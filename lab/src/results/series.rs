//! The time series as Parquet, in long format: one row per flow (or link) and sample. `docs/results.md` has the columns.

use control::{Bytes, Phase, Time};
use experiment::Finished;
use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use std::io::{self, Write};
use std::sync::Arc;

/// About as many rows as are in memory at a time; more only if a single series is longer.
pub(super) const ROWS_PER_GROUP: usize = 1 << 18;

const FLOWS: &str = "message flows {
    REQUIRED BYTE_ARRAY run (UTF8);
    REQUIRED INT32 flow;
    REQUIRED BYTE_ARRAY controller (UTF8);
    REQUIRED DOUBLE time_s;
    REQUIRED DOUBLE throughput_mbps;
    OPTIONAL DOUBLE window_packets;
    OPTIONAL DOUBLE rate_mbps;
    OPTIONAL DOUBLE available_mbps;
    OPTIONAL DOUBLE rtt_ms;
    REQUIRED INT64 retransmitted_packets;
    OPTIONAL BYTE_ARRAY phase (UTF8);
}";

const LINKS: &str = "message links {
    REQUIRED BYTE_ARRAY run (UTF8);
    REQUIRED BYTE_ARRAY link (UTF8);
    REQUIRED DOUBLE time_s;
    OPTIONAL DOUBLE queue_packets;
    REQUIRED INT64 max_queue_packets;
    REQUIRED INT64 drops;
    OPTIONAL DOUBLE utilization;
    OPTIONAL DOUBLE allowed_mbps;
    OPTIONAL DOUBLE growth_kb;
}";

/// Writes the flows' series. Fails only if `out` does.
pub(super) fn flows(out: impl Write + Send, runs: &[Finished]) -> io::Result<()> {
    write_flows(out, runs).map_err(io_error)
}

/// Writes the links' series. Fails only if `out` does.
pub(super) fn links(out: impl Write + Send, runs: &[Finished]) -> io::Result<()> {
    write_links(out, runs).map_err(io_error)
}

fn write_flows(out: impl Write + Send, runs: &[Finished]) -> Result<(), ParquetError> {
    let mut file = begin(out, FLOWS)?;
    for Finished { run, outcome, .. } in runs {
        let samples = outcome.sampled.len();
        let times = seconds(&outcome.sampled);
        let flows: Vec<_> = run.experiment.flows.iter().zip(&outcome.flows).enumerate().collect();
        for flows in flows.chunks(flows_per_group(samples)) {
            let mut group = file.next_row_group()?;
            let rows = |of: fn(&experiment::FlowSeries) -> &[f64], factor: f64| {
                flows.iter().flat_map(move |(_, (_, result))| of(&result.series).iter().map(move |x| x * factor))
            };
            let throughput = flows.iter().flat_map(|(_, (_, result))| throughput_mbps(result, &outcome.sampled));
            let retransmitted = flows.iter().flat_map(|(_, (_, result))| &result.series.retransmitted);
            let phase = flows.iter().flat_map(|(_, (_, result))| &result.series.phase);
            required::<ByteArrayType>(&mut group, vec![text(&run.name()); flows.len() * samples])?;
            required::<Int32Type>(&mut group, repeat(flows.iter().map(|(i, _)| *i as i32 + 1), samples))?;
            let controllers = flows.iter().map(|(_, (flow, _))| text(&flow.controller));
            required::<ByteArrayType>(&mut group, repeat(controllers, samples))?;
            required::<DoubleType>(&mut group, times.repeat(flows.len()))?;
            required::<DoubleType>(&mut group, throughput.collect())?;
            optional::<DoubleType>(&mut group, rows(|series| &series.window, 1.0).map(number))?;
            optional::<DoubleType>(&mut group, rows(|series| &series.rate, 1e-6).map(number))?;
            optional::<DoubleType>(&mut group, rows(|series| &series.available, 1e-6).map(number))?;
            optional::<DoubleType>(&mut group, rows(|series| &series.rtt, 1e3).map(number))?;
            required::<Int64Type>(&mut group, retransmitted.map(|&n| n.into()).collect())?;
            optional::<ByteArrayType>(&mut group, phase.map(|phase| phase.map(|p: Phase| text(&p.to_string()))))?;
            group.close()?;
        }
    }
    file.close().map(drop)
}

fn write_links(out: impl Write + Send, runs: &[Finished]) -> Result<(), ParquetError> {
    let mut file = begin(out, LINKS)?;
    for Finished { run, outcome, .. } in runs {
        let times = seconds(&outcome.sampled);
        for link in &outcome.links {
            let series = &link.series;
            let mut group = file.next_row_group()?;
            required::<ByteArrayType>(&mut group, vec![text(&run.name()); times.len()])?;
            required::<ByteArrayType>(&mut group, vec![text(&link.name); times.len()])?;
            required::<DoubleType>(&mut group, times.clone())?;
            optional::<DoubleType>(&mut group, series.queue.iter().copied().map(number))?;
            required::<Int64Type>(&mut group, series.max_queue.iter().map(|&n| n as i64).collect())?;
            required::<Int64Type>(&mut group, series.drops.iter().map(|&n| n.into()).collect())?;
            optional::<DoubleType>(&mut group, series.utilization.iter().copied().map(number))?;
            for (series, factor) in [(&series.allowed, 1e-6), (&series.growth, 1e-3)] {
                let values = (0..times.len()).map(|i| series.get(i).and_then(|x| number(x * factor)));
                optional::<DoubleType>(&mut group, values)?;
            }
            group.close()?;
        }
    }
    file.close().map(drop)
}

pub(super) fn begin<W: Write + Send>(out: W, schema: &str) -> Result<SerializedFileWriter<W>, ParquetError> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(concat!("thalweg ", env!("CARGO_PKG_VERSION")).to_string());
    SerializedFileWriter::new(out, Arc::new(parse_message_type(schema)?), Arc::new(properties.build()))
}

/// Writes the group's next column.
pub(super) fn required<T: DataType>(
    group: &mut SerializedRowGroupWriter<impl Write + Send>,
    values: Vec<T::T>,
) -> Result<(), ParquetError> {
    column::<T>(group, &values, None)
}

/// Writes the group's next column, in which values may be missing.
pub(super) fn optional<T: DataType>(
    group: &mut SerializedRowGroupWriter<impl Write + Send>,
    values: impl Iterator<Item = Option<T::T>>,
) -> Result<(), ParquetError> {
    let mut present = Vec::new();
    let levels: Vec<i16> = values
        .map(|value| {
            let level = value.is_some().into();
            present.extend(value);
            level
        })
        .collect();
    column::<T>(group, &present, Some(&levels))
}

fn column<T: DataType>(
    group: &mut SerializedRowGroupWriter<impl Write + Send>,
    values: &[T::T],
    levels: Option<&[i16]>,
) -> Result<(), ParquetError> {
    let column = group.next_column()?;
    let mut column = column.ok_or_else(|| ParquetError::General("more columns than the schema has".to_string()))?;
    column.typed::<T>().write_batch(values, levels, None)?;
    column.close()
}

fn flows_per_group(samples: usize) -> usize {
    (ROWS_PER_GROUP / samples.max(1)).max(1)
}

/// Goodput in each sampling interval.
fn throughput_mbps<'a>(flow: &'a experiment::FlowOutcome, sampled: &'a [Time]) -> impl Iterator<Item = f64> + 'a {
    let begins = std::iter::once(Time::ZERO).chain(sampled.iter().copied());
    let intervals = sampled.iter().zip(begins).map(|(end, begin)| end.since(begin));
    flow.series.delivered.iter().zip(intervals).map(|(&bytes, time)| Bytes(bytes).over(time).as_mbps())
}

fn seconds(times: &[Time]) -> Vec<f64> {
    times.iter().map(|time| time.as_secs()).collect()
}

pub(super) fn text(text: &str) -> ByteArray {
    text.into()
}

/// Nothing instead of NaN.
fn number(x: f64) -> Option<f64> {
    x.is_finite().then_some(x)
}

/// Each value `times` times in a row.
fn repeat<T: Clone>(values: impl Iterator<Item = T>, times: usize) -> Vec<T> {
    values.flat_map(|value| std::iter::repeat_n(value, times)).collect()
}

pub(super) fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}
