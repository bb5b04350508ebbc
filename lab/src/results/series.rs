//! The time series as Parquet, in long format: one row per flow (or link) and sample. `docs/results.md` has the
//! columns.

use super::columnar::{ROWS_PER_GROUP, io_error, number, text};
use super::rows::{Column, Out, Table};
use control::{Bytes, Phase, Time};
use experiment::{Finished, FlowOutcome, FlowSeries, LinkSeries};
use parquet::errors::ParquetError;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::Type;
use std::io::{self, Write};

/// A column of numbers, in which rows may lack a value.
struct Measured<S> {
    name: &'static str,
    /// The series; empty, or as long as there are samples.
    series: fn(&S) -> &[f64],
    /// From the series' unit to the column's.
    factor: f64,
}

impl<S> Measured<S> {
    /// The column in the rows of `series`.
    fn of(&self, series: &S, samples: usize) -> Column {
        let series = (self.series)(series);
        Column::Numbers((0..samples).map(|i| series.get(i).and_then(|x| number(x * self.factor))).collect())
    }
}

/// The columns of flows that are a series of numbers each.
const FLOW_COLUMNS: [Measured<FlowSeries>; 4] = [
    Measured { name: "window_packets", series: |it| &it.window, factor: 1.0 },
    Measured { name: "rate_mbps", series: |it| &it.rate, factor: 1e-6 },
    Measured { name: "available_mbps", series: |it| &it.available, factor: 1e-6 },
    Measured { name: "rtt_ms", series: |it| &it.rtt, factor: 1e3 },
];

/// The columns of what routers allow.
const ROUTER_COLUMNS: [Measured<LinkSeries>; 2] = [
    Measured { name: "allowed_mbps", series: |it| &it.allowed, factor: 1e-6 },
    Measured { name: "growth_kb", series: |it| &it.growth, factor: 1e-3 },
];

/// The schema's lines for `columns`.
fn declared<S>(columns: &[Measured<S>]) -> String {
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

/// A table of time series: one row per flow or link, and sample.
pub struct Series {
    /// Its name. Its file is this name with `.parquet` behind it.
    pub name: &'static str,
    schema: fn() -> String,
    add: fn(&mut Table, &Finished) -> Result<(), ParquetError>,
}

/// All tables of time series.
pub const SERIES: [Series; 2] = [FLOWS, LINKS];
const FLOWS: Series = Series { name: "flows", schema: flow_schema, add: add_flows };
const LINKS: Series = Series { name: "links", schema: link_schema, add: add_links };

impl Series {
    /// Begins a file, in groups of this many rows.
    pub(crate) fn begin<'a>(&self, out: Out<'a>, rows_per_group: usize) -> Result<Table<'a>, ParquetError> {
        Table::begin(out, &(self.schema)(), rows_per_group)
    }

    /// The schema of its files.
    pub(crate) fn schema(&self) -> Result<Type, ParquetError> {
        parse_message_type(&(self.schema)())
    }

    /// Writes the series of `runs` as Parquet.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn write(&self, out: Out, runs: &[Finished]) -> io::Result<()> {
        let written = self.begin(out, ROWS_PER_GROUP).and_then(|mut table| {
            runs.iter().try_for_each(|run| (self.add)(&mut table, run))?;
            table.end()
        });
        written.map_err(io_error)
    }
}

/// Writes the flows' series as Parquet.
///
/// # Errors
/// If `out` cannot be written.
pub fn flows(mut out: impl Write + Send, runs: &[Finished]) -> io::Result<()> {
    FLOWS.write(&mut out, runs)
}

/// Writes the links' series as Parquet.
///
/// # Errors
/// If `out` cannot be written.
pub fn links(mut out: impl Write + Send, runs: &[Finished]) -> io::Result<()> {
    LINKS.write(&mut out, runs)
}

fn add_flows(table: &mut Table, Finished { run, outcome, .. }: &Finished) -> Result<(), ParquetError> {
    let name = text(&run.name());
    let samples = outcome.sampled.len();
    for (i, (flow, result)) in run.experiment.flows.iter().zip(&outcome.flows).enumerate() {
        let series = &result.series;
        let phase = series.phase.iter().map(|phase| phase.map(|p: Phase| text(&p.to_string())));
        let mut columns = vec![
            Column::text(name.clone(), samples),
            Column::Integers(vec![Some(i as i32 + 1); samples]),
            Column::text(text(&flow.controller), samples),
            seconds(&outcome.sampled),
            Column::numbers(throughput_mbps(result, &outcome.sampled)),
        ];
        columns.extend(FLOW_COLUMNS.iter().map(|column| column.of(series, samples)));
        columns.push(Column::counts(series.retransmitted.iter().map(|&n| n.into())));
        columns.push(Column::Texts(phase.collect()));
        table.add(&columns, 0..samples)?;
    }
    Ok(())
}

fn add_links(table: &mut Table, Finished { run, outcome, .. }: &Finished) -> Result<(), ParquetError> {
    let name = text(&run.name());
    let samples = outcome.sampled.len();
    for link in &outcome.links {
        let series = &link.series;
        let mut columns = vec![
            Column::text(name.clone(), samples),
            Column::text(text(&link.name), samples),
            seconds(&outcome.sampled),
            Column::Numbers(series.queue.iter().copied().map(number).collect()),
            Column::counts(series.max_queue.iter().map(|&n| n as i64)),
            Column::counts(series.drops.iter().map(|&n| n.into())),
            Column::Numbers(series.utilization.iter().copied().map(number).collect()),
        ];
        columns.extend(ROUTER_COLUMNS.iter().map(|column| column.of(series, samples)));
        table.add(&columns, 0..samples)?;
    }
    Ok(())
}

/// Goodput in each sampling interval.
fn throughput_mbps<'a>(flow: &'a FlowOutcome, sampled: &'a [Time]) -> impl Iterator<Item = f64> + 'a {
    let begins = std::iter::once(Time::ZERO).chain(sampled.iter().copied());
    let intervals = sampled.iter().zip(begins).map(|(end, begin)| end.since(begin));
    flow.series.delivered.iter().zip(intervals).map(|(&bytes, time)| Bytes(bytes).over(time).as_mbps())
}

fn seconds(times: &[Time]) -> Column {
    Column::numbers(times.iter().map(|time| time.as_secs()))
}
