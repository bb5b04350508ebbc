//! The runs of an artefact: planned from its scenarios, and made.

use super::artefact::{Artefact, Scale};
use super::catalogue;
use super::judge::judge;
use super::record::Record;
use super::scenario_runs::ScenarioRuns;
use crate::runner::{self, Progress, RunCache, Stopped};
use scenario::{Machine, Plan, Set};

/// A scenario of an artefact, with the runs that it asks for.
pub struct Planned {
    /// The name by which claims refer to it.
    pub name: String,
    /// Its runs.
    pub plan: Plan,
}

/// An artefact's runs, and its claims judged by them.
pub struct Reproduced {
    /// The judged claims.
    pub record: Record,
    /// The runs, scenario by scenario.
    pub runs: Vec<ScenarioRuns>,
}

/// Plans the runs of `artefact`. `file` finds the texts of scenarios by their paths in the catalogue.
///
/// # Errors
/// In lines, what is wrong with its scenarios.
pub fn plan(
    artefact: &Artefact,
    scale: Scale,
    machine: &Machine,
    file: impl Fn(&str) -> Option<String>,
) -> Result<Vec<Planned>, Vec<String>> {
    let paper = artefact.id.split('/').next().unwrap_or_default();
    let scenarios = artefact.scenarios.iter().filter(|scenario| scenario.scale.is_none_or(|only| only == scale));
    scenarios
        .map(|scenario| {
            let path = format!("{paper}/scenarios/{}", scenario.file);
            let text = file(&path).ok_or_else(|| vec![format!("{}: there is no scenario {path}", artefact.id)])?;
            let sets = scenario.sets(scale).map(|set| set.parse::<Set>()).collect::<Result<Vec<_>, _>>();
            let sets = sets.map_err(|why| vec![format!("{}: {why}", artefact.id)])?;
            let beside = |name: &str| catalogue::file(&format!("{paper}/scenarios/{name}")).map(str::to_string);
            let plan = scenario::read_beside(&path, &text, &sets, machine, &beside);
            let plan = plan.map_err(|problems| problems.iter().map(ToString::to_string).collect::<Vec<_>>())?;
            Ok(Planned { name: scenario.name.clone(), plan })
        })
        .collect()
}

/// Makes the runs of `planned` and judges the claims of `artefact` by them. `cache` and `go_on` are those of
/// [`runner::run`].
///
/// # Errors
/// As [`runner::run`].
pub fn make(
    artefact: &Artefact,
    scale: Scale,
    planned: Vec<Planned>,
    machine: &Machine,
    cache: &dyn RunCache,
    go_on: &(dyn Fn(Progress) -> bool + Sync),
) -> Result<Reproduced, Stopped> {
    // All runs are in one plan, so that no core waits for the last run of each scenario.
    let counts: Vec<(String, usize)> = planned.iter().map(|it| (it.name.clone(), it.plan.runs.len())).collect();
    let all = planned.into_iter().flat_map(|it| it.plan.runs).collect();
    let all = Plan { title: artefact.title.clone(), seed: 1, runs: all, ..Plan::default() };
    let mut finished = runner::run(&all, machine.jobs, cache, go_on)?.into_iter();
    let mut runs = Vec::new();
    for (scenario, count) in counts {
        runs.push(ScenarioRuns { scenario, runs: finished.by_ref().take(count).collect() });
    }
    let record = Record {
        id: artefact.id.clone(),
        title: artefact.title.clone(),
        about: artefact.about.clone(),
        claims: judge(artefact, scale, &runs),
    };
    Ok(Reproduced { record, runs })
}
