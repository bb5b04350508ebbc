//! The metrics of runs as Parquet: one row per run. `docs/results.md` has the columns.

use super::columnar::{begin_as, io_error, number, optional, text};
use super::run_summary::{FlowSummary, LinkSummary, RunSummary};
use parquet::basic::{ConvertedType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::schema::types::Type;
use scenario::Swept;
use serde_json::Value;
use std::io::{self, Write};
use std::sync::Arc;

/// A column: its name, and its value in each run.
struct Column {
    name: String,
    values: Values,
}

enum Values {
    Texts(Vec<Option<ByteArray>>),
    Integers(Vec<Option<i64>>),
    /// Numbers of 64 bits without a sign, which Parquet stores as those with a sign.
    Counts(Vec<Option<i64>>),
    Numbers(Vec<Option<f64>>),
}

/// Writes the metrics of `runs` as Parquet. Each key of `sweep` has a column of that name, except the seed, which has
/// one anyway. The queue and the utilization are those of the busiest link, as in the table that the command line
/// prints. There is a column of wall times if the runs have them.
///
/// # Errors
/// If `out` cannot be written.
pub fn runs(out: impl Write + Send, runs: &[RunSummary], sweep: &[Swept]) -> io::Result<()> {
    write(out, runs.len(), columns(runs, sweep)).map_err(io_error)
}

fn columns(runs: &[RunSummary], sweep: &[Swept]) -> Vec<Column> {
    let mut columns = Vec::new();
    let mut add = |name: &str, values: Values| columns.push(Column { name: name.to_string(), values });
    let busiest = |of: fn(&LinkSummary) -> f64| numbers(runs, move |run| run.busiest_link().map(of));
    let of_flows = |of: fn(&FlowSummary) -> u64| counts(runs, move |run| run.flows.iter().map(of).sum());
    add("run", texts(runs, |run| &run.name));
    add("controller", texts(runs, |run| &run.controller));
    for swept in sweep.iter().filter(|swept| swept.key != "seed") {
        add(&swept.key, settings(runs, swept));
    }
    add("seed", counts(runs, |run| run.identity.seed));
    add("duration_s", numbers(runs, |run| Some(run.duration_seconds)));
    add("throughput_mbps", numbers(runs, |run| Some(run.throughput_mbps)));
    add("utilization", busiest(|link| link.utilization));
    add("mean_queue_packets", busiest(|link| link.mean_queue_packets));
    add("max_queue_packets", busiest(|link| link.max_queue_packets as f64));
    add("drops", counts(runs, |run| run.links.iter().map(|link| link.drops).sum()));
    add("retransmitted_packets", of_flows(|flow| flow.retransmitted_packets));
    add("loss_events", of_flows(|flow| flow.loss_events));
    add("timeouts", of_flows(|flow| flow.timeouts));
    add("acquire_rtts", numbers(runs, RunSummary::acquire_rtts));
    add("jain", numbers(runs, |run| Some(run.jain)));
    add("packets_delivered", counts(runs, |run| run.packets_delivered));
    if runs.iter().any(|run| run.wall_seconds.is_some()) {
        add("wall_s", numbers(runs, |run| run.wall_seconds));
    }
    columns
}

/// The values of a swept key: numbers if all values in the plan are numbers, or else texts. So the type is the same in
/// every shard.
fn settings(runs: &[RunSummary], swept: &Swept) -> Values {
    let values = runs.iter().map(|run| run.settings.get(&swept.key));
    if swept.values.iter().all(Value::is_i64) {
        return Values::Integers(values.map(|value| value?.as_i64()).collect());
    }
    if swept.values.iter().all(Value::is_number) {
        return Values::Numbers(values.map(|value| value?.as_f64()).collect());
    }
    let shown = |value: &Value| value.as_str().map_or_else(|| text(&value.to_string()), text);
    Values::Texts(values.map(|value| value.map(shown)).collect())
}

fn texts(runs: &[RunSummary], of: fn(&RunSummary) -> &String) -> Values {
    Values::Texts(runs.iter().map(|run| Some(text(of(run)))).collect())
}

fn numbers(runs: &[RunSummary], of: impl Fn(&RunSummary) -> Option<f64>) -> Values {
    Values::Numbers(runs.iter().map(|run| of(run).and_then(number)).collect())
}

fn counts(runs: &[RunSummary], of: impl Fn(&RunSummary) -> u64) -> Values {
    Values::Counts(runs.iter().map(|run| Some(of(run) as i64)).collect())
}

fn write(out: impl Write + Send, rows: usize, columns: Vec<Column>) -> Result<(), ParquetError> {
    let fields = columns.iter().map(|column| declared(column).map(Arc::new)).collect::<Result<_, _>>()?;
    let schema = Type::group_type_builder("runs").with_fields(fields).build()?;
    let mut file = begin_as(out, Arc::new(schema))?;
    if rows > 0 {
        let mut group = file.next_row_group()?;
        for column in columns {
            match column.values {
                Values::Texts(values) => optional::<ByteArrayType>(&mut group, values.into_iter())?,
                Values::Integers(values) | Values::Counts(values) => {
                    optional::<Int64Type>(&mut group, values.into_iter())?;
                }
                Values::Numbers(values) => optional::<DoubleType>(&mut group, values.into_iter())?,
            }
        }
        group.close()?;
    }
    file.close().map(drop)
}

/// The column in the schema.
fn declared(column: &Column) -> Result<Type, ParquetError> {
    let (physical, converted) = match column.values {
        Values::Texts(_) => (Physical::BYTE_ARRAY, ConvertedType::UTF8),
        Values::Integers(_) => (Physical::INT64, ConvertedType::NONE),
        Values::Counts(_) => (Physical::INT64, ConvertedType::UINT_64),
        Values::Numbers(_) => (Physical::DOUBLE, ConvertedType::NONE),
    };
    Type::primitive_type_builder(&column.name, physical)
        .with_repetition(Repetition::OPTIONAL)
        .with_converted_type(converted)
        .build()
}
