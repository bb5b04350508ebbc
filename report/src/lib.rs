//! Results as pages with figures, and figures for papers.
//!
//! What to draw is data, a [`Page`](figure::Page) of figures: `runs` decides which figures runs have, [`Drawn`] which
//! an artefact has, and [`logs`] which logs in the format qlog have. Renderers stand beside each other and know nothing
//! of that: [`html()`], [`gallery`] and [`logs_page`] write pages, on which `html/page.js` draws with uPlot (unmodified
//! in `vendor`), [`svg`] and [`pdf`] write files for papers.
//!
//! Claims are judged in `lab`; nothing here judges, and nothing there draws.

mod artefact;
pub mod figure;
mod html;
pub mod logs;
mod markup;
mod order;
pub mod pdf;
mod runs;
mod svg;

pub use artefact::Drawn;
pub use figure::Page;
pub use html::evaluation::html as evaluation;
pub use html::gallery;
pub use html::logs::html as logs_page;
pub use runs::page;
pub use svg::svg;

use experiment::Finished;
use lab::results::{self, Summary};
use std::fs;
use std::io;
use std::path::Path;

/// The report of `runs` as one file of HTML. It needs no network, and nothing beside it.
pub fn html(summary: &Summary, runs: &[Finished]) -> String {
    html::report::html(summary, runs, &page(runs))
}

/// Writes all results into the existing folder `dir`: the files of [`results::write`], and `report.html`.
///
/// # Errors
/// If a file cannot be written; what was written before it stays.
pub fn write(dir: &Path, title: &str, seed: u64, runs: &[Finished]) -> io::Result<()> {
    let summary = results::write(dir, title, seed, runs)?;
    fs::write(dir.join("report.html"), html(&summary, runs))
}

/// The figures of an artefact as SVG, each with the name of its file without the extension.
pub fn svgs(drawn: &Drawn) -> Vec<(String, String)> {
    let others = drawn.figures.len() > 1;
    drawn.figures.iter().enumerate().map(|(i, page)| (drawn.file_name(i), svg(page, others))).collect()
}
