//! The page of logs.

use super::template::Document;
use super::{setup, table};
use crate::logs::{Log, page};
use crate::markup::escape;
use qlog::{Event, Happened};
use serde_json::{Map, Value};

/// Rows of the table of markers at most, the first ones.
const MOST_MARKERS: usize = 200;

/// The page of `logs` as one file of HTML. It needs no network, and nothing beside it.
pub fn html(logs: &[Log]) -> String {
    let figures = page(logs);
    let title = if let [log] = logs { log.name.clone() } else { format!("{} logs", logs.len()) };
    let mut body = table::html(&crate::logs::table(logs));
    body += "<noscript><p>The figures need JavaScript; the tables do not.</p></noscript>\n\
             <p class=\"hint\">Drag across a figure to zoom in, double-click to see all again. \
             Click a name to hide or show its lines.</p>\n<div id=\"plots\"></div>\n";
    body += &markers(logs);
    body += &scenarios(logs);
    let document = Document {
        title: &title,
        about: String::new(),
        class: "report",
        body,
        footer: "Where a log has no value, the one before holds.",
        figures: vec![("plots".into(), &figures)],
    };
    document.html()
}

/// The markers of all logs, each once.
fn markers(logs: &[Log]) -> String {
    let marker = |Event { time, happened }: &Event| match happened {
        Happened::Marker { kind, message } => Some((*time, kind.clone(), message.clone())),
        Happened::Ecn { new, .. } => Some((*time, "ecn_state_updated".into(), new.clone())),
        _ => None,
    };
    let mut all: Vec<(f64, String, String)> =
        logs.iter().flat_map(|log| log.trace.events.iter().filter_map(marker)).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| (&a.1, &a.2).cmp(&(&b.1, &b.2))));
    all.dedup();
    let row =
        |(time, kind, message): &(f64, String, String)| (format!("{:.3} s", time / 1e3), format!("{kind}: {message}"));
    rows("Markers", &all.iter().take(MOST_MARKERS).map(row).collect::<Vec<_>>())
}

/// The scenarios of all logs, each once.
fn scenarios(logs: &[Log]) -> String {
    let mut html = String::new();
    let mut before: Vec<&Map<String, Value>> = Vec::new();
    for event in logs.iter().flat_map(|log| &log.trace.events) {
        let Happened::Scenario { name, details } = &event.happened else { continue };
        if before.contains(&details) {
            continue;
        }
        before.push(details);
        let shown = |value: &Value| match value {
            Value::Array(values) => values.iter().map(setup::show).collect::<Vec<_>>().join("; "),
            value => setup::show(value),
        };
        let details: Vec<(String, String)> = details.iter().map(|(key, value)| (key.clone(), shown(value))).collect();
        html += &rows(&format!("Scenario: {name}"), &details);
    }
    html
}

fn rows(heading: &str, rows: &[(String, String)]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let row = |(name, text): &(String, String)| {
        format!("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", escape(name), escape(text))
    };
    let rows: String = rows.iter().map(row).collect();
    format!("<h2>{}</h2>\n<table class=\"setup\">\n{rows}</table>\n", escape(heading))
}
