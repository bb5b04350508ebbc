//! Records as texts: for the terminal, and as Markdown.

use super::artefact::Scale;
use super::judge::{Verdict, number};
use super::paper::papers;
use super::record::{Record, claims, reasons, verdicts};
use std::fmt::Write;

/// The claims of a record for the terminal, one or two lines each.
pub fn text(record: &Record) -> String {
    let mut text = format!("{}: {} ({})\n", record.id, record.title, verdicts(&record.claims));
    for (claim, because) in record.claims.iter().zip(reasons(&record.claims)) {
        let paper = claim.paper.map_or(String::new(), |x| format!(", the paper {}", number(x)));
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
    let all = claims(records);
    let (which, among) = match records.len() {
        all if all == of => (" --all", String::new()),
        _ => ("", format!(" of {of}")),
    };
    let mut text = format!(
        "# Reproduced\n\nWhat `thalweg reproduce{which} --scale {scale}` says: {} claims in {}{among} artefacts, {}.\n",
        all.len(),
        records.len(),
        verdicts(&all)
    );
    if let Some(made) = made {
        let _ = writeln!(text, "{made}");
    }
    text += "What the words mean, and how to run it: [reproduce.md](reproduce.md).\n\n| paper | artefacts | claims | PASS | MISS | not run |\n|---|---|---|---|---|---|\n";
    for paper in papers(records) {
        let all = claims(paper.records);
        let count = |verdict| all.iter().filter(|claim| claim.verdict == verdict).count();
        let counts = [Verdict::Pass, Verdict::Miss, Verdict::NotRun].map(|verdict| count(verdict).to_string());
        let (artefacts, counts) = (paper.records.len(), counts.join(" | "));
        let _ = writeln!(text, "| {} | {artefacts} | {} | {counts} |", paper.name, all.len());
    }
    for paper in papers(records) {
        let _ = write!(text, "\n## {}\n\n{}\n", paper.name, paper.about);
        for record in paper.records {
            text += &section(record.as_ref());
        }
    }
    text
}

/// A section about one artefact.
fn section(record: &Record) -> String {
    let mut text = format!("\n### {}\n\n{}. {}\n\n", record.id, record.title, verdicts(&record.claims));
    text += "| | claim | paper | wanted | measured |\n|---|---|---|---|---|\n";
    for (claim, because) in record.claims.iter().zip(reasons(&record.claims)) {
        let because = because.map_or(String::new(), |why| format!(". *{why}*"));
        let cells = [
            &format!("{}{because}", claim.says),
            &claim.paper.map_or(String::new(), number),
            &claim.wanted(),
            &claim.measured,
        ];
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
