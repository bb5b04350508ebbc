//! Maps: a value for each pair of names, as a colour.

use super::figures::{Figure, Group, figure};
use super::grid::Curve;
use experiment::Finished;
use lab::reproduce::artefact::Figure as Wanted;
use lab::reproduce::measure::{Measure, Scope};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A value for each pair of names.
#[derive(Serialize, Deserialize)]
pub(super) struct Heat {
    /// What the rows are, and their names.
    pub row: String,
    pub rows: Vec<String>,
    /// What the columns are, and their names.
    pub column: String,
    pub columns: Vec<String>,
    /// Row by row.
    pub values: Vec<Curve>,
    /// The values of the first colour and of the last.
    pub ends: [f64; 2],
    /// Whether colours go by powers of ten.
    pub log: bool,
}

impl Heat {
    /// Where `value` lies between the first colour, 0, and the last, 1.
    pub fn place(&self, value: f64) -> f64 {
        let of = |x: f64| if self.log { libm::log10(x.max(self.ends[0])) } else { x };
        let [from, to] = self.ends.map(of);
        if to > from { ((of(value) - from) / (to - from)).clamp(0.0, 1.0) } else { 0.5 }
    }

    /// `value` as its square says it: two digits, in thousands with a k.
    pub fn number(value: f64) -> String {
        match value {
            _ if value.abs() >= 9950.0 => format!("{:.0}k", value / 1e3),
            _ if value.abs() >= 995.0 => format!("{:.1}k", value / 1e3),
            _ if value.abs() >= 9.95 || value == 0.0 => format!("{value:.0}"),
            _ if value.abs() >= 0.095 => format!("{value:.1}"),
            _ => format!("{value:.2}"),
        }
    }
}

/// For each of the measures that are `wanted` a map of `runs`: a row for each value of the first of `keys`, which their scenario sweeps, and a column
/// for each of the second.
pub(super) fn maps(keys: &[String; 2], wanted: &Wanted, span: Option<[f64; 2]>, runs: &[Finished]) -> Group {
    let flows = wanted.flow.and_then(|flow| flow.checked_sub(1)).map(|flow| [flow, flow]);
    let scope = Scope { span, flows, ..Scope::default() };
    let scope = Scope { quantile: wanted.quantile.unwrap_or(scope.quantile), ..scope };
    let setting = |run: &Finished, key: &String| run.run.identity.settings.get(key).map(name);
    let names = |key: &String| {
        let mut names: Vec<String> = Vec::new();
        for name in runs.iter().filter_map(|run| setting(run, key)) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    };
    let [rows, columns] = [names(&keys[0]), names(&keys[1])];
    let map = |&what: &Measure| {
        let mut values = vec![Curve(vec![f64::NAN; columns.len()]); rows.len()];
        for run in runs {
            let at =
                |names: &[String], key: &String| names.iter().position(|name| setting(run, key).as_ref() == Some(name));
            if let (Some(row), Some(column)) = (at(&rows, &keys[0]), at(&columns, &keys[1])) {
                values[row].0[column] = what.of(run, scope);
            }
        }
        let finite = values.iter().flat_map(|row| &row.0).copied().filter(|x| x.is_finite());
        let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
        // Queues and losses of protocols differ by powers of ten.
        let log = low >= 0.0 && what.ranges_widely();
        let ends = if log { [(high / 1e4).max(low), high] } else { [low.min(0.0), high] };
        let heat = Heat {
            row: label(&keys[0]),
            rows: rows.clone(),
            column: label(&keys[1]),
            columns: columns.clone(),
            values,
            ends,
            log,
        };
        Figure { heat: Some(heat), ..figure(what.axis().into(), vec![]) }
    };
    Group { title: None, legend: vec![], panels: true, figures: wanted.measures.iter().map(map).collect() }
}

fn name(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

/// `flow[0].controller` as people say it.
fn label(key: &str) -> String {
    let flow = key.strip_prefix("flow[").and_then(|rest| rest.split_once("].controller"));
    match flow.and_then(|(index, _)| index.parse::<usize>().ok()) {
        Some(index) => format!("Controller of flow {}", index + 1),
        None if key == "path.buffer" => "Buffer".into(),
        None => key.to_string(),
    }
}
