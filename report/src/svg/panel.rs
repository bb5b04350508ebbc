//! A panel: axes, and lines, points and bands between them.

use super::axis::{Axis, Ticks};
use super::pen::{LETTER, LINE, MIDDLE, Pen, stroke};
use crate::figure::style::look;
use crate::figure::{Across, Entry, Figure, Mark, Page, Stated, Vertical};
use std::fmt::Write;

/// Width of a panel with its labels: 80 mm.
pub const WIDTH: f64 = 226.8;
/// Height of the plot.
const HEIGHT: f64 = 82.0;
/// Space for the labels of the vertical axis.
pub const LEFT: f64 = 38.0;
/// Space for half of the last label of the horizontal axis.
pub const RIGHT: f64 = 6.0;
/// Space above the plot.
const TOP: f64 = 3.0;
/// Length of the marks at an axis.
const TICK: f64 = 2.5;
/// From an axis to its labels.
const TO_LABEL: f64 = 4.0;
/// A line over no more places than this has a point at each, as these are what was measured.
const FEW_PLACES: usize = 12;
/// By how much of its length an axis of few places is longer at either end.
const BESIDE: f64 = 0.04;
const BLACK: &str = "stroke=\"#000\" stroke-width=\"0.5\"";

/// Where values lie.
struct Frame {
    left: f64,
    top: f64,
    width: f64,
    x: Axis,
    y: Axis,
}

impl Frame {
    fn x(&self, value: f64) -> f64 {
        self.left + self.width * self.x.position(value)
    }

    fn y(&self, value: f64) -> f64 {
        self.top + HEIGHT * (1.0 - self.y.position(value))
    }

    fn right(&self) -> f64 {
        self.left + self.width
    }

    fn bottom(&self) -> f64 {
        self.top + HEIGHT
    }
}

/// Draws `figure` with its upper left corner at `at`, the horizontal axis with labels if it is `labelled`; returns
/// where it ends.
pub fn draw(
    pen: &mut Pen,
    page: &Page,
    figure: &Figure,
    legend: &[Entry],
    [left, mut top]: [f64; 2],
    labelled: bool,
) -> f64 {
    if let Some(title) = &figure.title {
        pen.text(left + LEFT, top + LETTER, "start", title, "");
        top += LINE;
    }
    let places: Vec<f64> = match &figure.across {
        Some(across) => across.values.0.clone(),
        None => (0..page.bins).map(|k| (k as f64 + 0.5) * page.step).collect(),
    };
    let (x, y) = (horizontal(page, figure, &places), vertical(figure));
    let frame = Frame { left: left + LEFT, top: top + TOP, width: WIDTH - LEFT - RIGHT, x, y };
    vertical_axis(pen, &frame, &figure.axis, left);
    let clip = pen.clip([frame.left, frame.top], [frame.width, HEIGHT]);
    level(pen, &frame, figure);
    band(pen, &frame, figure, legend, &places, &clip);
    lines(pen, &frame, figure, legend, &places, &clip);
    stated(pen, &frame, figure, legend);
    let name = figure.across.as_ref().map_or("Time (s)", |across| &across.axis);
    horizontal_axis(pen, &frame, labelled.then_some(name))
}

fn horizontal(page: &Page, figure: &Figure, places: &[f64]) -> Axis {
    let (from, to) = (places.first().copied().unwrap_or(0.0), places.last().copied().unwrap_or(1.0));
    let axis = |across: &Across| if across.log { Axis::logarithmic(from, to) } else { Axis::linear(from, to) };
    match &figure.across {
        // The points at the ends would stand on the frame.
        Some(across) if places.len() <= FEW_PLACES => axis(across).widened(BESIDE),
        Some(across) => axis(across),
        None => Axis::linear(0.0, page.bins as f64 * page.step),
    }
}

