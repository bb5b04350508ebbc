//! One self-contained page with the summary and interactive plots of the time series.
//!
//! What to plot is decided here (`figures`), on a common grid of time (`grid`); `page.js` draws it with uPlot, which lies
//! unmodified in `vendor/`.

mod charts;
mod figures;
pub mod gallery;
mod grid;
mod heat;
mod panels;
pub mod paper;
mod scale;
mod setup;
mod traffic;

use crate::Finished;
use crate::results::{Summary, table};
pub use charts::charts;
use figures::Page;
pub(crate) use grid::quantile;

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
            format!("<h2>Flows</h2>\n{}", table::flows(run).to_html())
        }
        _ => String::new(),
    };
    let rows: usize = summary.runs.iter().map(|run| run.traffic.len()).sum();
    let traffic = match rows {
        1..=MANY_ROWS => format!("<h2>Traffic</h2>\n{}", table::traffic(summary).to_html()),
        _ => String::new(),
    };
    let bins = summary.runs.iter().flat_map(|run| &run.traffic).map(|traffic| traffic.completion_by_size.len());
    let completion = match bins.sum() {
        1..=MANY_BINS => format!("<h2>Completion by size</h2>\n{}", table::completion(summary).to_html()),
        _ => String::new(),
    };
    let emulated = table::emulated(summary).map(|table| format!("<h2>The emulator</h2>\n{}", table.to_html()));
    let agreement = table::agreement(summary).map(|table| format!("<h2>Real and simulated</h2>\n{}", table.to_html()));
    fill(
        include_str!("page.html"),
        &[
            ("title", &escape(&summary.title)),
            ("about", &escape(&about.join(" · "))),
            ("summary", &table::runs(summary).to_html()),
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
