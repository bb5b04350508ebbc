//! Charts of an artefact: curves that follow from equations, and what runs measure of them as points.

use crate::figure::{Across, Curve, Entry, Figure, Group, Line, Mark, Stated, Vertical, apart};
use crate::order::{distinct, rising};
use lab::reproduce::ScenarioRuns;
use lab::reproduce::artefact::{Artefact, Chart, Claim};
use lab::reproduce::curve::Curve as Equation;
use lab::reproduce::measure::{Crossed, response};

/// Values per curve, beside those at the measured places.
const POINTS: usize = 300;

/// The figure of `chart`.
pub fn group(artefact: &Artefact, chart: &Chart, made: &[ScenarioRuns]) -> Group {
    let [from, to] = chart.range;
    let shown = |name: &String| chart.curves.is_empty() || chart.curves.contains(name);
    let curves: Vec<&Equation> = artefact.curves.iter().filter(|curve| shown(&curve.name)).collect();
    // Each controller's points, over all scenarios: loss event rate and mean window.
    let runs = made.iter().filter(|it| chart.points.contains(&it.scenario)).flat_map(|it| &it.runs);
    let measured = runs.map(|run| (run.run.controller.as_str(), response(run)));
    let measured: Vec<(&str, (f64, f64))> = measured.filter(|(_, (p, _))| (from..=to).contains(p)).collect();
    let along = (0..POINTS).map(|i| place(chart, i as f64 / (POINTS - 1) as f64));
    let places = rising(along.chain(measured.iter().map(|(_, (p, _))| *p)));
    let names = distinct(measured.iter().map(|(name, _)| *name));

    let line = |(entry, curve): (usize, &&Equation)| {
        let values = places.iter().map(|&x| curve.bounded(&artefact.curves, x)).collect();
        Line { entry: Some(entry), name: curve.name.clone(), values: Curve(values) }
    };
    let points = |(i, name): (usize, &&str)| {
        let at = |x: &f64| measured.iter().find(|(of, (p, _))| of == name && p == x).map_or(f64::NAN, |(_, (_, w))| *w);
        let values = Curve(places.iter().map(at).collect());
        Line { entry: Some(curves.len() + i), name: format!("{name}, simulated"), values }
    };
    let lines: Vec<Line> = curves.iter().enumerate().map(line).chain(names.iter().enumerate().map(points)).collect();
    let mut legend = Entry::each(lines.iter().map(|line| line.name.clone()));
    legend[curves.len()..].iter_mut().for_each(|entry| entry.mark = Mark::Points);
    let stated = apart(artefact.claims.iter().filter_map(|claim| stated_of(claim, &curves, chart)).collect());
    let across = if chart.linear { Across::linear } else { Across::logarithmic };
    let figure = Figure {
        across: Some(across(chart.across.clone(), places)),
        vertical: match chart.top {
            _ if chart.log => Vertical::Logarithmic,
            Some(top) => Vertical::To(top),
            None => Vertical::FromZero,
        },
        stated,
        ..Figure::new(chart.axis.clone(), lines)
    };
    Group { title: None, legend, panels: false, figures: vec![figure] }
}

/// The mark of what the paper says of a curve's value, or of where it crosses another one, if `claim` is of that. Where
/// the paper gives only the one or the other coordinate of a crossing, the mark has the curves' own for the other.
fn stated_of(claim: &Claim, curves: &[&Equation], chart: &Chart) -> Option<Stated> {
    let quantity = &claim.quantity;
    let value = claim.paper.filter(|_| !claim.derived)?;
    let place = |name: &Option<String>| curves.iter().position(|curve| Some(&curve.name) == name.as_ref());
    let entry = place(&quantity.curve).filter(|_| quantity.is_absolute())?;
    let crossing = || {
        let [from, to] = chart.range;
        Crossed::of(curves[entry], curves[place(&quantity.with)?], from..to)
    };
    match quantity.measure.name() {
        "curve" => Some(Stated::point(Some(entry), quantity.level?, value)),
        "crossing" => Some(Stated::point(Some(entry), value, crossing()?.height)),
        "crossing-height" => Some(Stated::point(Some(entry), crossing()?.at, value)),
        _ => None,
    }
}

/// The place at a share of the horizontal axis.
fn place(chart: &Chart, share: f64) -> f64 {
    let [from, to] = chart.range;
    if chart.linear { from + (to - from) * share } else { from * libm::pow(to / from, share) }
}
