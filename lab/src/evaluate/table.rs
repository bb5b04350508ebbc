//! Evaluations for the terminal and for documentation.

use super::judge::{Evaluation, RowResult, Verdict};
use crate::results::{Columns, DASH};
use experiment::mean;
use std::fmt::Write;

/// The widest table, in characters.
const WIDTH: u16 = 140;

/// What was compared, then a line for each row in the order of RFC 9743, and in a last line how many there are of each
/// verdict.
pub fn table(evaluation: &Evaluation) -> String {
    let Evaluation { subject, baseline, scale, rows, .. } = evaluation;
    let mut text = format!("{subject} beside {baseline}, {scale} scale\n\n");
    let heads = [
        "section and block of the report: what is compared",
        "",
        "subject",
        "baseline",
        "difference",
        "interval",
        "verdict",
    ];
    let mut table = Columns::new(&heads);
    for row in rows {
        table.row([
            format!("{} {}: {}", row.criterion, row.block, row.says),
            unit(&row.axis).into(),
            value(row.subject),
            value(row.baseline),
            change(row, row.difference),
            interval(row),
            row.verdict.name().into(),
        ]);
    }
    text += &table.to_text_within(WIDTH);
    let _ = writeln!(text, "\n{}", evaluation.tally());
    for row in rows.iter().filter(|row| matches!(row.verdict, Verdict::Worse | Verdict::Broken)) {
        if let Some(case) = row.worst.map(|worst| &row.cases[worst]) {
            let [subject, baseline] = [&case.subject, &case.baseline].map(|all| value(Some(mean(all))));
            let (block, verdict, says) = (&row.block, row.verdict.name(), &row.says);
            let name = case.name();
            let _ = writeln!(text, "{block} {verdict}: {says}; most in {name}: {subject}, the baseline {baseline}");
        }
    }
    text
}

/// The verdicts of several evaluations of the same rows as a table in Markdown: a row for each row of the reports, and
/// a column for each controller.
pub fn markdown(evaluations: &[Evaluation]) -> String {
    let Some(first) = evaluations.first() else { return String::new() };
    let subjects = || evaluations.iter().map(|one| one.subject.as_str());
    let mut text = format!("| RFC 9743 | what is compared | {} |\n", subjects().collect::<Vec<_>>().join(" | "));
    let _ = writeln!(text, "|---|---|{}", "---|".repeat(evaluations.len()));
    for (i, row) in first.rows.iter().enumerate() {
        let cell = |one: &Evaluation| match &one.rows[i] {
            row if row.verdict == Verdict::Like => "like".to_string(),
            row => format!("**{}** {}", row.verdict.name(), change(row, row.difference)),
        };
        let cells: Vec<String> = evaluations.iter().map(cell).collect();
        let unit = if row.by_ratio { DASH } else { unit(&row.axis) };
        let unit = if unit == DASH { String::new() } else { format!(", {unit}") };
        let _ = writeln!(text, "| {} | {}{unit} | {} |", row.criterion, row.says, cells.join(" | "));
    }
    let tallies: Vec<String> = evaluations.iter().map(Evaluation::tally).collect();
    let _ = writeln!(text, "| | all rows | {} |", tallies.join(" | "));
    text
}

/// The unit of an axis, which its title has in brackets at its end.
pub fn unit(axis: &str) -> &str {
    axis.rsplit_once('(').map_or(DASH, |(_, unit)| unit.trim_end_matches(')'))
}

/// `x` with three digits that say something.
fn digits(x: f64) -> String {
    let decimals = if x == 0.0 { 0 } else { (2 - x.abs().log10().floor() as i32).clamp(0, 4) };
    format!("{x:.*}", decimals as usize)
}

/// The cell of a value.
pub fn value(x: Option<f64>) -> String {
    x.map_or(DASH.into(), digits)
}

/// The cell of a difference of `row`, or of an end of its interval: with a sign, or as a factor.
pub fn change(row: &RowResult, x: Option<f64>) -> String {
    match x {
        None => DASH.into(),
        Some(x) if row.by_ratio => format!("x {}", digits(x)),
        Some(x) if x > 0.0 => format!("+{}", digits(x)),
        Some(x) => digits(x),
    }
}

/// The cell of the interval of `row`.
pub fn interval(row: &RowResult) -> String {
    row.interval.map_or(DASH.into(), |ends| ends.map(|end| change(row, Some(end)).replace("x ", "")).join(" to "))
}
