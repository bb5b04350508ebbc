//! Figures for papers: what the pages draw, from the same data, as SVG and PDF.
//!
//! A panel is 80 mm wide, a column of most journals; letters are 7 pt high; curves differ by dash as well as by colour, so that
//! they are told apart in grey, too. Lengths are in points.

use super::Drawn;
use super::escape;
use super::figures::{Entry, Figure, Group, Line, Page};
use super::heat::Heat;
use super::scale::{Axis, Ticks};
use std::fmt::Write;
use std::sync::{Arc, OnceLock};
use svg2pdf::usvg;

/// One panel, with its labels: 80 mm.
const WIDTH: f64 = 226.8;
/// Of a panel's plot.
const HEIGHT: f64 = 82.0;
const LEFT: f64 = 38.0;
const RIGHT: f64 = 6.0;
/// Between panels beside each other.
const GAP: f64 = 10.0;
/// Size of letters, and of what explains.
const LETTER: f64 = 7.0;
const LINE: f64 = 9.5;
/// A piece of the curve in the legend.
const SAMPLE: f64 = 16.0;
/// Of a square of a heat map, with its number.
const CELL: f64 = 14.5;

/// Those of `page.js`: Okabe and Ito's colours, and dashes.
const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"];
const DASHES: [&str; 6] = ["", "4.5 1.5", "1.5 1", "4.5 1.5 1 1.5", "8 1.5", "3 1 1 1 1 1"];
/// From low to high, ever brighter: Nuñez, Anderton and Renslow's cividis (PLoS ONE 13(7), 2018), coarsely.
const CIVIDIS: [[f64; 3]; 5] =
    [[0.0, 34.0, 78.0], [65.0, 77.0, 107.0], [124.0, 123.0, 120.0], [188.0, 175.0, 111.0], [254.0, 232.0, 56.0]];

/// Metric-compatible with Helvetica and Arial, so that the text of an SVG lies where it should with any of them.
const FONT: &[u8] = include_bytes!("vendor/LiberationSans-Regular.ttf");
const FAMILIES: &str = "Liberation Sans, Helvetica, Arial, sans-serif";

/// The figures of `drawn` as SVG, each with a name for its file.
pub fn figures(drawn: &Drawn) -> Vec<(String, String)> {
    let pages =
        drawn.figures.iter().enumerate().filter_map(|(i, figure)| Some((i, serde_json::from_str(figure).ok()?)));
    pages.map(|(i, page)| (name(drawn, i), svg(&page, drawn.figures.len() > 1))).collect()
}

/// What the file of a figure of `drawn` is called, without its ending.
pub(super) fn name(drawn: &Drawn, i: usize) -> String {
    let short = drawn.record.id.replace('/', "-");
    if drawn.figures.len() > 1 { format!("{short}-{}", i + 1) } else { short }
}

/// `page` as SVG: its groups below each other, with titles where there are several, or other figures beside this one.
fn svg(page: &Page, others: bool) -> String {
    let mut draw = Drawing { body: String::new(), clips: 0 };
    let width = page.groups.iter().map(width).fold(WIDTH, f64::max);
    let mut y = 4.0;
    for group in &page.groups {
        let title = group.title.as_ref().filter(|_| others || page.groups.len() > 1);
        y = draw.group(page, group, title, width, y) + LINE;
    }
    let height = y - LINE + 4.0;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{:.1}mm\" height=\"{:.1}mm\" viewBox=\"0 0 {width:.1} {height:.1}\" \
         font-family=\"{FAMILIES}\" font-size=\"{LETTER}\" fill=\"none\" stroke-linejoin=\"round\">\n{}</svg>\n",
        width / 72.0 * 25.4,
        height / 72.0 * 25.4,
        draw.body
    )
}

/// That SVG as PDF, with its letters in it.
///
/// # Errors
/// In a line, why it cannot be.
pub fn pdf(svg: &str) -> Result<Vec<u8>, String> {
    static FONTS: OnceLock<Arc<usvg::fontdb::Database>> = OnceLock::new();
    let fonts = FONTS.get_or_init(|| {
        let mut fonts = usvg::fontdb::Database::new();
        fonts.load_font_data(FONT.to_vec());
        Arc::new(fonts)
    });
    let options = usvg::Options { dpi: 72.0, fontdb: fonts.clone(), ..Default::default() };
    let tree = usvg::Tree::from_str(svg, &options).map_err(|e| e.to_string())?;
    let page = svg2pdf::PageOptions { dpi: 72.0 };
    svg2pdf::to_pdf(&tree, svg2pdf::ConversionOptions::default(), page).map_err(|e| e.to_string())
}

