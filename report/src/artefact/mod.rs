//! Which figures an artefact of the catalogue has.

mod charts;
mod maps;
mod panels;
mod phases;
mod stated;
mod sweep;
mod timescales;

use crate::figure::{Group, Page};
use crate::runs;
use experiment::Finished;
use lab::reproduce::artefact::Figure as Wanted;
use lab::reproduce::{Artefact, Record, Reproduced, Scale, ScenarioRuns};
use serde::{Deserialize, Serialize};
use stated::Said;

/// An artefact's claims, judged, and its figures. The same code, catalogue and scale give the same bytes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Drawn {
    /// The claims.
    pub record: Record,
    /// One page per figure, with its values as they are written.
    pub figures: Vec<Page>,
}

impl Drawn {
    /// Draws the figures of `artefact` from its runs.
    pub fn new(artefact: &Artefact, scale: Scale, reproduced: Reproduced) -> Drawn {
        let made = &reproduced.runs;
        let charts = artefact.charts.iter().map(|chart| Page::without_time(charts::group(artefact, chart, made)));
        let named = |mut page: Page| {
            page.groups.iter_mut().for_each(Group::name_stated);
            page.rounded()
        };
        let figures = figures(artefact, scale, made).into_iter().chain(charts).map(named).collect();
        Drawn { record: reproduced.record, figures }
    }

    /// The name of the artefact as part of an address or a file's name.
    pub fn short_name(&self) -> String {
        self.record.id.replace('/', "-")
    }

    /// The name of the file of figure `i`, without its extension.
    pub fn file_name(&self, i: usize) -> String {
        let short = self.short_name();
        if self.figures.len() > 1 { format!("{short}-{}", i + 1) } else { short }
    }
}

impl AsRef<Record> for Drawn {
    fn as_ref(&self) -> &Record {
        &self.record
    }
}

/// A page per figure that `artefact` names, but for its charts.
fn figures(artefact: &Artefact, scale: Scale, made: &[ScenarioRuns]) -> Vec<Page> {
    let said = stated::said(artefact, scale, made);
    let several = artefact.figures.iter().any(|figure| figure.scenario != artefact.figures[0].scenario);
    let draw = |wanted: &Wanted| {
        let mut page = figure(artefact, scale, wanted, made, &said)?;
        if let (true, true, Some(group)) = (several, wanted.beside.is_empty(), page.groups.first_mut()) {
            group.title = Some(wanted.scenario.clone());
        }
        Some(page)
    };
    artefact.figures.iter().filter_map(draw).collect()
}

/// One figure, with what is `said` of what it shows; none if its scenario was not run.
fn figure(artefact: &Artefact, scale: Scale, wanted: &Wanted, made: &[ScenarioRuns], said: &[Said]) -> Option<Page> {
    let first = made.iter().find(|it| it.scenario == wanted.scenario)?;
    let span = wanted.span.as_ref().and_then(|name| artefact.spans.get(name)).map(|span| span.at(scale));
    let group = if let Some(keys) = &wanted.map {
        maps::group(keys, wanted, span, &first.runs)
    } else if !wanted.panels.is_empty() {
        panels::group(artefact, scale, wanted, made, said)
    } else if let Some(key) = &wanted.across {
        sweep::group(wanted, key, span, &with_beside(wanted, first, made), said)
    } else if !wanted.windows.is_empty() {
        timescales::group(wanted, span, &first.runs, said)
    } else if wanted.phases {
        return first.runs.first().map(phases::page);
    } else {
        return Some(over_time(wanted, first, made, said));
    };
    Some(Page::without_time(group))
}

/// What a report of the runs shows: those of the first scenario and of the scenarios beside it.
fn over_time(wanted: &Wanted, first: &ScenarioRuns, made: &[ScenarioRuns], said: &[Said]) -> Page {
    let mut page = match (wanted.beside.is_empty(), wanted.flows) {
        (true, None) => runs::page(&first.runs),
        (_, flows) => {
            let all = with_beside(wanted, first, made);
            runs::page(&all.into_iter().map(|run| with_flows(run, flows)).collect::<Vec<_>>())
        }
    };
    page.keep(&wanted.axes);
    stated::mark_throughput(&mut page, said, &with_beside(wanted, first, made));
    page
}

/// The runs of the first scenario and of the scenarios beside it.
fn with_beside<'m>(wanted: &Wanted, first: &'m ScenarioRuns, made: &'m [ScenarioRuns]) -> Vec<&'m Finished> {
    let beside = made.iter().filter(|it| wanted.beside.contains(&it.scenario)).flat_map(|it| &it.runs);
    first.runs.iter().chain(beside).collect()
}

/// A run with only the flows from the first to the last of `flows`, counted from 1, and no other traffic; with all if
/// `flows` is none.
fn with_flows(run: &Finished, flows: Option<[usize; 2]>) -> Finished {
    let mut run = run.clone();
    if let Some([first, last]) = flows {
        let kept = |i: usize| (first..=last).contains(&(i + 1));
        let mut i = 0..;
        run.run.experiment.flows.retain(|_| i.next().is_some_and(kept));
        let mut i = 0..;
        run.outcome.flows.retain(|_| i.next().is_some_and(kept));
        run.run.experiment.workloads.clear();
        run.outcome.workloads.clear();
    }
    run
}
