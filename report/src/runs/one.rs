//! The figures of one run: its flows and its links.

use super::chart::{Chart, FLOWS, LINKS};
use super::common::{Common, flow_names};
use crate::figure::{Band, Curve, Entry, Figure, Group, Line};
use experiment::{Finished, FlowOutcome, FlowSeries, LinkOutcome, LinkSeries, quantile};

/// Of more links than this, only those with the longest queues are drawn.
const MAX_LINKS: usize = 12;

/// The figures of the flows of `run`. The time series of its link are among them; several links have a group of their
/// own.
pub fn groups(common: &Common, run: &Finished) -> Vec<Group> {
    let flows = run.outcome.flows.len();
    let mut legend = if flows > 1 { common.flow_legend(run) } else { vec![] };
    let mut figures = vec![throughput(common, run)];
    if flows > 1 {
        let total = Line { entry: Some(legend.len()), name: "total".into(), values: common.total(run) };
        legend.push(Entry::neutral("total"));
        if common.banded {
            figures.insert(0, Figure::new(common.rate_axis("Total"), vec![total]));
        } else {
            figures[0].lines.push(total);
        }
    }
    figures[0].level = common.level();
    let mut links = Figure::with_values(links(common, run));
    let legend_of_links = Entry::each(links.iter().take(1).flat_map(|f| &f.lines).map(|line| line.name.clone()));
    if legend_of_links.len() < 2 {
        figures.append(&mut links);
    }
    figures.extend(FLOWS.iter().map(|chart| figure(common, run, chart)));
    if flows > 1 {
        let jain = Line { entry: None, name: "Jain index".into(), values: common.jain(run) };
        figures.push(common.fairness(vec![jain]));
    }
    let mut groups = vec![Group { title: None, legend, panels: false, figures: Figure::with_values(figures) }];
    if !links.is_empty() {
        groups.push(Group { title: Some("Links".into()), legend: legend_of_links, panels: false, figures: links });
    }
    groups
}

/// The goodput of each flow of `run`.
pub fn throughput(common: &Common, run: &Finished) -> Figure {
    per_flow(common, run, common.rate_axis("Throughput"), |flow| common.throughput(run, flow))
}

/// A chart of the flows of `run`.
pub fn figure(common: &Common, run: &Finished, chart: &Chart<FlowSeries>) -> Figure {
    let values = |flow: &FlowOutcome| chart.curve(common, &run.outcome.sampled, &flow.series);
    let figure = per_flow(common, run, chart.axis(common), |flow| values(flow).scale(chart.factor(common)));
    Figure { vertical: chart.vertical(), ..figure }
}

/// A line per flow, or of many flows the median and a band.
fn per_flow(common: &Common, run: &Finished, axis: String, values: impl Fn(&FlowOutcome) -> Curve) -> Figure {
    let curves: Vec<Curve> = run.outcome.flows.iter().map(values).collect();
    if common.banded {
        let across = |q| Curve::across(&curves, |values| quantile(values, q));
        let band = Band { entry: 1, low: across(0.1), high: across(0.9) };
        let median = Line { entry: Some(0), name: "median".into(), values: across(0.5) };
        return Figure { band: Some(band), ..Figure::new(axis, vec![median]) };
    }
    let several = curves.len() > 1;
    let line = |(i, (values, name))| Line { entry: several.then_some(i), name, values };
    Figure::new(axis, curves.into_iter().zip(flow_names(run)).enumerate().map(line).collect())
}

/// The time series of a run's links; of many links, those with the longest queues.
fn links(common: &Common, run: &Finished) -> Vec<Figure> {
    let mut links: Vec<&LinkOutcome> = run.outcome.links.iter().collect();
    links.sort_by_key(|link| std::cmp::Reverse(link.max_queue));
    links.truncate(MAX_LINKS);
    let figure = |chart: &Chart<LinkSeries>| {
        let line = |(i, link): (usize, &&LinkOutcome)| Line {
            entry: (links.len() > 1).then_some(i),
            name: link.name.clone(),
            values: chart.curve(common, &run.outcome.sampled, &link.series).scale(chart.factor(common)),
        };
        let lines = links.iter().enumerate().map(line).collect();
        Figure { vertical: chart.vertical(), ..Figure::new(chart.axis(common), lines) }
    };
    LINKS.iter().map(figure).collect()
}
