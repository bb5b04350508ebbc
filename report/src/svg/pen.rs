//! What figures are drawn with: lines, points and texts.

use crate::figure::style::look;
use crate::markup::escape;
use std::fmt::{Arguments, Write};

/// Height of letters.
pub const LETTER: f64 = 7.0;
/// Height of lines of text.
pub const LINE: f64 = 9.5;
/// Height of small letters: exponents, and numbers in squares.
pub const SMALL: f64 = 5.0;
/// From the baseline of a text to its middle, as a share of the height of letters.
pub const MIDDLE: f64 = 0.36;
/// Radius of a point.
const RADIUS: f64 = 1.3;
/// From the middle of a diamond to its corners, and from that of a range to the ends of its bars.
const CORNER: f64 = 2.5;
/// Fonts of the same metrics, so that a text takes the same space with any of them.
pub const FAMILIES: &str = "Liberation Sans, Helvetica, Arial, sans-serif";

/// An SVG in the making.
#[derive(Default)]
pub struct Pen {
    /// Its elements.
    pub body: String,
    /// How many clip paths it has.
    clips: usize,
}

impl Pen {
    /// Adds an element, such as `format_args!("<rect .../>")`.
    pub fn put(&mut self, element: Arguments) {
        let _ = writeln!(self.body, "{element}"); // a String takes everything
    }

    /// A straight line.
    pub fn line(&mut self, from: [f64; 2], to: [f64; 2], stroke: &str) {
        let ([a, b], [c, d]) = (from, to);
        self.put(format_args!("<path d=\"M{a:.2} {b:.2}L{c:.2} {d:.2}\" {stroke}/>"));
    }

    /// A point.
    pub fn point(&mut self, [x, y]: [f64; 2], colour: &str) {
        self.put(format_args!("<circle cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"{RADIUS}\" fill=\"{colour}\"/>"));
    }

    /// The marker of what a paper says: hollow, and over a line that it stands on.
    pub fn diamond(&mut self, [x, y]: [f64; 2], colour: &str) {
        let path = format!("M{x:.2} {:.2}l{CORNER} {CORNER}l-{CORNER} {CORNER}l-{CORNER} -{CORNER}Z", y - CORNER);
        self.put(format_args!("<path d=\"{path}\" fill=\"#fff\" stroke=\"{colour}\" stroke-width=\"0.8\"/>"));
    }

    /// A range of values at one place, with a bar at each end.
    pub fn range(&mut self, x: f64, [low, high]: [f64; 2], colour: &str) {
        let (left, width) = (x - CORNER, 2.0 * CORNER);
        let path = format!("M{left:.2} {low:.2}h{width}M{x:.2} {low:.2}V{high:.2}M{left:.2} {high:.2}h{width}");
        self.put(format_args!("<path d=\"{path}\" stroke=\"#fff\" stroke-width=\"2\"/>"));
        self.put(format_args!("<path d=\"{path}\" stroke=\"{colour}\" stroke-width=\"0.8\"/>"));
    }

    /// A text on the baseline `y`; what follows a `^` in it is an exponent. `more` are further attributes.
    pub fn text(&mut self, x: f64, y: f64, anchor: &str, text: &str, more: &str) {
        let text = raised(text);
        let fill = if more.contains("fill=") { "" } else { " fill=\"#000\"" };
        self.put(format_args!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\"{fill} {more}>{text}</text>"));
    }

    /// A text that is read from bottom to top.
    pub fn upright(&mut self, x: f64, y: f64, anchor: &str, text: &str) {
        let text = escape(text);
        self.put(format_args!(
            "<text transform=\"translate({x:.1} {y:.1}) rotate(-90)\" text-anchor=\"{anchor}\" fill=\"#000\">{text}</text>"
        ));
    }

    /// A rectangle to clip by; returns the attribute that does.
    pub fn clip(&mut self, [left, top]: [f64; 2], [width, height]: [f64; 2]) -> String {
        self.clips += 1;
        let id = self.clips;
        self.put(format_args!(
            "<clipPath id=\"c{id}\"><rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height}\"/></clipPath>"
        ));
        format!("clip-path=\"url(#c{id})\"")
    }
}

/// The attributes of a line of a style.
pub fn stroke(style: Option<usize>) -> String {
    let (colour, dashes) = look(style);
    // Half as long as on a page.
    let lengths: Vec<String> = dashes.iter().map(|length| (length / 2.0).to_string()).collect();
    let dash = if lengths.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{}\"", lengths.join(" ")) };
    format!("stroke=\"{colour}\" stroke-width=\"0.9\"{dash}")
}

/// About how wide a text is, by the widths of Helvetica's letters.
pub fn text_width(text: &str) -> f64 {
    let of = |c: char| match c {
        'i' | 'j' | 'l' | 't' | 'f' | 'r' | ' ' | '.' | ',' | ':' | '(' | ')' | '/' | '\'' | '-' => 0.31,
        'm' | 'w' | 'M' | 'W' | '%' => 0.86,
        'A'..='Z' => 0.69,
        _ => 0.56,
    };
    LETTER * text.chars().map(of).sum::<f64>()
}

/// `text` for SVG, what follows its `^` as an exponent.
fn raised(text: &str) -> String {
    match text.split_once('^') {
        Some((base, power)) => {
            format!("{}<tspan dy=\"-2.5\" font-size=\"{SMALL}\">{}</tspan>", escape(base), escape(power))
        }
        None => escape(text),
    }
}
