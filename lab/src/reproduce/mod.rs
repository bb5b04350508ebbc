//! The papers' tables and figures: what each says, which runs show it, and whether it comes out.
//!
//! An artefact is data, `catalogue/PAPER/ID.toml` ([`artefact`]): scenarios, claims, figures, [`curve`]s. What claims measure is in
//! [`measure`], how they are judged in [`judge`]. What is said of all of them is in [`record`].

pub mod artefact;
pub mod curve;
pub mod judge;
pub mod measure;
pub mod paper;
pub mod record;
pub mod selector;

pub use artefact::{Artefact, Scale};
pub use judge::{Judged, Verdict};
pub use record::Record;

use crate::runner::{self, Progress, Shelf, Stopped};
use experiment::Finished;
use scenario::{Machine, Plan, Set};

/// The files of the catalogue: path and text.
static FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/catalogue.rs"));
/// Changes whenever the code that makes runs does.
pub const CODE: &str = env!("THALWEG_CODE");

/// The text of a file of the catalogue.
pub fn file(path: &str) -> Option<&'static str> {
    FILES.iter().find(|(name, _)| *name == path).map(|(_, text)| *text)
}

/// The traces that scenarios of `paper` may follow.
fn traces(paper: &str) -> impl Iterator<Item = &str> {
    FILES.iter().filter(move |(path, _)| path.starts_with(paper) && path.ends_with(".trace")).map(|(_, text)| *text)
}

/// All artefacts, in the order of their ids.
///
/// # Errors
/// In a line, what is wrong with one of them.
pub fn catalogue() -> Result<Vec<Artefact>, String> {
    let ours = FILES.iter().filter(|(path, _)| path.matches('/').count() == 1);
    ours.map(|(path, text)| {
        let id = path.trim_end_matches(".toml");
        Artefact::read(id, text).map_err(|why| format!("{path}: {why}"))
    })
    .collect()
}

/// What is said to who asks for `id`, which is not in `catalogue`.
pub fn unknown(id: &str, catalogue: &[Artefact]) -> String {
    let ids: Vec<&str> = catalogue.iter().map(|it| it.id.as_str()).collect();
    let paper = id.trim_end_matches('/');
    match scenario::nearest(id, &ids) {
        _ if ids.iter().any(|it| it.split('/').next() == Some(paper)) => {
            format!("there is no `{id}` in the catalogue; all of a paper are `{paper}/*`")
        }
        Some(near) => format!("there is no `{id}` in the catalogue; did you mean `{near}`?"),
        None => format!("there is no `{id}` in the catalogue; `thalweg reproduce` lists it"),
    }
}

/// A scenario of an artefact, with what it runs.
pub struct Planned {
    /// What claims call it.
    pub name: String,
    /// Its runs.
    pub plan: Plan,
}

/// The runs of `artefact`; `file` finds its scenarios' texts.
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
            let beside = |name: &str| self::file(&format!("{paper}/scenarios/{name}")).map(str::to_string);
            let plan = scenario::read_beside(&path, &text, &sets, machine, &beside);
            let plan = plan.map_err(|problems| problems.iter().map(ToString::to_string).collect::<Vec<_>>())?;
            Ok(Planned { name: scenario.name.clone(), plan })
        })
        .collect()
}

/// The runs of one scenario of an artefact.
pub struct Made {
    /// What claims call it.
    pub scenario: String,
    /// In the plan's order.
    pub runs: Vec<Finished>,
}

/// Makes the runs of `planned` and judges the claims of `artefact` by them. `shelf` and `go_on` as in [`runner::run`].
///
/// # Errors
/// As [`runner::run`].
pub fn make(
    artefact: &Artefact,
    scale: Scale,
    planned: Vec<Planned>,
    machine: &Machine,
    shelf: &dyn Shelf,
    go_on: &(dyn Fn(Progress) -> bool + Sync),
) -> Result<Reproduced, Stopped> {
    // All runs in one plan, so that no core waits for the last one of each scenario.
    let counts: Vec<(String, usize)> = planned.iter().map(|it| (it.name.clone(), it.plan.runs.len())).collect();
    let runs = planned.into_iter().flat_map(|it| it.plan.runs).collect();
    let all = Plan { title: artefact.title.clone(), seed: 1, runs };
    let mut finished = runner::run(&all, machine.jobs, shelf, go_on)?.into_iter();
    let mut made = Vec::new();
    for (scenario, count) in counts {
        made.push(Made { scenario, runs: finished.by_ref().take(count).collect() });
    }
    let record = Record {
        id: artefact.id.clone(),
        title: artefact.title.clone(),
        about: artefact.about.clone(),
        claims: judge::judge(artefact, scale, &made),
    };
    Ok(Reproduced { record, made })
}

/// What came of an artefact, with the runs that it came of.
pub struct Reproduced {
    /// Its claims.
    pub record: Record,
    /// Scenario by scenario.
    pub made: Vec<Made>,
}
