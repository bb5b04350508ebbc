//! The runs of an evaluation.

use super::block::{Block, Case, Row};
use super::blocks::beside;
use super::judge::{CaseResult, Evaluation, judge};
use super::task::Task;
use crate::runner::{self, Progress, RunCache, Stopped};
use experiment::{Finished, Run};
use scenario::{KeyPath, Machine, Plan, Set};
use serde_json::{Map, Value};

/// The controller in scenarios of blocks that stands for the one to evaluate.
const SUBJECT: &str = "subject";
/// The one that stands for that with which it is compared.
const BASELINE: &str = "baseline";
/// By how much the seeds of the baseline's runs differ if it is the subject, so that these are not the same runs.
const APART: u32 = 1000;

/// The runs of all cases.
pub struct Planned<'t> {
    task: &'t Task,
    cases: Vec<PlannedCase<'t>>,
}

/// The runs of a case: first those of the subject.
struct PlannedCase<'t> {
    block: &'t Block,
    case: &'t Case,
    plan: Plan,
    /// How many of the runs are the subject's.
    subjects: usize,
}

impl Task {
    /// Plans all runs.
    ///
    /// # Errors
    /// A line for each problem with the first case that has some.
    pub fn plan(&self, machine: &Machine) -> Result<Planned<'_>, Vec<String>> {
        let all = self.blocks.iter().flat_map(|block| block.cases.iter().map(move |case| (block, case)));
        let cases = all.map(|(block, case)| self.plan_case(block, case, machine)).collect::<Result<_, _>>()?;
        Ok(Planned { task: self, cases })
    }

    fn plan_case<'t>(
        &'t self,
        block: &'t Block,
        case: &'t Case,
        machine: &Machine,
    ) -> Result<PlannedCase<'t>, Vec<String>> {
        let mut plan = self.plan_with(&self.subject, 0, block, case, machine)?;
        let apart = if self.subject == self.baseline { APART } else { 0 };
        let subjects = plan.runs.len();
        plan.runs.extend(self.plan_with(&self.baseline, apart, block, case, machine)?.runs);
        for row in block.rows.iter().filter(|row| row.has(case)) {
            if let Some(run) = plan.runs.iter().find(|run| row.last_flow() > run.experiment.flows.len()) {
                let flows = run.experiment.flows.len();
                let (of, says) = (&case.name, &row.says);
                return Err(vec![format!("{}: row \"{says}\": flows: case `{of}` has only {flows} of them", block.id)]);
            }
            if plan.runs.iter().any(|run| row.end() > run.experiment.duration.as_secs()) {
                let (of, says) = (&case.name, &row.says);
                return Err(vec![format!("{}: row \"{says}\": span: case `{of}` ends before it does", block.id)]);
            }
        }
        Ok(PlannedCase { block, case, plan, subjects })
    }

    /// The runs of `case` with `controller` in the place of the subject.
    fn plan_with(
        &self,
        controller: &str,
        first_seed: u32,
        block: &Block,
        case: &Case,
        machine: &Machine,
    ) -> Result<Plan, Vec<String>> {
        let name = format!("{}/{}", block.id, case.name);
        let seeds = (1..=block.seeds.at(self.scale)).map(|seed| first_seed + seed);
        let key = |path: &str| KeyPath::parse(path).unwrap_or_default();
        let mut sets = case.sets(self.scale).map_err(|why| vec![why])?;
        let placed =
            placed(&case.scenario, controller, &self.baseline).map_err(|why| vec![format!("{name}: {why}")])?;
        sets.extend(placed);
        sets.extend(self.sets.iter().cloned());
        sets.push(Set { path: key("sweep.seed"), value: seeds.collect() });
        let plan = scenario::read_beside(&name, &case.scenario, &sets, machine, &beside);
        plan.map_err(|problems| problems.iter().map(ToString::to_string).collect())
    }
}

