//! The figures of several runs.

use super::chart::{Chart, FLOWS, LINKS, QUEUE};
use super::common::{Common, flow_names};
use super::one;
use crate::figure::style::COLOURS;
use crate::figure::{Curve, Entry, Figure, Group, Line, Vertical};
use experiment::{Finished, FlowSeries, LinkOutcome, LinkSeries, Place, quantile};

/// Only this many runs get panels of their own, the first ones.
const MAX_PANELS: usize = 12;

/// A panel for each run with its flows, then figures with a line for each run.
pub fn groups(common: &Common, runs: &[Finished]) -> Vec<Group> {
    let median = |flows: &[Curve]| Curve::across(flows, |values| quantile(values, 0.5));
    let mut together = overlay(common, runs, "median ", median);
    together.title = Some("Runs compared".into());
    let jain = lines(runs, |run| common.jain(run));
    together.figures.extend(Figure::with_values(vec![common.fairness(jain)]));
    vec![panels(common, &runs[..runs.len().min(MAX_PANELS)]), together]
}

/// A panel for each run, with its flows.
fn panels(common: &Common, runs: &[Finished]) -> Group {
    let panel = |run: &Finished| Figure { title: Some(run.run.name()), ..one::throughput(common, run) };
    let mut figures: Vec<Figure> = runs.iter().map(panel).collect();
    // Panels have the same vertical axis, unless many flows have shares so different in size that little would be seen.
    if !common.banded {
        let top = figures.iter().flat_map(|figure| &figure.lines).map(|line| line.values.largest()).fold(0.0, f64::max);
        figures.iter_mut().for_each(|figure| figure.vertical = Vertical::To(top * 1.04));
    }
    let most = runs.iter().max_by_key(|run| run.outcome.flows.len());
    let mut legend = most.map(|run| common.flow_legend(run)).unwrap_or_default();
    // Where flow i has different controllers in different runs, its name in the legend leaves the controller out.
    for (i, entry) in legend.iter_mut().enumerate().filter(|_| !common.banded) {
        let mut names = runs.iter().filter_map(|run| flow_names(run).into_iter().nth(i));
        if names.any(|name| name != entry.name) {
            entry.name = format!("flow {}", i + 1);
        }
    }
    Group { title: Some("Each run".into()), legend, panels: true, figures: Figure::with_values(figures) }
}

/// A line per run: its total throughput, the time series of its busiest link, and of its flows' time series what `pick`
/// makes of them. `picked` is the name of that, followed by a space, or empty if runs have one flow each.
pub fn overlay(common: &Common, runs: &[Finished], picked: &str, pick: fn(&[Curve]) -> Curve) -> Group {
    let throughput = common.rate_axis(if picked.is_empty() { "Throughput" } else { "Total throughput" });
    let total = Figure::new(throughput, lines(runs, |run| common.total(run)));
    let mut figures = vec![Figure { level: common.level(), ..total }];
    let several_links = runs.iter().any(|run| run.run.experiment.links.len() > 1);
    let of_link = |chart: &Chart<LinkSeries>| {
        let curve = |run: &Finished, link: &LinkOutcome| chart.curve(common, &run.outcome.sampled, &link.series);
        let values = |run: &Finished| {
            run.outcome.busiest_link().map(|link| curve(run, link).scale(chart.factor(common))).unwrap_or_default()
        };
        let name = if several_links && chart.name == QUEUE { "Busiest queue" } else { chart.name };
        Figure { vertical: chart.vertical(), ..Figure::new(chart.axis_of(name, common), lines(runs, values)) }
    };
    figures.extend(LINKS.iter().map(of_link));
    figures.extend(FLOWS.iter().map(|chart| figure(common, runs, chart, picked, pick)));
    Group { title: None, legend: legend(runs), panels: false, figures: Figure::with_values(figures) }
}

/// A chart of the flows, with a line per run. `picked` and `pick` as in [`overlay`].
pub fn figure(
    common: &Common,
    runs: &[Finished],
    chart: &Chart<FlowSeries>,
    picked: &str,
    pick: fn(&[Curve]) -> Curve,
) -> Figure {
    let curves = |run: &Finished| -> Vec<Curve> {
        run.outcome.flows.iter().map(|flow| chart.curve(common, &run.outcome.sampled, &flow.series)).collect()
    };
    let values = |run: &Finished| pick(&curves(run)).scale(chart.factor(common));
    let name = if picked.is_empty() { chart.name.into() } else { upper(&format!("{picked}{}", lower(chart.name))) };
    Figure { vertical: chart.vertical(), ..Figure::new(chart.axis_of(&name, common), lines(runs, values)) }
}

/// A line per run.
fn lines(runs: &[Finished], values: impl Fn(&Finished) -> Curve) -> Vec<Line> {
    let line = |(i, run): (usize, &Finished)| Line { entry: Some(i), name: run.run.name(), values: values(run) };
    runs.iter().enumerate().map(line).collect()
}

/// An entry per run; a real run has the colour of the simulated one, and another dash.
fn legend(runs: &[Finished]) -> Vec<Entry> {
    let mut legend = Entry::each(runs.iter().map(|run| run.run.name()));
    let simulated = |run: &Finished| {
        let identity = run.run.identity.in_place(Place::Simulated);
        (run.run.identity.place == Place::Real)
            .then(|| runs.iter().position(|run| run.run.identity == identity))
            .flatten()
    };
    let mut next = 0;
    for i in 0..legend.len() {
        legend[i].style = match simulated(&runs[i]).and_then(|pair| legend[pair].style) {
            Some(style) => Some(style + COLOURS.len()),
            None => {
                next += 1;
                Some(next - 1)
            }
        };
    }
    legend
}

/// `text` with a capital first letter.
fn upper(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// `text` in small letters, unless it is an abbreviation such as RTT.
fn lower(text: &str) -> String {
    if text.chars().all(char::is_uppercase) { text.into() } else { text.to_lowercase() }
}