/// The same extent as on the pages.
fn vertical(figure: &Figure) -> Axis {
    let log = figure.vertical == Vertical::Logarithmic;
    let band = figure.band.iter().flat_map(|band| [&band.low, &band.high]);
    let stated = figure.stated.iter().flat_map(|stated| &stated.values);
    let values = figure.lines.iter().map(|line| &line.values).chain(band).flat_map(|curve| &curve.0).chain(stated);
    let values: Vec<f64> = values.copied().filter(|x| x.is_finite() && (!log || *x > 0.0)).collect();
    let (low, high) = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &x| (l.min(x), h.max(x)));
    let level = figure.level.as_ref().map_or(0.0, |level| level.0);
    let high = if level < 1.4 * high { high.max(level) } else { high };
    match figure.vertical {
        Vertical::To(top) => Axis::linear(0.0, top),
        _ if low > high => Axis::linear(0.0, 1.0),
        Vertical::Logarithmic => Axis::logarithmic(low / 1.2, high * 1.2),
        Vertical::FromZero => Axis::linear(low.min(0.0), if high > 0.0 { high * 1.04 } else { 1.0 }),
        Vertical::Around => {
            let margin = ((high - low) * 0.06).max(high.abs() * 0.005).max(1e-9);
            Axis::linear(low - margin, high + margin)
        }
    }
}

/// The vertical axis with its `name`, lines across the plot, and the plot's border.
fn vertical_axis(pen: &mut Pen, frame: &Frame, name: &str, left: f64) {
    let Ticks { values, labels } = frame.y.ticks(5);
    for (value, label) in values.iter().zip(labels) {
        let y = frame.y(*value);
        pen.line([frame.left, y], [frame.right(), y], "stroke=\"#ddd\" stroke-width=\"0.4\"");
        pen.line([frame.left - TICK, y], [frame.left, y], BLACK);
        pen.text(frame.left - TO_LABEL, y + LETTER * MIDDLE, "end", &label, "");
    }
    let Frame { left: x, top: y, width, .. } = frame;
    pen.put(format_args!("<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{HEIGHT}\" {BLACK}/>"));
    pen.upright(left + LETTER, frame.top + HEIGHT / 2.0, "middle", name);
}

/// The horizontal axis, with labels if it has a `name`; returns where it ends.
fn horizontal_axis(pen: &mut Pen, frame: &Frame, name: Option<&str>) -> f64 {
    let below = frame.bottom() + TO_LABEL + LETTER;
    let Ticks { values, labels } = frame.x.ticks(6);
    for (value, label) in values.iter().zip(labels) {
        let x = frame.x(*value);
        pen.line([x, frame.bottom()], [x, frame.bottom() + TICK], BLACK);
        if name.is_some() {
            pen.text(x, below, "middle", &label, "");
        }
    }
    let Some(name) = name else { return frame.bottom() + 3.0 };
    pen.text(frame.left + frame.width / 2.0, below + LINE, "middle", name, "");
    below + LINE + 2.0
}

/// The level to compare with, if it is on the axis.
fn level(pen: &mut Pen, frame: &Frame, figure: &Figure) {
    if let Some((value, name)) = figure.level.as_ref().filter(|(value, _)| frame.y.has(*value)) {
        let y = frame.y(*value);
        let dotted = "stroke=\"#777\" stroke-width=\"0.5\" stroke-dasharray=\"1 1.5\"";
        pen.line([frame.left, y], [frame.right(), y], dotted);
        let beside = if y - LETTER < frame.top { y + LETTER } else { y - 2.0 };
        pen.text(frame.right() - 2.0, beside, "end", name, "fill=\"#777\"");
    }
}

fn band(pen: &mut Pen, frame: &Frame, figure: &Figure, legend: &[Entry], places: &[f64], clip: &str) {
    if let Some(band) = &figure.band {
        let (colour, _) = look(legend[band.entry].style);
        for stretch in outline(frame, places, &band.low.0, &band.high.0) {
            pen.put(format_args!("<path d=\"{stretch}Z\" fill=\"{colour}\" fill-opacity=\"0.25\" {clip}/>"));
        }
    }
}

