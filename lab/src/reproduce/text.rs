//! Records as texts: for the terminal, and as Markdown.

use super::artefact::Scale;
use super::judge::{Judged, Verdict};
use super::paper::papers;
use super::record::{Record, reasons, tally_of_records};
use super::tally::{Apart, Tally, apart, tally};
use std::fmt::Write;

/// The claims of a record for the terminal, one or two lines each: those that are published, and below a heading ours.
pub fn text(record: &Record) -> String {
    let Apart { papers, published, ours } = apart(&record.claims);
    let heading = if ours.is_empty() { "" } else { "  Our claims:\n" };
    let tally = tally(&record.claims);
    let papers = [papers, published].concat();
    format!("{}: {} ({tally})\n{}{heading}{}", record.id, record.title, lines(&papers), lines(&ours))
}

/// `claims` for the terminal.
fn lines(claims: &[&Judged]) -> String {
    let mut text = String::new();
    for (claim, because) in claims.iter().zip(reasons(claims)) {
        let paper = claim.paper.map_or(String::new(), |_| format!(", the paper {}", claim.paper_value()));
        let verdict = mark(claim.verdict);
        let _ = writeln!(text, "  {verdict}  {}: {} (wanted {}{paper})", claim.says, claim.measured, claim.wanted());
        if let Some(because) = because {
            let _ = writeln!(text, "        {because}");
        }
    }
    text
}

/// All claims as a page of Markdown. `of` is the number of artefacts in the catalogue; `made` says when and from which
/// code the records were made, if the page is to say that.
pub fn markdown<R: AsRef<Record>>(scale: Scale, records: &[R], of: usize, made: Option<&str>) -> String {
    let total = tally_of_records(records);
    let (which, among) = match records.len() {
        all if all == of => (" --all", String::new()),
        _ => ("", format!(" of {of}")),
    };
    let mut text = format!(
        "# Reproduced\n\nWhat `thalweg reproduce{which} --scale {scale}` says: {} claims in {}{among} artefacts, those of the \
         papers apart from ours.\n{}\n",
        total.papers.claims() + total.published.claims() + total.ours.claims(),
        records.len(),
        total.sentences()
    );
    if let Some(made) = made {
        let _ = writeln!(text, "{made}");
    }
    text += "What the words mean, and how to run it: [reproduce.md](reproduce.md).\n\n\
             | | artefacts | published claims | PASS | MISS | not run | our claims | PASS | MISS | not run |\n\
             |---|---|---|---|---|---|---|---|---|---|\n";
    for paper in papers(records) {
        text += &row(paper.name, paper.records.len(), &tally_of_records(paper.records));
    }
    text += &misses(records);
    for paper in papers(records) {
        let _ = write!(text, "\n## {}\n\n{}\n", paper.name, paper.about);
        for record in paper.records {
            text += &section(record.as_ref());
        }
    }
    text
}

/// The papers' claims that miss, a row for those of an artefact that have a reason in common.
fn misses<R: AsRef<Record>>(records: &[R]) -> String {
    let mut rows = String::new();
    for record in records.iter().map(AsRef::as_ref) {
        let mut groups: Vec<(Option<&str>, Vec<String>)> = Vec::new();
        for claim in apart(&record.claims).papers.into_iter().filter(|claim| claim.verdict == Verdict::Miss) {
            let is = format!("{}: {} (wanted {})", claim.says, claim.measured, claim.wanted());
            let because = claim.because.as_deref();
            match groups.iter_mut().find(|(reason, _)| *reason == because) {
                Some((_, claims)) => claims.push(is),
                None => groups.push((because, vec![is])),
            }
        }
        for (because, claims) in groups {
            let cells = [claims.join("; "), because.unwrap_or_default().into()].map(|cell| cell.replace('|', "\\|"));
            let _ = writeln!(rows, "| {} | {} | {} |", record.id, claims.len(), cells.join(" | "));
        }
    }
    if rows.is_empty() {
        return rows;
    }
    format!(
        "\n## What misses of the papers' claims\n\n\
         | artefact | claims | which, and what was measured | why, what was tried, and what each try gave |\n\
         |---|---|---|---|\n{rows}"
    )
}

/// A row of the table of papers. The totals are above it, in sentences.
fn row(name: &str, artefacts: usize, Apart { papers, published, ours }: &Apart<Tally>) -> String {
    let of = |it: &Tally| format!("{} | {} | {} | {}", it.claims(), it.pass, it.miss, it.not_run);
    format!("| {name} | {artefacts} | {} | {} |\n", of(&(*papers + *published)), of(ours))
}

/// A section about one artefact: a table of the claims that are published, and one of ours.
fn section(record: &Record) -> String {
    let Apart { papers, published, ours } = apart(&record.claims);
    let mut text = format!("\n### {}\n\n{}: {}\n", record.id, record.title, tally(&record.claims));
    let tables = [("claim of the paper", papers), ("published claim", published), ("claim of ours", ours)];
    for (title, claims) in tables.iter().filter(|(_, claims)| !claims.is_empty()) {
        text += &table(title, claims);
    }
    text
}

/// A table of `claims`, whose column has the name `title`.
fn table(title: &str, claims: &[&Judged]) -> String {
    let mut text = format!("\n| | {title} | paper | wanted | measured |\n|---|---|---|---|---|\n");
    for (claim, because) in claims.iter().zip(reasons(claims)) {
        let because = because.map_or(String::new(), |why| format!(". *{why}*"));
        let cells = [&format!("{}{because}", claim.says), &claim.paper_value(), &claim.wanted(), &claim.measured];
        let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
        let _ = writeln!(text, "| {} | {} |", mark(claim.verdict).trim(), cells.join(" | "));
    }
    text
}

/// A verdict in four characters.
pub fn mark(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "PASS",
        Verdict::Miss => "MISS",
        Verdict::NotRun => "  - ",
    }
}