/// The values that put controllers in the places of [`SUBJECT`] and [`BASELINE`] in `scenario`.
///
/// # Errors
/// That the scenario is no TOML, or has no place for the subject.
fn placed(scenario: &str, subject: &str, baseline: &str) -> Result<Vec<Set>, String> {
    let document: toml::Table = toml::from_str(scenario).map_err(|e| e.message().replace('\n', ", "))?;
    if document.contains_key("compare") {
        return Err("has a [compare]; name a controller in each flow instead".into());
    }
    let mut sets = Vec::new();
    let mut has_subject = false;
    for list in ["flow", "traffic"] {
        for (i, table) in document.get(list).and_then(toml::Value::as_array).into_iter().flatten().enumerate() {
            let controller = match table.get("controller").and_then(toml::Value::as_str) {
                Some(SUBJECT) => subject,
                Some(BASELINE) => baseline,
                _ => continue,
            };
            has_subject |= table["controller"].as_str() == Some(SUBJECT);
            let path = KeyPath::parse(&format!("{list}[{i}].controller"))?;
            sets.push(Set { path, value: controller.into() });
        }
    }
    match has_subject {
        true => Ok(sets),
        false => Err(format!("no flow or traffic has the controller `{SUBJECT}`; write controller = \"{SUBJECT}\"")),
    }
}

impl Planned<'_> {
    /// The runs of each case.
    pub fn plans(&self) -> impl Iterator<Item = &Plan> {
        self.cases.iter().map(|case| &case.plan)
    }

    /// How many runs it takes.
    pub fn runs(&self) -> usize {
        self.cases.iter().map(|case| case.plan.runs.len()).sum()
    }

    /// The time to be simulated, in seconds.
    pub fn seconds(&self) -> f64 {
        self.cases.iter().map(|case| runner::total_seconds(&case.plan)).sum()
    }

    /// Makes all runs, and compares the subject with the baseline. `cache` and `go_on` are those of [`runner::run`].
    ///
    /// # Errors
    /// As [`runner::run`].
    pub fn make(
        &self,
        machine: &Machine,
        cache: &dyn RunCache,
        go_on: &(dyn Fn(Progress) -> bool + Sync),
    ) -> Result<Evaluation, Stopped> {
        let mut measured: Vec<(&Row, &Block, Vec<CaseResult>)> = Vec::new();
        for block in &self.task.blocks {
            measured.extend(block.rows.iter().map(|row| (row, block, Vec::new())));
        }
        let mut before = Progress { simulated_seconds: 0.0, runs: 0 };
        for case in &self.cases {
            let advance = |now: Progress| {
                let simulated_seconds = before.simulated_seconds + now.simulated_seconds;
                go_on(Progress { simulated_seconds, runs: before.runs + now.runs })
            };
            let rows = || case.block.rows.iter().filter(|row| row.has(case.case));
            let keep = |run: Finished| Ok(rows().map(|row| value(row, &run)).collect::<Vec<f64>>());
            let values = runner::map(&case.plan, machine.jobs, cache, &advance, &keep)?;
            for (i, row) in rows().enumerate() {
                let of_row = measured.iter_mut().find(|(other, ..)| std::ptr::eq(*other, row));
                let results = case.results(|run| values[run][i]);
                of_row.into_iter().for_each(|(.., cases)| cases.extend(results.iter().cloned()));
            }
            before.simulated_seconds += runner::total_seconds(&case.plan);
            before.runs += case.plan.runs.len();
        }
        Ok(judge(self.task, measured))
    }
}

impl PlannedCase<'_> {
    /// The values of a row for each combination of settings. `value` finds that of a run by the run's place in the
    /// plan.
    fn results(&self, value: impl Fn(usize) -> f64) -> Vec<CaseResult> {
        let mut results: Vec<CaseResult> = Vec::new();
        for (i, run) in self.plan.runs.iter().enumerate() {
            let settings = settings(run);
            let place = results.iter().position(|one| one.settings == settings).unwrap_or_else(|| {
                let case = self.case.name.clone();
                results.push(CaseResult { case, settings, subject: Vec::new(), baseline: Vec::new() });
                results.len() - 1
            });
            let one = &mut results[place];
            if i < self.subjects { &mut one.subject } else { &mut one.baseline }.push(value(i));
        }
        results
    }
}

/// What the sweep of a case set in `run`, without the seed.
fn settings(run: &Run) -> Map<String, Value> {
    run.identity
        .settings
        .iter()
        .filter(|(key, _)| *key != "seed")
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

/// The value of `row` of a run; values that do not exist or are too large are the row's cap, if it has one.
fn value(row: &Row, run: &Finished) -> f64 {
    let value = row.measure.of(run, row.scope());
    match row.cap {
        Some(cap) if value.is_nan() => cap,
        Some(cap) => value.min(cap),
        None => value,
    }
}
