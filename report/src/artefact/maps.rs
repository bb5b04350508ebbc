//! Maps: a measure of the runs of two swept keys, as colours.

use crate::figure::{Curve, Figure, Group, Heat};
use crate::order::distinct;
use experiment::Finished;
use lab::reproduce::artefact::Figure as Wanted;
use lab::reproduce::measure::{Measure, Scope};
use serde_json::Value;

/// The colours of a logarithmic map reach over this factor at most, down from the largest value.
const RANGE: f64 = 1e4;

/// A map per measure, with a row for each value of the first of `keys`, which the scenario of `runs` sweeps, and a
/// column for each value of the second.
pub fn group(keys: &[String; 2], wanted: &Wanted, span: Option<[f64; 2]>, runs: &[Finished]) -> Group {
    let flows = wanted.flow.and_then(|flow| flow.checked_sub(1)).map(|flow| [flow, flow]);
    let of = Scope { span, flows, ..Scope::default() };
    let of = Scope { quantile: wanted.quantile.unwrap_or(of.quantile), ..of };
    let setting = |run: &Finished, key: &String| run.run.identity.settings.get(key).map(name);
    let [rows, columns] = [0, 1].map(|i| distinct(runs.iter().filter_map(|run| setting(run, &keys[i]))));
    let map = |&what: &Measure| {
        let mut values = vec![Curve(vec![f64::NAN; columns.len()]); rows.len()];
        for run in runs {
            let at =
                |names: &[String], key: &String| names.iter().position(|name| setting(run, key).as_ref() == Some(name));
            if let (Some(row), Some(column)) = (at(&rows, &keys[0]), at(&columns, &keys[1])) {
                values[row].0[column] = what.of(run, of);
            }
        }
        let finite = values.iter().flat_map(|row| &row.0).copied().filter(|x| x.is_finite());
        let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
        // Queues and losses of protocols differ by powers of ten.
        let log = low >= 0.0 && what.ranges_widely();
        let ends = if log { [(high / RANGE).max(low), high] } else { [low.min(0.0), high] };
        let heat = Heat {
            row: label(&keys[0]),
            rows: rows.clone(),
            column: label(&keys[1]),
            columns: columns.clone(),
            values,
            ends,
            log,
        };
        Figure { heat: Some(heat), ..Figure::new(what.axis().into(), vec![]) }
    };
    Group { title: None, legend: vec![], panels: true, figures: wanted.measures.iter().map(map).collect() }
}

/// The name of a row or column.
fn name(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

/// A key of scenarios in plain words: `flow[0].controller` as `Controller of flow 1`.
fn label(key: &str) -> String {
    let flow = key.strip_prefix("flow[").and_then(|rest| rest.split_once("].controller"));
    match flow.and_then(|(index, _)| index.parse::<usize>().ok()) {
        Some(index) => format!("Controller of flow {}", index + 1),
        None if key == "path.buffer" => "Buffer".into(),
        None => key.to_string(),
    }
}
