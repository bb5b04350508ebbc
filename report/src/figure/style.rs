//! Colours and dashes of figures, for every renderer: curves differ by dash as well as by colour, so that they are told
//! apart in greyscale print.

use serde::Serialize;

/// Okabe and Ito's colours, which colour-blind readers can tell apart; their yellow, too light for a line, is left out.
pub const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"];
/// Lengths of dashes and gaps in turn, in pixels of a page; a solid line has none.
pub const DASHES: [&[f64]; 6] =
    [&[], &[9.0, 3.0], &[3.0, 2.0], &[9.0, 3.0, 2.0, 3.0], &[16.0, 3.0], &[6.0, 2.0, 2.0, 2.0, 2.0, 2.0]];
/// The colour of lines that stand for all flows or runs, and of ideals.
pub const NEUTRAL: &str = "#444444";
/// Red, green and blue of maps from the lowest value to the highest: five colours of Nuñez, Anderton and Renslow's
/// cividis (PLoS ONE 13(7), 2018); colours between them are interpolated.
pub const CIVIDIS: [[f64; 3]; 5] =
    [[0.0, 34.0, 78.0], [65.0, 77.0, 107.0], [124.0, 123.0, 120.0], [188.0, 175.0, 111.0], [254.0, 232.0, 56.0]];

/// The same for `page.js`.
#[derive(Serialize)]
pub struct Styles {
    colours: [&'static str; 7],
    dashes: [&'static [f64]; 6],
    neutral: &'static str,
    map: [[f64; 3]; 5],
}

/// All of the above.
pub const STYLES: Styles = Styles { colours: COLOURS, dashes: DASHES, neutral: NEUTRAL, map: CIVIDIS };

/// The colour and the dashes of a style (see [`Entry::style`](super::Entry::style)).
pub fn look(style: Option<usize>) -> (&'static str, &'static [f64]) {
    style.map_or((NEUTRAL, &[]), |style| (COLOURS[style % COLOURS.len()], DASHES[style % DASHES.len()]))
}
