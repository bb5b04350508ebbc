//! One self-contained page with the summary and interactive plots of the time series.
//!
//! What to plot is decided here (`figures`), on a common grid of time (`grid`); `page.js` draws it with uPlot, which lies
//! unmodified in `vendor/`.

mod charts;
mod drawn;
mod figures;
pub mod gallery;
mod grid;
mod heat;
mod panels;
pub mod paper;
mod scale;
mod setup;
mod table;
mod traffic;

pub use charts::charts;
pub use drawn::Drawn;
use experiment::Finished;
use figures::Page;
use lab::results::{self, Summary, table as tables};
use std::fs;
use std::io;
use std::path::Path;

/// More flows than this have no table.
const FEW_FLOWS: usize = 32;
/// More rows of traffic than this, neither.
const MANY_ROWS: usize = 64;

/// More rows of completion times, neither.
const MANY_BINS: usize = 128;

/// The page, as HTML. Needs no network, and nothing beside it.
pub fn html(summary: &Summary, runs: &[Finished]) -> String {
    let mut about = vec![match runs.len() {
        1 => "1 run".to_string(),
        n => format!("{n} runs"),
    }];
    about.extend(setup::interval(runs));
    about.push(format!("seed {}", summary.seed));
    let flows = match &summary.runs[..] {
        [run] if (2..=FEW_FLOWS).contains(&run.flows.len()) => {
            format!("<h2>Flows</h2>\n{}", table::html(&tables::flows(run)))
        }
        _ => String::new(),
    };
    let rows: usize = summary.runs.iter().map(|run| run.traffic.len()).sum();
    let traffic = match rows {
        1..=MANY_ROWS => format!("<h2>Traffic</h2>\n{}", table::html(&tables::traffic(summary))),
        _ => String::new(),
    };
    let bins = summary.runs.iter().flat_map(|run| &run.traffic).map(|traffic| traffic.completion_by_size.len());
    let completion = match bins.sum() {
        1..=MANY_BINS => format!("<h2>Completion by size</h2>\n{}", table::html(&tables::completion(summary))),
        _ => String::new(),
    };
    let emulated = tables::emulated(summary).map(|it| format!("<h2>The emulator</h2>\n{}", table::html(&it)));
    let agreement = tables::agreement(summary).map(|it| format!("<h2>Real and simulated</h2>\n{}", table::html(&it)));
    fill(
        include_str!("page.html"),
        &[
            ("title", &escape(&summary.title)),
            ("about", &escape(&about.join(" · "))),
            ("summary", &table::html(&tables::runs(summary))),
            ("flows", &(agreement.unwrap_or_default() + &emulated.unwrap_or_default() + &flows)),
            ("traffic", &(traffic + &completion)),
            ("setup", &setup::html(runs)),
            ("version", env!("CARGO_PKG_VERSION")),
            ("data", &embed(&Page::new(runs))),
            ("page_css", include_str!("page.css")),
            ("page_js", include_str!("page.js")),
            ("uplot_css", include_str!("vendor/uPlot.min.css")),
            ("uplot_js", include_str!("vendor/uPlot.iife.min.js")),
            ("uplot_license", &escape(include_str!("vendor/LICENSE"))),
        ],
    )
}

/// Writes all results into the existing folder `dir`: the files of [`results::write`], and `report.html`.
///
/// # Errors
/// If a file cannot be written; what was written before it stays.
pub fn write(dir: &Path, title: &str, seed: u64, runs: &[Finished]) -> io::Result<()> {
    let summary = results::write(dir, title, seed, runs)?;
    fs::write(dir.join("report.html"), html(&summary, runs))
}

/// Puts texts where the template says `{{name}}`, in one pass, so that what is put in is not searched.
fn fill(template: &str, texts: &[(&str, &str)]) -> String {
    let mut parts = template.split("{{");
    let mut page = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let (name, rest) = part.split_once("}}").unwrap_or((part, ""));
        page += texts.iter().find(|(known, _)| *known == name).map_or("", |(_, text)| text);
        page += rest;
    }
    page
}

/// `text` for HTML, inside or outside of attributes.
pub(crate) fn escape(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => html += "&amp;",
            '<' => html += "&lt;",
            '>' => html += "&gt;",
            '"' => html += "&quot;",
            '\'' => html += "&#39;",
            c => html.push(c),
        }
    }
    html
}

/// `data` as JSON that can stand in a script element: these characters occur in texts only, and nothing in it ends the
/// element or a line of JavaScript.
fn embed(data: &impl serde::Serialize) -> String {
    serde_json::to_string(data)
        .unwrap_or_default()
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_do_not_become_markup() {
        let text = "</script><img src=x onerror='alert(1)'>&\u{2028}\"";
        assert!(!escape(text).contains(['<', '>', '"', '\'']));
        let json = embed(&text);
        assert!(!json.contains(['<', '>', '&', '\u{2028}']));
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }

    #[test]
    fn what_is_filled_in_is_not_searched() {
        assert_eq!(fill("a {{x}} b {{y}} c", &[("x", "{{y}}"), ("y", "1")]), "a {{y}} b 1 c");
    }
}