fn lines(pen: &mut Pen, frame: &Frame, figure: &Figure, legend: &[Entry], places: &[f64], clip: &str) {
    for line in &figure.lines {
        let entry = line.entry.and_then(|entry| legend.get(entry));
        let style = entry.and_then(|entry| entry.style);
        let alone = entry.is_some_and(|entry| entry.mark == Mark::Points);
        if !alone {
            let path = curve(frame, places, &line.values.0);
            pen.put(format_args!("<path d=\"{path}\" {} {clip}/>", stroke(style)));
        }
        if alone || figure.across.is_some() && places.len() <= FEW_PLACES {
            let (colour, _) = look(style);
            for (x, y) in places.iter().zip(&line.values.0).filter(|(_, y)| frame.y.has(**y)) {
                pen.point([frame.x(*x), frame.y(*y)], colour);
            }
        }
    }
}

/// What the paper says: a hollow marker at a value, on a level as long as it is said, or a range.
fn stated(pen: &mut Pen, frame: &Frame, figure: &Figure, legend: &[Entry]) {
    let on_axes = |it: &&Stated| frame.x.has(it.at) && it.values.iter().all(|value| frame.y.has(*value));
    let shown: Vec<&Stated> = figure.stated.iter().filter(on_axes).collect();
    let colour = |entry: Option<usize>| look(entry.and_then(|entry| legend.get(entry)).and_then(|it| it.style)).0;
    for it in shown.iter().filter(|it| it.along[0] < it.along[1] && !it.is_range()) {
        let [from, to] = it.along.map(|x| frame.x(x).clamp(frame.left, frame.right()));
        let y = frame.y(it.values[0]);
        pen.line([from, y], [to, y], "stroke=\"#fff\" stroke-width=\"2\"");
        let entry = it.entry.filter(|_| !figure.shares_level(it));
        pen.line([from, y], [to, y], &format!("stroke=\"{}\" stroke-width=\"0.6\"", colour(entry)));
    }
    for it in shown {
        let (x, [low, high]) = (frame.x(it.at), it.values.map(|value| frame.y(value)));
        match it.is_range() {
            true => pen.range(x, [low, high], colour(it.entry)),
            false => pen.diamond([x, low], colour(it.entry)),
        }
    }
}

/// The path of a curve, interrupted where it has no value. Of the values within half a point of the horizontal axis
/// only the lowest and the highest are drawn.
fn curve(frame: &Frame, places: &[f64], values: &[f64]) -> String {
    let mut path = String::new();
    let points: Vec<Option<(f64, f64)>> =
        places.iter().zip(values).map(|(&x, &y)| frame.y.shows(y).then(|| (frame.x(x), frame.y(y)))).collect();
    for stretch in points.split(Option::is_none) {
        let stretch: Vec<(f64, f64)> = stretch.iter().flatten().copied().collect();
        let mut verb = 'M';
        for alike in stretch.chunk_by(|a, b| (a.0 * 2.0).floor() == (b.0 * 2.0).floor()) {
            let lowest = (0..alike.len()).min_by(|&i, &j| alike[i].1.total_cmp(&alike[j].1)).unwrap_or(0);
            let highest = (0..alike.len()).max_by(|&i, &j| alike[i].1.total_cmp(&alike[j].1)).unwrap_or(0);
            let mut kept = [lowest, highest];
            kept.sort_unstable();
            for &k in if lowest == highest { &kept[..1] } else { &kept[..] } {
                let (x, y) = alike[k];
                let _ = write!(path, "{verb}{x:.2} {y:.2}");
                verb = 'L';
            }
        }
    }
    path
}

/// The outlines of the area between two curves: one for each stretch of places at which both have a value.
fn outline(frame: &Frame, places: &[f64], low: &[f64], high: &[f64]) -> Vec<String> {
    let shown = |&i: &usize| frame.y.shows(low[i]) && frame.y.shows(high[i]);
    let all: Vec<usize> = (0..places.len().min(low.len()).min(high.len())).collect();
    let stretches = all.split(|i| !shown(i)).filter(|stretch| !stretch.is_empty());
    stretches
        .map(|stretch| {
            let up = stretch.iter().map(|&i| (places[i], high[i]));
            let back = stretch.iter().rev().map(|&i| (places[i], low[i]));
            let mut path = String::new();
            for (k, (x, y)) in up.chain(back).enumerate() {
                let verb = if k == 0 { 'M' } else { 'L' };
                let _ = write!(path, "{verb}{:.2} {:.2}", frame.x(x), frame.y(y));
            }
            path
        })
        .collect()
}
