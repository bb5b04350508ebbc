//! The figures of logs. Of one log, each figure has the quantities of one unit; of several, a quantity of each log.

use super::Log;
use super::bins::Bins;
use super::curves::{lost, metric, sent, states};
use crate::figure::{Curve, Entry, Figure, Group, Line, Page};
use qlog::Metric;

/// Only the states of this many logs are drawn, the first ones.
const MOST_STATES: usize = 16;

/// What is drawn of a log.
struct Quantity {
    name: &'static str,
    curve: fn(&Log, &Bins) -> Curve,
}

/// Quantities of the same unit, which share a figure if there is one log.
struct Kind {
    title: &'static str,
    axis: &'static str,
    /// What values are multiplied by to have the axis's unit.
    factor: f64,
    quantities: &'static [Quantity],
}

const KINDS: [Kind; 4] = [
    Kind {
        title: "Window",
        axis: "(kB)",
        factor: 1e-3,
        quantities: &[
            Quantity { name: "Congestion window", curve: |log, bins| metric(log, bins, Metric::CongestionWindow) },
            Quantity { name: "Bytes in flight", curve: |log, bins| metric(log, bins, Metric::BytesInFlight) },
            Quantity { name: "Slow-start threshold", curve: |log, bins| metric(log, bins, Metric::Ssthresh) },
        ],
    },
    Kind {
        title: "Round-trip time",
        axis: "(ms)",
        factor: 1.0,
        quantities: &[
            Quantity { name: "Smoothed RTT", curve: |log, bins| metric(log, bins, Metric::SmoothedRtt) },
            Quantity { name: "Latest RTT", curve: |log, bins| metric(log, bins, Metric::LatestRtt) },
            Quantity { name: "Least RTT", curve: |log, bins| metric(log, bins, Metric::MinRtt) },
        ],
    },
    Kind {
        title: "Rate",
        axis: "(Mbps)",
        factor: 1e-6,
        quantities: &[
            Quantity { name: "Delivery rate", curve: |log, bins| metric(log, bins, Metric::DeliveryRate) },
            Quantity { name: "Pacing rate", curve: |log, bins| metric(log, bins, Metric::PacingRate) },
            Quantity { name: "Sending rate", curve: sent },
        ],
    },
    Kind {
        title: "Losses",
        axis: "(packets)",
        factor: 1.0,
        quantities: &[Quantity { name: "Lost so far", curve: lost }],
    },
];

/// All figures of `logs`.
pub fn page(logs: &[Log]) -> Page {
    let bins = Bins::new(logs);
    let mut groups = match logs {
        [log] => KINDS.iter().map(|kind| one(kind, log, &bins)).collect(),
        _ => vec![several(logs, &bins)],
    };
    groups.extend(logs.iter().take(MOST_STATES).filter_map(|log| in_states(log, logs.len() > 1, &bins)));
    groups.retain(|group| !group.figures.is_empty());
    Page { step: bins.step / 1e3, bins: bins.count, groups }
}

/// The figure of a kind, with a line for each quantity that the log has.
fn one(kind: &Kind, log: &Log, bins: &Bins) -> Group {
    let curves = kind.quantities.iter().map(|it| (it.name, (it.curve)(log, bins).scale(kind.factor)));
    let curves: Vec<(&str, Curve)> = curves.filter(|(_, curve)| !curve.is_empty()).collect();
    let legend = Entry::each(curves.iter().map(|(name, _)| name.to_string()));
    let axis = match &curves[..] {
        [(name, _)] => format!("{name} {}", kind.axis),
        _ => format!("{} {}", kind.title, kind.axis),
    };
    let line = |(i, (name, values)): (usize, (&str, Curve))| Line { entry: Some(i), name: name.into(), values };
    let lines = curves.into_iter().enumerate().map(line).collect();
    let figures = Figure::with_values(vec![Figure::new(axis, lines)]);
    Group { title: None, legend, panels: false, figures }
}

/// A figure for each quantity, with a line for each log.
fn several(logs: &[Log], bins: &Bins) -> Group {
    let figure = |kind: &Kind, quantity: &Quantity| {
        let line = |(i, log): (usize, &Log)| Line {
            entry: Some(i),
            name: log.name.clone(),
            values: (quantity.curve)(log, bins).scale(kind.factor),
        };
        Figure::new(format!("{} {}", quantity.name, kind.axis), logs.iter().enumerate().map(line).collect())
    };
    let figures = KINDS.iter().flat_map(|kind| kind.quantities.iter().map(|it| figure(kind, it))).collect();
    let legend = Entry::each(logs.iter().map(|log| log.name.clone()));
    Group { title: None, legend, panels: false, figures: Figure::with_values(figures) }
}

/// The window, or what else shows what the controller does, in the colours of its states.
fn in_states(log: &Log, named: bool, bins: &Bins) -> Option<Group> {
    let candidates = KINDS.iter().flat_map(|kind| kind.quantities.iter().map(move |it| (kind, it)));
    let drawn = |(kind, it): (&Kind, &Quantity)| {
        let curve = (it.curve)(log, bins).scale(kind.factor);
        (!curve.is_empty()).then(|| (format!("{} {}", it.name, kind.axis), curve))
    };
    let preferred = ["Congestion window", "Pacing rate", "Bytes in flight", "Smoothed RTT"];
    let of = |name: &str| candidates.clone().find(|(_, it)| it.name == name).and_then(drawn);
    let (axis, curve) = preferred.into_iter().find_map(of)?;
    let states = states(log, bins, &curve);
    if states.is_empty() {
        return None;
    }
    let legend = Entry::each(states.iter().map(|(name, _)| name.clone()));
    let line = |(i, (name, values)): (usize, (String, Curve))| Line { entry: Some(i), name, values };
    let lines = states.into_iter().enumerate().map(line).collect();
    let title = if named { format!("States: {}", log.name) } else { "States".into() };
    Some(Group { title: Some(title), legend, panels: false, figures: vec![Figure::new(axis, lines)] })
}