/// How wide `group` is.
fn width(group: &Group) -> f64 {
    let heat = |heat: &Heat| names_width(&heat.rows) + LINE + CELL * heat.columns.len() as f64 + RIGHT;
    let heats = group.figures.iter().filter_map(|figure| figure.heat.as_ref()).map(heat).fold(0.0, f64::max);
    (columns(group) as f64 * (WIDTH + GAP) - GAP).max(heats)
}

/// How many of its panels lie beside each other.
fn columns(group: &Group) -> usize {
    let heat = group.figures.iter().any(|figure| figure.heat.is_some());
    if group.panels && group.figures.len() > 1 && !heat { 2 } else { 1 }
}

fn names_width(names: &[String]) -> f64 {
    names.iter().map(|name| text_width(name)).fold(0.0, f64::max) + 4.0
}

/// About how wide a text is: Helvetica's letters by kind.
fn text_width(text: &str) -> f64 {
    let of = |c: char| match c {
        'i' | 'j' | 'l' | 't' | 'f' | 'r' | ' ' | '.' | ',' | ':' | '(' | ')' | '/' | '\'' | '-' => 0.31,
        'm' | 'w' | 'M' | 'W' | '%' => 0.86,
        'A'..='Z' => 0.69,
        _ => 0.56,
    };
    LETTER * text.chars().map(of).sum::<f64>()
}

struct Drawing {
    body: String,
    clips: usize,
}

/// Where a curve's points lie.
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
}

impl Drawing {
    /// Draws `group` from `y` on; returns where it ends.
    fn group(&mut self, page: &Page, group: &Group, title: Option<&String>, width: f64, mut y: f64) -> f64 {
        if let Some(title) = title {
            self.text(0.0, y + LETTER, "start", title, "");
            y += LINE + 2.0;
        }
        y = self.legend(&group.legend, width, y);
        let columns = columns(group);
        let rows = group.figures.chunks(columns);
        for (i, row) in rows.enumerate() {
            let next = group.figures.get((i + 1) * columns);
            let named = group.panels || next.is_none_or(|next| next.across.is_some());
            let bottoms = row.iter().enumerate().map(|(k, figure)| {
                let left = k as f64 * (WIDTH + GAP);
                match &figure.heat {
                    Some(heat) => self.heat(figure, heat, y),
                    None => self.panel(page, figure, &group.legend, [left, y], named),
                }
            });
            y = bottoms.fold(y, f64::max) + 6.0;
        }
        y - 6.0
    }

    fn legend(&mut self, legend: &[Entry], width: f64, y: f64) -> f64 {
        if legend.len() < 2 {
            return y;
        }
        let (mut x, mut y) = (LEFT, y);
        for entry in legend {
            let wide = SAMPLE + 4.0 + text_width(&entry.name) + 10.0;
            if x > LEFT && x + wide > width {
                (x, y) = (LEFT, y + LINE);
            }
            let middle = y + LETTER / 2.0 + 0.5;
            if entry.band {
                let (colour, _) = look(entry.style);
                let _ = writeln!(
                    self.body,
                    "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{SAMPLE}\" height=\"{LETTER}\" fill=\"{colour}\" fill-opacity=\"0.25\"/>"
                );
            } else if entry.points {
                let (colour, _) = look(entry.style);
                let middle_of_sample = x + SAMPLE / 2.0;
                let _ = writeln!(
                    self.body,
                    "<circle cx=\"{middle_of_sample:.2}\" cy=\"{middle:.2}\" r=\"1.3\" fill=\"{colour}\"/>"
                );
            } else {
                self.line([x, middle], [x + SAMPLE, middle], &stroke(entry.style));
            }
            self.text(x + SAMPLE + 4.0, y + LETTER, "start", &entry.name, "");
            x += wide;
        }
        y + LINE + 2.0
    }

