//! Figures of an artefact that have panels of their own: any quantity over a swept key or over time, and windows with the flows' phases.

use super::figures::{self, Across, Entry, Group, Line, entries, figure};
use super::gallery::position;
use super::grid::{Curve, Grid};
use control::Phase;
use experiment::Finished;
use lab::reproduce::ScenarioRuns;
use lab::reproduce::artefact::{Artefact, Figure, Panel, Scale};

/// Points per curve over time.
const POINTS: usize = 1500;

/// The runs of a figure, each with the name of its line: its own, without `key`; and that of its scenario if there are several.
fn named<'m>(wanted: &Figure, key: &str, made: &'m [ScenarioRuns]) -> Vec<(String, &'m Finished)> {
    let several = !wanted.beside.is_empty();
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

/// A panel for each that is wanted, with a line per name.
fn drawn(
    wanted: &Figure,
    runs: &[(String, &Finished)],
    (axis, places): (&str, &[f64]),
    value: impl Fn(&Panel, &Finished, f64) -> Option<f64>,
) -> Group {
    let mut names: Vec<String> = Vec::new();
    runs.iter().for_each(|(name, _)| {
        if !names.contains(name) {
            names.push(name.clone());
        }
    });
    let figures = wanted.panels.iter().map(|panel| {
        let line = |(entry, name): (usize, &String)| {
            let of_line = || runs.iter().filter(|(its, _)| its == name);
            let at = |&place: &f64| of_line().find_map(|(_, run)| value(panel, run, place)).unwrap_or(f64::NAN);
            Line { entry: Some(entry), name: name.clone(), values: Curve(places.iter().map(at).collect()) }
        };
        let across = Across { axis: axis.into(), values: Curve(places.to_vec()) };
        let lines = names.iter().enumerate().map(line).collect();
        figures::Figure {
            title: Some(panel.title.clone()),
            across: Some(across),
            linear: wanted.every.is_some(),
            top: panel.top,
            ..figure(panel.axis.clone(), lines)
        }
    });
    Group { title: None, figures: figures.collect(), legend: entries(names.clone()), panels: true }
}

/// The panels that are wanted, over the key that the runs sweep, or over time.
pub fn panels(artefact: &Artefact, scale: Scale, wanted: &Figure, made: &[ScenarioRuns]) -> Group {
    let of = |panel: &Panel, run: &Finished, span| {
        panel.of.of_finished(artefact, scale, span, run).ok().filter(|value| value.is_finite())
    };
    let Some(key) = &wanted.across else {
        let every = wanted.every.unwrap_or(1.0);
        let runs = named(wanted, "", made);
        let end = runs.iter().map(|(_, run)| run.run.experiment.duration.as_secs()).fold(0.0, f64::max);
        let places: Vec<f64> = (1..).map(|i| every * f64::from(i)).take_while(|time| *time <= end + 1e-9).collect();
        let value = |panel: &Panel, run: &Finished, time| of(panel, run, Some([time - every, time]));
        return drawn(wanted, &runs, ("Time (s)", &places), value);
    };
    let runs = named(wanted, key, made);
    let at = |run: &Finished| position(run.run.identity.settings.get(key)?);
    let mut places: Vec<f64> = runs.iter().filter_map(|(_, run)| at(run)).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    let unit = if key.ends_with("rate") { " (Mbps)" } else { "" };
    let value = |panel: &Panel, run: &Finished, place| if at(run) == Some(place) { of(panel, run, None) } else { None };
    let label = wanted.label.clone().unwrap_or_else(|| format!("{key}{unit}"));
    drawn(wanted, &runs, (&label, &places), value)
}

/// The windows of a run's flows, and points on them that say in which phase a flow is: a panel per flow.
pub fn phases(run: &Finished) -> (Grid, Group) {
    let outcome = &run.outcome;
    let grid = Grid::new([(outcome, run.run.experiment.sample)].into_iter(), POINTS);
    let mut seen: Vec<Phase> = Vec::new();
    for phase in outcome.flows.iter().flat_map(|flow| &flow.series.phase).flatten() {
        if !seen.contains(phase) {
            seen.push(*phase);
        }
    }
    let panel = |(i, flow): (usize, &experiment::FlowOutcome)| {
        let windows = || flow.series.window.iter().copied();
        let all = Line { entry: Some(0), name: "window".into(), values: grid.mean(&outcome.sampled, windows()) };
        let within = |(k, phase): (usize, &Phase)| {
            let at = windows().zip(&flow.series.phase).map(|(w, now)| if *now == Some(*phase) { w } else { f64::NAN });
            Line { entry: Some(k + 1), name: phase.to_string(), values: grid.mean(&outcome.sampled, at) }
        };
        let lines = std::iter::once(all).chain(seen.iter().enumerate().map(within)).collect();
        let title = Some(format!("flow {}", i + 1));
        figures::Figure { title, points: seen.len(), ..figure("Window (packets)".into(), lines) }
    };
    let window = Entry { name: "window".into(), style: None, band: false, points: false };
    let points = |entry| Entry { points: true, ..entry };
    let legend = entries(seen.iter().map(ToString::to_string)).into_iter().map(points);
    let legend = std::iter::once(window).chain(legend).collect();
    (grid, Group { title: None, legend, panels: false, figures: outcome.flows.iter().enumerate().map(panel).collect() })
}
