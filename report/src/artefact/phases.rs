//! The windows of a run's flows, with the phases that their controllers are in.

use crate::figure::{Entry, Figure, Group, Line, Mark, Page};
use crate::order::distinct;
use crate::runs::grid::Grid;
use control::Phase;
use experiment::{Finished, FlowOutcome};

/// Values per curve at most.
const POINTS: usize = 1500;

/// A figure per flow: its window as a line, and on it points that tell the phase.
pub fn page(run: &Finished) -> Page {
    let outcome = &run.outcome;
    let grid = Grid::new([(outcome, run.run.experiment.sample)].into_iter(), POINTS);
    let phases: Vec<Phase> = distinct(outcome.flows.iter().flat_map(|flow| &flow.series.phase).flatten().copied());
    let figure = |(i, flow): (usize, &FlowOutcome)| {
        let windows = || flow.series.window.iter().copied();
        let all = Line { entry: Some(0), name: "window".into(), values: grid.mean(&outcome.sampled, windows()) };
        let within = |(k, phase): (usize, &Phase)| {
            let at = windows().zip(&flow.series.phase).map(|(w, now)| if *now == Some(*phase) { w } else { f64::NAN });
            Line { entry: Some(k + 1), name: phase.to_string(), values: grid.mean(&outcome.sampled, at) }
        };
        let lines = std::iter::once(all).chain(phases.iter().enumerate().map(within)).collect();
        Figure { title: Some(format!("flow {}", i + 1)), ..Figure::new("Window (packets)".into(), lines) }
    };
    let points = Entry::each(phases.iter().map(ToString::to_string));
    let points = points.into_iter().map(|entry| Entry { mark: Mark::Points, ..entry });
    let legend = std::iter::once(Entry::neutral("window")).chain(points).collect();
    let figures = outcome.flows.iter().enumerate().map(figure).collect();
    let group = Group { title: None, legend, panels: false, figures };
    Page { step: grid.step.as_secs(), bins: grid.bins, groups: vec![group] }
}
