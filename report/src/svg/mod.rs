//! Figures for papers, as SVG.
//!
//! A panel is 80 mm wide, as a column of most journals; letters are 7 pt high. Lengths are in points.

mod axis;
mod heat;
mod legend;
mod panel;
mod pen;

use crate::figure::{Group, Page};
use panel::WIDTH;
use pen::{FAMILIES, LETTER, LINE, Pen};

/// Space between panels side by side.
const GAP: f64 = 10.0;
/// Space between rows of panels.
const ROW_GAP: f64 = 6.0;
/// Space above the first line and below the last.
const MARGIN: f64 = 4.0;
/// Space below a title and below a legend.
const BELOW: f64 = 2.0;

/// `page` as SVG: its groups one below the other. Titles of groups are shown where there are several groups or
/// `others`: figures that belong to this one.
pub fn svg(page: &Page, others: bool) -> String {
    let mut pen = Pen::default();
    let width = page.groups.iter().map(width).fold(WIDTH, f64::max);
    let mut y = MARGIN;
    for shown in &page.groups {
        let title = shown.title.as_ref().filter(|_| others || page.groups.len() > 1);
        y = group(&mut pen, page, shown, title, width, y) + LINE;
    }
    let height = y - LINE + MARGIN;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{:.1}mm\" height=\"{:.1}mm\" viewBox=\"0 0 {width:.1} {height:.1}\" \
         font-family=\"{FAMILIES}\" font-size=\"{LETTER}\" fill=\"none\" stroke-linejoin=\"round\">\n{}</svg>\n",
        width / 72.0 * 25.4,
        height / 72.0 * 25.4,
        pen.body
    )
}

/// Draws `group` from `y` on; returns where it ends.
fn group(pen: &mut Pen, page: &Page, group: &Group, title: Option<&String>, width: f64, mut y: f64) -> f64 {
    if let Some(title) = title {
        pen.text(0.0, y + LETTER, "start", title, "");
        y += LINE + BELOW;
    }
    if group.needs_legend() {
        y = legend::draw(pen, &group.legend, width, y) + BELOW;
    }
    let columns = columns(group);
    for (i, row) in group.figures.chunks(columns).enumerate() {
        let next = group.figures.get((i + 1) * columns);
        let labelled = group.panels || next.is_none_or(|next| next.across.is_some());
        let bottoms = row.iter().enumerate().map(|(k, figure)| {
            let left = k as f64 * (WIDTH + GAP);
            match &figure.heat {
                Some(heat) => heat::draw(pen, &figure.axis, heat, y),
                None => panel::draw(pen, page, figure, &group.legend, [left, y], labelled),
            }
        });
        y = bottoms.fold(y, f64::max) + ROW_GAP;
    }
    y - ROW_GAP
}

/// How wide `group` is.
fn width(group: &Group) -> f64 {
    let heats = group.figures.iter().filter_map(|figure| figure.heat.as_ref()).map(heat::width).fold(0.0, f64::max);
    (columns(group) as f64 * (WIDTH + GAP) - GAP).max(heats)
}

/// How many figures of `group` stand side by side.
fn columns(group: &Group) -> usize {
    let heat = group.figures.iter().any(|figure| figure.heat.is_some());
    if group.panels && group.figures.len() > 1 && !heat { 2 } else { 1 }
}
