//! The metrics of runs as a table: one row per run.

use crate::table::Table;
use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::ArrowError;
use lab::results::{LinkSummary, RunSummary, Summary};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The summary as a table. After the name and the controller, each key that a sweep set has a column of that name. The
/// queue and the utilization are those of the busiest link, as in the table that the command line prints.
pub fn table(summary: &Summary) -> Result<Table, ArrowError> {
    let runs = &summary.runs;
    let mut columns: Vec<(String, ArrayRef)> =
        vec![("run".into(), texts(runs, |run| &run.name)), ("controller".into(), texts(runs, |run| &run.controller))];
    // The seed has a column of its own.
    for key in swept(runs).into_iter().filter(|key| key != "seed") {
        columns.push((key.clone(), setting(runs, &key)));
    }
    let mut add = |name: &str, column: ArrayRef| columns.push((name.to_string(), column));
    let busiest = |of: fn(&LinkSummary) -> f64| numbers(runs, move |run| run.busiest_link().map(of));
    let drops = |run: &RunSummary| run.links.iter().map(|link| link.drops).sum();
    let of_flows = |of: fn(&lab::results::FlowSummary) -> u64| counts(runs, move |run| run.flows.iter().map(of).sum());
    add("seed", counts(runs, |run| run.identity.seed));
    add("duration_s", numbers(runs, |run| Some(run.duration_seconds)));
    add("throughput_mbps", numbers(runs, |run| Some(run.throughput_mbps)));
    add("utilization", busiest(|link| link.utilization));
    add("mean_queue_packets", busiest(|link| link.mean_queue_packets));
    add("max_queue_packets", busiest(|link| link.max_queue_packets as f64));
    add("drops", counts(runs, drops));
    add("retransmitted_packets", of_flows(|flow| flow.retransmitted_packets));
    add("loss_events", of_flows(|flow| flow.loss_events));
    add("timeouts", of_flows(|flow| flow.timeouts));
    add("acquire_rtts", numbers(runs, RunSummary::acquire_rtts));
    add("jain", numbers(runs, |run| Some(run.jain)));
    add("packets_delivered", counts(runs, |run| run.packets_delivered));
    add("wall_s", numbers(runs, |run| run.wall_seconds));
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, column)| (name, column, true)))
        .map(Table::of)
}

/// The scenario keys that sweeps set, in the order in which they were given.
fn swept(runs: &[RunSummary]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    runs.iter().flat_map(|run| run.settings.keys()).filter(|key| seen.insert(*key)).cloned().collect()
}

/// The values of a swept key: numbers if all are numbers, or else texts.
fn setting(runs: &[RunSummary], key: &str) -> ArrayRef {
    let values: Vec<Option<&Value>> = runs.iter().map(|run| run.settings.get(key)).collect();
    let all = |is: fn(&Value) -> bool| values.iter().flatten().all(|value| is(value));
    if all(Value::is_i64) {
        return Arc::new(values.iter().map(|value| value.and_then(Value::as_i64)).collect::<Int64Array>());
    }
    if all(Value::is_number) {
        return Arc::new(values.iter().map(|value| value.and_then(Value::as_f64)).collect::<Float64Array>());
    }
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_string);
    Arc::new(values.iter().map(|value| value.map(text)).collect::<StringArray>())
}

fn texts(runs: &[RunSummary], of: fn(&RunSummary) -> &String) -> ArrayRef {
    Arc::new(runs.iter().map(|run| Some(of(run))).collect::<StringArray>())
}

/// A column of numbers; one that is not finite is no value.
fn numbers(runs: &[RunSummary], of: impl Fn(&RunSummary) -> Option<f64>) -> ArrayRef {
    Arc::new(runs.iter().map(|run| of(run).filter(|x| x.is_finite())).collect::<Float64Array>())
}

fn counts(runs: &[RunSummary], of: impl Fn(&RunSummary) -> u64) -> ArrayRef {
    Arc::new(runs.iter().map(|run| Some(of(run))).collect::<UInt64Array>())
}
