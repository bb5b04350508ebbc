//! Charts of an artefact: curves, and what runs measure of them as points.

use super::embed;
use super::figures::{Across, Figure, Group, Line, Page, entries, figure};
use super::grid::Curve;
use lab::reproduce::ScenarioRuns;
use lab::reproduce::artefact::{Artefact, Chart};
use lab::reproduce::measure::response;

/// Points per curve.
const POINTS: usize = 300;

/// What the page draws of them, as JSON: one per chart.
pub fn charts(artefact: &Artefact, made: &[ScenarioRuns]) -> Vec<String> {
    artefact.charts.iter().map(|chart| embed(&Page::of(group(artefact, chart, made)))).collect()
}

/// The place at a share of the horizontal axis.
fn place(chart: &Chart, share: f64) -> f64 {
    let [from, to] = chart.range;
    if chart.linear { from + (to - from) * share } else { from * libm::pow(to / from, share) }
}

fn group(artefact: &Artefact, chart: &Chart, made: &[ScenarioRuns]) -> Group {
    let [from, to] = chart.range;
    let mut places: Vec<f64> = (0..POINTS).map(|i| place(chart, i as f64 / (POINTS - 1) as f64)).collect();
    let shown = |name: &String| chart.curves.is_empty() || chart.curves.contains(name);
    let curves: Vec<_> = artefact.curves.iter().filter(|curve| shown(&curve.name)).collect();
    // Each controller's points, over all scenarios.
    let runs = || made.iter().filter(|it| chart.points.contains(&it.scenario)).flat_map(|it| &it.runs);
    let measured: Vec<(&str, (f64, f64))> = runs().map(|run| (run.run.controller.as_str(), response(run))).collect();
    let measured: Vec<_> = measured.into_iter().filter(|(_, (p, _))| (from..=to).contains(p)).collect();
    places.extend(measured.iter().map(|(_, (p, _))| p));
    places.sort_by(f64::total_cmp);
    places.dedup();
    let mut names: Vec<&str> = Vec::new();
    measured.iter().for_each(|(name, _)| {
        if !names.contains(name) {
            names.push(name)
        }
    });

    let law = |(entry, curve): (usize, &&lab::reproduce::curve::Curve)| {
        let values = places.iter().map(|&x| curve.bounded(&artefact.curves, x)).collect();
        Line { entry: Some(entry), name: curve.name.clone(), values: Curve(values) }
    };
    let points = |(i, name): (usize, &&str)| {
        let at = |x: &f64| measured.iter().find(|(of, (p, _))| of == name && p == x).map_or(f64::NAN, |(_, (_, w))| *w);
        let values = Curve(places.iter().map(at).collect());
        Line { entry: Some(curves.len() + i), name: format!("{name}, simulated"), values }
    };
    let lines: Vec<Line> = curves.iter().enumerate().map(law).chain(names.iter().enumerate().map(points)).collect();
    let mut legend = entries(lines.iter().map(|line| line.name.clone()));
    legend[curves.len()..].iter_mut().for_each(|entry| entry.points = true);
    let across = Across { axis: chart.across.clone(), values: Curve(places) };
    let figure = figure(chart.axis.clone(), lines);
    let figure = Figure {
        across: Some(across),
        log: chart.log,
        linear: chart.linear,
        top: chart.top,
        points: names.len(),
        ..figure
    };
    Group { title: None, legend, panels: false, figures: vec![figure] }
}
