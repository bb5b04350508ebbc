//! `[compare]` and `[sweep]`: the runs that a scenario asks for.

use super::document::Document;
use super::files::trace::TraceFiles;
use super::files::vectors::VectorFiles;
use super::key_path::KeyPath;
use super::keys::{Compare, Scenario};
use super::machine::Machine;
use super::plan::{Plan, Swept};
use super::problem::Problem;
use super::problems::Problems;
use super::resolve::{self, Memory};
use super::shard::Shard;
use super::wording;
use experiment::{Identity, Place, Run};
use serde_json::{Map, Value};
use std::collections::HashSet;

/// The most runs of a plan or of a shard.
const MOST_RUNS: usize = 10_000;

/// One swept key.
struct Axis {
    key: KeyPath,
    values: Vec<Value>,
    /// Where the values stand.
    place: KeyPath,
}

/// The runs of the scenario in `document`: for each combination of the swept values, one per controller compared. If a
/// `shard` is given, those of other shards are not planned, and take neither time nor memory. `beside` knows the texts
/// of some traces.
pub(super) fn plan(
    document: &Document,
    machine: &Machine,
    beside: &dyn Fn(&str) -> Option<String>,
    shard: Option<Shard>,
) -> Result<Plan, Vec<Problem>> {
    let compared = compared(document)?;
    let axes = axes(document)?;
    // Each run has its own copy, and a sweep may be long.
    let mut fixed = document.clone();
    fixed.forget("sweep");
    let points = axes.iter().try_fold(1usize, |n, axis| n.checked_mul(axis.values.len()));
    let total = points.and_then(|n| n.checked_mul(compared.len()));
    let Some(mine) = total.map(|n| shard.unwrap_or(Shard::ALL).runs(n)).filter(|mine| mine.len() <= MOST_RUNS) else {
        let message = match shard {
            None => format!(
                "this makes more than {MOST_RUNS} runs; sweep fewer values, or divide them (thalweg run --shard)"
            ),
            Some(_) => format!("this makes more than {MOST_RUNS} runs per shard; use more shards"),
        };
        return Err(vec![document.problem(&KeyPath::of("sweep"), message)]);
    };
    let mine: Vec<usize> = mine.collect();

    let folder = document.folder();
    let files = VectorFiles::new(&folder);
    let mut memory = Memory::new(*machine, shard.is_some());
    let traces = TraceFiles::new(&folder, beside);
    let swept = |axis: &Axis| Swept { key: axis.key.to_string(), values: axis.values.clone() };
    let mut plan = Plan {
        values: document.values().clone(),
        sweep: axes.iter().map(swept).collect(),
        total: total.unwrap_or(usize::MAX),
        ..Plan::default()
    };
    let point_of = |run: usize| run / compared.len();
    for runs in mine.chunk_by(|&a, &b| point_of(a) == point_of(b)) {
        let mut document = fixed.clone();
        let settings = settle(&mut document, &axes, point_of(runs[0]))?;
        let scenario: Scenario = document.read()?;
        for run in runs {
            let controller = &compared[run % compared.len()];
            let mut problems = Problems::default();
            let named = controller.as_deref();
            let built = resolve::build(&scenario, &files, named, &traces, &mut memory, &mut problems);
            let Some(built) = built.filter(|_| problems.found.is_empty()) else {
                let mut found: Vec<Problem> = Vec::new();
                for (key, message) in problems.found {
                    found.push(document.problem(&key, message));
                }
                found.dedup();
                return Err(found);
            };
            if plan.runs.is_empty() {
                plan.title = scenario.title.clone().unwrap_or_else(|| document.file_stem().to_string());
                plan.seed = scenario.seed;
            }
            let identity = Identity {
                controllers: controller.clone().map_or_else(|| built.controllers.clone(), |compared| vec![compared]),
                settings: settings.clone(),
                seed: scenario.seed,
                place: Place::Simulated,
            };
            plan.runs.push(Run {
                identity,
                controller: built.controllers.join("+"),
                parameters: built.parameters,
                experiment: built.experiment,
            });
        }
    }
    Ok(plan)
}

/// The controllers to compare; a single none without `[compare]`.
fn compared(document: &Document) -> Result<Vec<Option<String>>, Vec<Problem>> {
    let at = KeyPath::of("compare");
    let Some(table) = document.get("compare") else { return Ok(vec![None]) };
    let Compare { controllers } = document.read_value(&at, table.clone())?;
    let at = at.key("controllers");
    if controllers.is_empty() {
        return Err(vec![document.problem(&at, format!("names none; write {}", wording::example("controllers")))]);
    }
    for (i, name) in controllers.iter().enumerate() {
        let message = if controllers[..i].contains(name) {
            format!("`{name}` is listed twice; remove one")
        } else if let Err(message) = resolve::find(name) {
            message
        } else {
            continue;
        };
        return Err(vec![document.problem(&at.index(i), message)]);
    }
    Ok(controllers.into_iter().map(Some).collect())
}

/// The swept keys, in the file's order.
fn axes(document: &Document) -> Result<Vec<Axis>, Vec<Problem>> {
    let at = KeyPath::of("sweep");
    let Some(table) = document.get("sweep") else { return Ok(Vec::new()) };
    let table: Map<String, Value> = document.read_value(&at, table.clone())?;
    let mut axes: Vec<Axis> = Vec::new();
    for (name, values) in table {
        let place = at.key(&name);
        let problem = |message| Err(vec![document.problem(&place, message)]);
        let Value::Array(values) = values else {
            let quoted = if values.is_object() { ", with the whole key in quotes" } else { "" };
            return problem(format!(
                "is not a list of values; write \"path.rate\" = [\"1 Gbps\", \"10 Gbps\"]{quoted}"
            ));
        };
        let key = match KeyPath::parse(&name) {
            Ok(key) => key,
            Err(message) => return problem(message),
        };
        if key.is_within(&at) || key.is_within(&KeyPath::of("compare")) {
            return problem("this cannot be swept; sweep a key of the network or of the flows".into());
        }
        if axes.iter().any(|axis| axis.key.is_within(&key) || key.is_within(&axis.key)) {
            return problem("is swept twice; remove one".into());
        }
        if values.is_empty() {
            return problem("has no values; list some, or remove it".into());
        }
        let mut seen = HashSet::new();
        if let Some(i) = values.iter().position(|value| !seen.insert(value)) {
            return Err(vec![document.problem(&place.index(i), "is listed twice; remove one".into())]);
        }
        axes.push(Axis { key, values, place });
    }
    Ok(axes)
}

/// Lays combination `point` of the swept values over `document` and tells what it set; the last key varies fastest.
fn settle(document: &mut Document, axes: &[Axis], point: usize) -> Result<Map<String, Value>, Vec<Problem>> {
    let mut settings = Map::new();
    let mut period: usize = axes.iter().map(|axis| axis.values.len()).product();
    for Axis { key, values, place } in axes {
        period /= values.len();
        let i = point / period % values.len();
        document.sweep(key, values[i].clone(), place.index(i))?;
        settings.insert(key.to_string(), values[i].clone());
    }
    Ok(settings)
}
