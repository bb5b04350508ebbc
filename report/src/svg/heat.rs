//! A map of coloured squares with a number in each.

use super::panel::RIGHT;
use super::pen::{LETTER, LINE, MIDDLE, Pen, SMALL, text_width};
use crate::figure::Heat;
use crate::figure::style::CIVIDIS;

/// Side of a square.
const SIDE: f64 = 14.5;

/// How wide the map is.
pub fn width(heat: &Heat) -> f64 {
    names_width(&heat.rows) + LINE + SIDE * heat.columns.len() as f64 + RIGHT
}

/// Draws a map from `top` on, below `title`; returns where it ends.
pub fn draw(pen: &mut Pen, title: &str, heat: &Heat, top: f64) -> f64 {
    pen.text(0.0, top + LETTER, "start", title, "");
    let (left, below) = (LINE + names_width(&heat.rows), names_width(&heat.columns));
    let top = top + LINE + 2.0;
    let bottom = top + SIDE * heat.rows.len() as f64;
    for (i, (name, values)) in heat.rows.iter().zip(&heat.values).enumerate() {
        let y = top + SIDE * i as f64;
        pen.text(left - 3.0, y + SIDE / 2.0 + LETTER * MIDDLE, "end", name, "");
        for (k, value) in values.0.iter().enumerate().filter(|(_, value)| value.is_finite()) {
            square(pen, [left + SIDE * k as f64, y], heat, *value);
        }
    }
    for (k, name) in heat.columns.iter().enumerate() {
        pen.upright(left + SIDE * (k as f64 + 0.5) + LETTER * MIDDLE, bottom + 3.0, "end", name);
    }
    pen.upright(LETTER, (top + bottom) / 2.0, "middle", &heat.row);
    let width = SIDE * heat.columns.len() as f64;
    pen.text(left + width / 2.0, bottom + below + LETTER, "middle", &heat.column, "");
    bottom + below + LINE + 4.0
}

fn square(pen: &mut Pen, [x, y]: [f64; 2], heat: &Heat, value: f64) {
    let place = heat.place(value);
    let colour = colour(place);
    pen.put(format_args!(
        "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{SIDE}\" height=\"{SIDE}\" fill=\"{colour}\" stroke=\"#fff\" stroke-width=\"0.3\"/>"
    ));
    let ink = if place < 0.5 { "#fff" } else { "#000" };
    let more = format!("fill=\"{ink}\" font-size=\"{SMALL}\"");
    pen.text(x + SIDE / 2.0, y + SIDE / 2.0 + SMALL * MIDDLE, "middle", &Heat::number(value), &more);
}

/// The colour of a place from 0 to 1.
fn colour(place: f64) -> String {
    let place = place.clamp(0.0, 1.0) * (CIVIDIS.len() - 1) as f64;
    let i = (place as usize).min(CIVIDIS.len() - 2);
    let [r, g, b] = [0, 1, 2].map(|k| CIVIDIS[i][k] + (CIVIDIS[i + 1][k] - CIVIDIS[i][k]) * (place - i as f64));
    format!("rgb({r:.0},{g:.0},{b:.0})")
}

/// The space that the longest of `names` takes.
fn names_width(names: &[String]) -> f64 {
    names.iter().map(|name| text_width(name)).fold(0.0, f64::max) + 4.0
}
