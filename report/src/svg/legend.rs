//! The legend above panels.

use super::panel::LEFT;
use super::pen::{LETTER, LINE, Pen, stroke, text_width};
use crate::figure::style::look;
use crate::figure::{Entry, Mark};

/// Length of the piece of a line that stands before a name.
const SAMPLE: f64 = 16.0;
/// Space between that and the name.
const NAME: f64 = 4.0;
/// Space between entries.
const GAP: f64 = 10.0;

/// Draws `legend` from `y` on, in as many lines as `width` needs; returns where it ends.
pub fn draw(pen: &mut Pen, legend: &[Entry], width: f64, y: f64) -> f64 {
    let (mut x, mut y) = (LEFT, y);
    for Entry { name, style, mark } in legend {
        let wide = SAMPLE + NAME + text_width(name) + GAP;
        if x > LEFT && x + wide > width {
            (x, y) = (LEFT, y + LINE);
        }
        let middle = y + LETTER / 2.0 + 0.5;
        let (colour, _) = look(*style);
        match mark {
            Mark::Line => pen.line([x, middle], [x + SAMPLE, middle], &stroke(*style)),
            Mark::Band => pen.put(format_args!(
                "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{SAMPLE}\" height=\"{LETTER}\" fill=\"{colour}\" fill-opacity=\"0.25\"/>"
            )),
            Mark::Points => pen.point([x + SAMPLE / 2.0, middle], colour),
            Mark::Stated => pen.diamond([x + SAMPLE / 2.0, middle], colour),
            Mark::Range => pen.range(x + SAMPLE / 2.0, [y + 0.5, y + LETTER + 0.5], colour),
        }
        pen.text(x + SAMPLE + NAME, y + LETTER, "start", name, "");
        x += wide;
    }
    y + LINE
}