    /// Draws `figure` with its upper left corner at `at`; returns where it ends.
    fn panel(&mut self, page: &Page, figure: &Figure, legend: &[Entry], at: [f64; 2], named: bool) -> f64 {
        let [left, mut top] = at;
        if let Some(title) = &figure.title {
            self.text(left + LEFT, top + LETTER, "start", title, "");
            top += LINE;
        }
        let places: Vec<f64> = match &figure.across {
            Some(across) => across.values.0.clone(),
            None => (0..page.bins).map(|k| (k as f64 + 0.5) * page.step).collect(),
        };
        let x = match &figure.across {
            Some(_) if figure.linear => {
                Axis::linear(places.first().copied().unwrap_or(0.0), places.last().copied().unwrap_or(1.0))
            }
            Some(_) => Axis::over(&places),
            None => Axis::linear(0.0, page.bins as f64 * page.step),
        };
        let frame = Frame { left: left + LEFT, top: top + 3.0, width: WIDTH - LEFT - RIGHT, x, y: vertical(figure) };
        self.axes(&frame, &figure.axis, left);
        let [right, bottom] = [frame.left + frame.width, frame.top + HEIGHT];
        self.clips += 1;
        let clip = format!("clip-path=\"url(#c{})\"", self.clips);
        let _ = writeln!(
            self.body,
            "<clipPath id=\"c{}\"><rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{HEIGHT}\"/></clipPath>",
            self.clips, frame.left, frame.top, frame.width
        );
        if let Some((value, name)) = figure.level.as_ref().filter(|(value, _)| frame.y.has(*value)) {
            let y = frame.y(*value);
            self.line([frame.left, y], [right, y], "stroke=\"#777\" stroke-width=\"0.5\" stroke-dasharray=\"1 1.5\"");
            let beside = if y - LETTER < frame.top { y + LETTER } else { y - 2.0 };
            self.text(right - 2.0, beside, "end", name, "fill=\"#777\"");
        }
        if let Some(band) = &figure.band {
            let (colour, _) = look(legend[band.entry].style);
            for stretch in outline(&frame, &places, &band.low.0, &band.high.0) {
                let _ = writeln!(self.body, "<path d=\"{stretch}Z\" fill=\"{colour}\" fill-opacity=\"0.25\" {clip}/>");
            }
        }
        for (i, Line { entry, values, .. }) in figure.lines.iter().enumerate() {
            let alone = i + figure.points >= figure.lines.len();
            let style = entry.map_or(None, |entry| legend.get(entry).and_then(|entry| entry.style));
            if !alone {
                let path = curve(&frame, &places, &values.0);
                let _ = writeln!(self.body, "<path d=\"{path}\" {} {clip}/>", stroke(style));
            }
            // Where there are few places, these are what was measured.
            if alone || figure.across.is_some() && places.len() <= 12 {
                let (colour, _) = look(style);
                for (x, y) in places.iter().zip(&values.0).filter(|(_, y)| frame.y.has(**y)) {
                    let (x, y) = (frame.x(*x), frame.y(*y));
                    let _ = writeln!(self.body, "<circle cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"1.3\" fill=\"{colour}\"/>");
                }
            }
        }
        let Ticks { values, labels } = frame.x.ticks(6);
        for (value, label) in values.iter().zip(labels) {
            let x = frame.x(*value);
            self.line([x, bottom], [x, bottom + 2.5], "stroke=\"#000\" stroke-width=\"0.5\"");
            if named {
                self.text(x, bottom + 4.0 + LETTER, "middle", &label, "");
            }
        }
        if !named {
            return bottom + 3.0;
        }
        let name = figure.across.as_ref().map_or("Time (s)", |across| &across.axis);
        self.text(frame.left + frame.width / 2.0, bottom + 4.0 + LETTER + LINE, "middle", name, "");
        bottom + 4.0 + LETTER + LINE + 2.0
    }

    /// The frame, and the vertical axis with its `name`.
    fn axes(&mut self, frame: &Frame, name: &str, left: f64) {
        let right = frame.left + frame.width;
        let Ticks { values, labels } = frame.y.ticks(5);
        for (value, label) in values.iter().zip(labels) {
            let y = frame.y(*value);
            self.line([frame.left, y], [right, y], "stroke=\"#ddd\" stroke-width=\"0.4\"");
            self.line([frame.left - 2.5, y], [frame.left, y], "stroke=\"#000\" stroke-width=\"0.5\"");
            self.text(frame.left - 4.0, y + LETTER * 0.36, "end", &label, "");
        }
        let _ = writeln!(
            self.body,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{HEIGHT}\" stroke=\"#000\" stroke-width=\"0.5\"/>",
            frame.left, frame.top, frame.width
        );
        self.upright(left + LETTER, frame.top + HEIGHT / 2.0, name);
    }

