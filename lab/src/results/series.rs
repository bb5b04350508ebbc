//! The time series as Parquet, in long format: one row per flow (or link) and sample. `docs/results.md` has the
//! columns.

use super::columnar::{ROWS_PER_GROUP, begin, io_error, number, optional, repeat, required, text};
use control::{Bytes, Phase, Time};
use experiment::{Finished, FlowOutcome, FlowSeries, LinkSeries};
use parquet::data_type::{ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use std::io::{self, Write};

/// A column of numbers, in which rows may lack a value.
struct Column<S> {
    name: &'static str,
    /// The series; empty, or as long as there are samples.
    series: fn(&S) -> &[f64],
    /// From the series' unit to the column's.
    factor: f64,
}

/// The columns of flows that are a series of numbers each.
const FLOW_COLUMNS: [Column<FlowSeries>; 4] = [
    Column { name: "window_packets", series: |it| &it.window, factor: 1.0 },
    Column { name: "rate_mbps", series: |it| &it.rate, factor: 1e-6 },
    Column { name: "available_mbps", series: |it| &it.available, factor: 1e-6 },
    Column { name: "rtt_ms", series: |it| &it.rtt, factor: 1e3 },
];

/// The columns of what routers allow.
const ROUTER_COLUMNS: [Column<LinkSeries>; 2] = [
    Column { name: "allowed_mbps", series: |it| &it.allowed, factor: 1e-6 },
    Column { name: "growth_kb", series: |it| &it.growth, factor: 1e-3 },
];

/// The schema's lines for `columns`.
fn declared<S>(columns: &[Column<S>]) -> String {
    columns.iter().map(|column| format!("OPTIONAL DOUBLE {};\n", column.name)).collect()
}

fn flow_schema() -> String {
    let series = declared(&FLOW_COLUMNS);
    format!(
        "message flows {{
            REQUIRED BYTE_ARRAY run (UTF8);
            REQUIRED INT32 flow;
            REQUIRED BYTE_ARRAY controller (UTF8);
            REQUIRED DOUBLE time_s;
            REQUIRED DOUBLE throughput_mbps;
            {series}
            REQUIRED INT64 retransmitted_packets;
            OPTIONAL BYTE_ARRAY phase (UTF8);
        }}"
    )
}

fn link_schema() -> String {
    let router = declared(&ROUTER_COLUMNS);
    format!(
        "message links {{
            REQUIRED BYTE_ARRAY run (UTF8);
            REQUIRED BYTE_ARRAY link (UTF8);
            REQUIRED DOUBLE time_s;
            OPTIONAL DOUBLE queue_packets;
            REQUIRED INT64 max_queue_packets;
            REQUIRED INT64 drops;
            OPTIONAL DOUBLE utilization;
            {router}
        }}"
    )
}

/// Writes the flows' series as Parquet.
///
/// # Errors
/// If `out` cannot be written.
pub fn flows(out: impl Write + Send, runs: &[Finished]) -> io::Result<()> {
    write_flows(out, runs).map_err(io_error)
}

/// Writes the links' series as Parquet.
///
/// # Errors
/// If `out` cannot be written.
pub fn links(out: impl Write + Send, runs: &[Finished]) -> io::Result<()> {
    write_links(out, runs).map_err(io_error)
}

fn write_flows(out: impl Write + Send, runs: &[Finished]) -> Result<(), ParquetError> {
    let mut file = begin(out, &flow_schema())?;
    for Finished { run, outcome, .. } in runs {
        let samples = outcome.sampled.len();
        let times = seconds(&outcome.sampled);
        let flows: Vec<_> = run.experiment.flows.iter().zip(&outcome.flows).enumerate().collect();
        for flows in flows.chunks((ROWS_PER_GROUP / samples.max(1)).max(1)) {
            let mut group = file.next_row_group()?;
            let throughput = flows.iter().flat_map(|(_, (_, result))| throughput_mbps(result, &outcome.sampled));
            let retransmitted = flows.iter().flat_map(|(_, (_, result))| &result.series.retransmitted);
            let phase = flows.iter().flat_map(|(_, (_, result))| &result.series.phase);
            required::<ByteArrayType>(&mut group, vec![text(&run.name()); flows.len() * samples])?;
            required::<Int32Type>(&mut group, repeat(flows.iter().map(|(i, _)| *i as i32 + 1), samples))?;
            let controllers = flows.iter().map(|(_, (flow, _))| text(&flow.controller));
            required::<ByteArrayType>(&mut group, repeat(controllers, samples))?;
            required::<DoubleType>(&mut group, times.repeat(flows.len()))?;
            required::<DoubleType>(&mut group, throughput.collect())?;
            for Column { series, factor, .. } in &FLOW_COLUMNS {
                let values = flows.iter().flat_map(|(_, (_, result))| series(&result.series));
                optional::<DoubleType>(&mut group, values.map(|x| number(x * factor)))?;
            }
            required::<Int64Type>(&mut group, retransmitted.map(|&n| n.into()).collect())?;
            optional::<ByteArrayType>(&mut group, phase.map(|phase| phase.map(|p: Phase| text(&p.to_string()))))?;
            group.close()?;
        }
    }
    file.close().map(drop)
}

fn write_links(out: impl Write + Send, runs: &[Finished]) -> Result<(), ParquetError> {
    let mut file = begin(out, &link_schema())?;
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
            for Column { series: of, factor, .. } in &ROUTER_COLUMNS {
                let values = (0..times.len()).map(|i| of(series).get(i).and_then(|x| number(x * factor)));
                optional::<DoubleType>(&mut group, values)?;
            }
            group.close()?;
        }
    }
    file.close().map(drop)
}

/// Goodput in each sampling interval.
fn throughput_mbps<'a>(flow: &'a FlowOutcome, sampled: &'a [Time]) -> impl Iterator<Item = f64> + 'a {
    let begins = std::iter::once(Time::ZERO).chain(sampled.iter().copied());
    let intervals = sampled.iter().zip(begins).map(|(end, begin)| end.since(begin));
    flow.series.delivered.iter().zip(intervals).map(|(&bytes, time)| Bytes(bytes).over(time).as_mbps())
}

fn seconds(times: &[Time]) -> Vec<f64> {
    times.iter().map(|time| time.as_secs()).collect()
}
