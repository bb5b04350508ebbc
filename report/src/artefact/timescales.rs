//! Figures over the length of the window of time in which a quantity is measured.

use super::stated::Said;
use crate::figure::{Across, Band, Curve, Entry, Figure, Group, Line, Vertical};
use experiment::Finished;
use lab::reproduce::artefact::Figure as Wanted;
use lab::reproduce::measure::{Measure, Scope};

/// A panel per measure and run: the median over the windows of each length, and the band from the 10th to the 90th
/// percentile. Where the median is `said` to be at least so large, that is a level to compare with.
pub fn group(wanted: &Wanted, span: Option<[f64; 2]>, runs: &[Finished], said: &[Said]) -> Group {
    let curve = |run: &Finished, what: Measure, quantile: f64| {
        let value = |&window: &f64| what.of(run, Scope { span, quantile, window: Some(window), ..Scope::default() });
        Curve(wanted.windows.iter().map(value).collect())
    };
    let level = |run: &Finished, what: Measure| {
        let of_median = |it: &&Said| {
            let median = it.quantity.is_absolute()
                && it.quantity.quantile.is_none_or(|quantile| quantile == 0.5)
                && !it.quantity.windows.is_empty();
            std::ptr::eq(it.run, run) && it.quantity.measure == what && it.quantity.span == wanted.span && median
        };
        let [least, _] = said.iter().find(of_median)?.values;
        least.is_finite().then(|| (least, "the paper: above".to_string()))
    };
    let panel = |run: &Finished, what: Measure| {
        let median = Line { entry: Some(0), name: "median".into(), values: curve(run, what, 0.5) };
        Figure {
            title: Some(run.run.name()),
            band: Some(Band { entry: 1, low: curve(run, what, 0.1), high: curve(run, what, 0.9) }),
            vertical: if what.name() == "jain" { Vertical::To(1.05) } else { Vertical::FromZero },
            level: level(run, what),
            across: Some(Across::logarithmic("Timescale (s)", wanted.windows.clone())),
            ..Figure::new(what.axis().into(), vec![median])
        }
    };
    let panels = wanted.measures.iter().flat_map(|&what| runs.iter().map(move |run| (run, what)));
    Group {
        title: None,
        legend: Entry::median_and_band("median", "10th to 90th percentile"),
        panels: true,
        figures: panels.map(|(run, what)| panel(run, what)).collect(),
    }
}
