//! Figures with named panels: any quantity of the runs, over a swept key or over time.

use super::stated::Said;
use super::sweep::position;
use crate::figure::{Across, Curve, Entry, Figure, Group, Line, Stated, Vertical, apart};
use crate::order::{distinct, rising};
use experiment::Finished;
use lab::reproduce::ScenarioRuns;
use lab::reproduce::artefact::{Artefact, Figure as Wanted, Panel, Quantity, Scale};
use serde_json::Value;

/// The name of the key that stands for the names of scenarios.
const SCENARIO: &str = "scenario";

/// The panels that are `wanted`, over the key that the runs sweep, or over time, and what is `said` of what they show.
pub fn group(artefact: &Artefact, scale: Scale, wanted: &Wanted, made: &[ScenarioRuns], said: &[Said]) -> Group {
    let of = |panel: &Panel, run: &Finished, span| {
        panel.of.of_finished(artefact, scale, span, run).ok().filter(|value| value.is_finite())
    };
    let Some(key) = &wanted.across else {
        let every = wanted.every.unwrap_or(1.0);
        let runs = named(wanted, "", made);
        let end = runs.iter().map(|(_, run)| run.run.experiment.duration.as_secs()).fold(0.0, f64::max);
        let places: Vec<f64> = (1..).map(|i| every * f64::from(i)).take_while(|time| *time <= end + 1e-9).collect();
        let value = |panel: &Panel, run: &Finished, time| of(panel, run, Some([time - every, time]));
        let mark = |panel: &Panel, it: &Said, entry| it.over_time(entry).filter(|_| it.quantity.measures_as(&panel.of));
        return panels(wanted, &runs, "Time (s)", &places, value, said, mark);
    };
    let runs = named(wanted, key, made);
    let at = |run: &Finished| match key.as_str() {
        SCENARIO => position(&Value::from(scenario_of(run, made)?.rsplit(", ").next()?)),
        key => position(run.run.identity.settings.get(key)?),
    };
    let places = rising(runs.iter().filter_map(|(_, run)| at(run)));
    let unit = if key.ends_with("rate") { " (Mbps)" } else { "" };
    let value = |panel: &Panel, run: &Finished, place| if at(run) == Some(place) { of(panel, run, None) } else { None };
    let label = wanted.label.clone().unwrap_or_else(|| format!("{key}{unit}"));
    let mark = |panel: &Panel, it: &Said, entry| {
        let of = |quantity: &Quantity| (quantity.span.clone(), quantity.windows.clone(), quantity.quantile);
        let shown = it.quantity.measures_as(&panel.of) && of(it.quantity) == of(&panel.of);
        it.at(entry, at(it.run)?).filter(|_| shown)
    };
    panels(wanted, &runs, &label, &places, value, said, mark)
}

/// The name of the scenario that `run` is of.
fn scenario_of<'m>(run: &Finished, made: &'m [ScenarioRuns]) -> Option<&'m str> {
    let of = |it: &&ScenarioRuns| it.runs.iter().any(|one| std::ptr::eq(one, run));
    made.iter().find(of).map(|it| it.scenario.as_str())
}

/// The runs of a figure, each with the name of its line: the run's own without `key`, after its scenario's if there are
/// several that are not told apart by their places.
fn named<'m>(wanted: &Wanted, key: &str, made: &'m [ScenarioRuns]) -> Vec<(String, &'m Finished)> {
    let several = !wanted.beside.is_empty() && key != SCENARIO;
    let of = |it: &'m ScenarioRuns| {
        let name = |run: &'m Finished| {
            let name = run.run.identity.without(key);
            (if several { format!("{}: {name}", it.scenario) } else { name.to_string() }, run)
        };
        it.runs.iter().map(name).collect::<Vec<_>>()
    };
    let shown = |it: &&ScenarioRuns| it.scenario == wanted.scenario || wanted.beside.contains(&it.scenario);
    made.iter().filter(shown).flat_map(of).collect()
}

/// A figure for each panel that is wanted, with a line per name: `value` of the first run of that name that has one at
/// a place. `mark` makes a mark of what is `said` of a line, if the panel shows that.
fn panels(
    wanted: &Wanted,
    runs: &[(String, &Finished)],
    axis: &str,
    places: &[f64],
    value: impl Fn(&Panel, &Finished, f64) -> Option<f64>,
    said: &[Said],
    mark: impl Fn(&Panel, &Said, Option<usize>) -> Option<Stated>,
) -> Group {
    let names = distinct(runs.iter().map(|(name, _)| name));
    let figures = wanted.panels.iter().map(|panel| {
        let line = |(entry, name): (usize, &&String)| {
            let of_line = || runs.iter().filter(|(its, _)| its == *name);
            let at = |&place: &f64| of_line().find_map(|(_, run)| value(panel, run, place)).unwrap_or(f64::NAN);
            Line { entry: Some(entry), name: name.to_string(), values: Curve(places.iter().map(at).collect()) }
        };
        let stated = |it: &Said| {
            let (name, _) = runs.iter().find(|(_, run)| std::ptr::eq(*run, it.run))?;
            mark(panel, it, names.iter().position(|its| *its == name))
        };
        let across = if wanted.every.is_some() { Across::linear } else { Across::logarithmic };
        Figure {
            title: Some(panel.title.clone()),
            across: Some(across(axis, places.to_vec())),
            vertical: match panel.top {
                _ if panel.log => Vertical::Logarithmic,
                Some(top) => Vertical::To(top),
                None => Vertical::FromZero,
            },
            stated: apart(said.iter().filter_map(stated).collect()),
            ..Figure::new(panel.axis.clone(), names.iter().enumerate().map(line).collect())
        }
    });
    let figures = figures.collect();
    Group { title: None, figures, legend: Entry::each(names.iter().map(ToString::to_string)), panels: true }
}
