//! The report of runs: tables, figures, and what was run.

use super::template::Document;
use super::{setup, table};
use crate::figure::Page;
use crate::markup::escape;
use experiment::Finished;
use lab::results::{Columns, Summary, table as tables};

/// Rows of the table of flows at most; with more, it is left out.
const MAX_FLOWS: usize = 32;
/// Rows of the table of traffic at most.
const MAX_TRAFFIC: usize = 64;
/// Rows of the table of video sessions at most.
const MAX_VIDEOS: usize = 64;
/// Rows of the table of completion times at most.
const MAX_BINS: usize = 128;

/// The report of `runs`, whose `summary` and figures are given.
pub fn html(summary: &Summary, runs: &[Finished], figures: &Page) -> String {
    let count = if runs.len() == 1 { "1 run".to_string() } else { format!("{} runs", runs.len()) };
    let about = [Some(count), setup::interval(runs), Some(format!("seed {}", summary.seed))];
    let about: Vec<String> = about.into_iter().flatten().collect();
    let mut body = table::html(&tables::runs(summary));
    body += "<noscript><p>The figures need JavaScript; the tables do not.</p></noscript>\n\
             <p class=\"hint\">Drag across a figure to zoom in, double-click to see all again. \
             Click a name to hide or show its lines.</p>\n<div id=\"plots\"></div>\n";
    for (heading, table) in further_tables(summary) {
        body += &format!("<h2>{heading}</h2>\n{}", table::html(&table));
    }
    body += &setup::html(runs);
    let document = Document {
        title: &summary.title,
        about: escape(&about.join(" · ")),
        class: "report",
        body,
        footer: "The numbers are in summary.json, all samples in flows.parquet and links.parquet, each transfer in \
                 transfers.parquet.",
        figures: vec![("plots".into(), figures)],
    };
    document.html()
}

/// The tables below the figures, each with its heading.
fn further_tables(summary: &Summary) -> Vec<(&'static str, Columns)> {
    let flows = match &summary.runs[..] {
        [run] if (2..=MAX_FLOWS).contains(&run.flows.len()) => Some(tables::flows(run)),
        _ => None,
    };
    let workloads = || summary.runs.iter().flat_map(|run| &run.traffic);
    let rows = workloads().count();
    let videos: usize = workloads().map(|workload| workload.videos.len()).sum();
    let bins: usize = workloads().map(|workload| workload.completion_by_size.len()).sum();
    let tables = [
        ("Real and simulated", tables::agreement(summary)),
        ("The emulator", tables::emulated(summary)),
        ("Flows", flows),
        ("Traffic", (1..=MAX_TRAFFIC).contains(&rows).then(|| tables::traffic(summary))),
        ("Video", (1..=MAX_VIDEOS).contains(&videos).then(|| tables::videos(summary))),
        ("Completion by size", (1..=MAX_BINS).contains(&bins).then(|| tables::completion(summary))),
    ];
    tables.into_iter().filter_map(|(heading, table)| Some((heading, table?))).collect()
}