    /// Draws a matrix from `top` on; returns where it ends.
    fn heat(&mut self, figure: &Figure, heat: &Heat, top: f64) -> f64 {
        self.text(0.0, top + LETTER, "start", &figure.axis, "");
        let (left, below) = (LINE + names_width(&heat.rows), names_width(&heat.columns));
        let top = top + LINE + 2.0;
        let bottom = top + CELL * heat.rows.len() as f64;
        for (i, (name, values)) in heat.rows.iter().zip(&heat.values).enumerate() {
            let y = top + CELL * i as f64;
            self.text(left - 3.0, y + CELL / 2.0 + LETTER * 0.36, "end", name, "");
            for (k, value) in values.0.iter().enumerate().filter(|(_, value)| value.is_finite()) {
                let x = left + CELL * k as f64;
                let place = heat.place(*value);
                let colour = between(place);
                let ink = if place < 0.5 { "#fff" } else { "#000" };
                let _ = writeln!(
                    self.body,
                    "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{CELL}\" height=\"{CELL}\" fill=\"{colour}\" stroke=\"#fff\" stroke-width=\"0.3\"/>"
                );
                let more = format!("fill=\"{ink}\" font-size=\"5\"");
                self.text(x + CELL / 2.0, y + CELL / 2.0 + 1.8, "middle", &Heat::number(*value), &more);
            }
        }
        for (k, name) in heat.columns.iter().enumerate() {
            let (x, y) = (left + CELL * (k as f64 + 0.5) + LETTER * 0.36, bottom + 3.0);
            let name = escape(name);
            let _ = writeln!(
                self.body,
                "<text transform=\"translate({x:.1} {y:.1}) rotate(-90)\" text-anchor=\"end\" fill=\"#000\">{name}</text>"
            );
        }
        self.upright(LETTER, (top + bottom) / 2.0, &heat.row);
        let width = CELL * heat.columns.len() as f64;
        self.text(left + width / 2.0, bottom + below + LETTER, "middle", &heat.column, "");
        bottom + below + LINE + 4.0
    }

    fn line(&mut self, from: [f64; 2], to: [f64; 2], stroke: &str) {
        let ([a, b], [c, d]) = (from, to);
        let _ = writeln!(self.body, "<path d=\"M{a:.2} {b:.2}L{c:.2} {d:.2}\" {stroke}/>");
    }

    fn text(&mut self, x: f64, y: f64, anchor: &str, text: &str, more: &str) {
        let text = raised(text);
        let fill = if more.contains("fill=") { "" } else { " fill=\"#000\"" };
        let _ =
            writeln!(self.body, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\"{fill} {more}>{text}</text>");
    }

    /// A text that is read from below.
    fn upright(&mut self, x: f64, y: f64, text: &str) {
        let text = escape(text);
        let _ = writeln!(
            self.body,
            "<text transform=\"translate({x:.1} {y:.1}) rotate(-90)\" text-anchor=\"middle\" fill=\"#000\">{text}</text>"
        );
    }
}

/// `text` for SVG, what follows its `^` as an exponent.
fn raised(text: &str) -> String {
    match text.split_once('^') {
        Some((base, power)) => format!("{}<tspan dy=\"-2.5\" font-size=\"5\">{}</tspan>", escape(base), escape(power)),
        None => escape(text),
    }
}

/// What the vertical axis of `figure` shows: as on the pages.
fn vertical(figure: &Figure) -> Axis {
    let band = figure.band.iter().flat_map(|band| [&band.low, &band.high]);
    let values = figure.lines.iter().map(|line| &line.values).chain(band).flat_map(|curve| &curve.0);
    let values: Vec<f64> = values.copied().filter(|x| x.is_finite() && (!figure.log || *x > 0.0)).collect();
    let (low, high) = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &x| (l.min(x), h.max(x)));
    let level = figure.level.as_ref().map_or(0.0, |level| level.0);
    let high = if level < 1.4 * high { high.max(level) } else { high };
    match figure.top {
        _ if figure.log && low <= high => Axis::logarithmic(low / 1.2, high * 1.2),
        Some(top) => Axis::linear(0.0, top),
        None if low > high => Axis::linear(0.0, 1.0),
        None if figure.from_zero => Axis::linear(low.min(0.0), if high > 0.0 { high * 1.04 } else { 1.0 }),
        None => {
            let margin = ((high - low) * 0.06).max(high.abs() * 0.005).max(1e-9);
            Axis::linear(low - margin, high + margin)
        }
    }
}

fn look(style: Option<usize>) -> (&'static str, &'static str) {
    style.map_or(("#444444", ""), |style| (COLOURS[style % COLOURS.len()], DASHES[style % DASHES.len()]))
}

fn stroke(style: Option<usize>) -> String {
    let (colour, dash) = look(style);
    let dash = if dash.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dash}\"") };
    format!("stroke=\"{colour}\" stroke-width=\"0.9\"{dash}")
}

/// The colour of a place from 0 to 1.
fn between(place: f64) -> String {
    let place = place.clamp(0.0, 1.0) * (CIVIDIS.len() - 1) as f64;
    let i = (place as usize).min(CIVIDIS.len() - 2);
    let [r, g, b] = [0, 1, 2].map(|k| CIVIDIS[i][k] + (CIVIDIS[i + 1][k] - CIVIDIS[i][k]) * (place - i as f64));
    format!("rgb({r:.0},{g:.0},{b:.0})")
}

/// The curve's path, interrupted where there is no value. Of points that fall on the same half point of paper, the lowest and the
/// highest are enough.
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

/// The outlines of what lies between two curves.
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
