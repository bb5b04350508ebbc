//! The report of an evaluation: the table of criteria, and a section for each block.

use super::harm::harm;
use super::template::Document;
use super::verdict::badge;
use crate::markup::{escape, with_code};
use lab::evaluate::{
    Better, BlockResult, CaseResult, Evaluation, RowResult, Verdict, change, interval, title, unit, value,
};
use std::fmt::Write;

const FOOTER: &str = "The criteria are those of RFC 9743. docs/evaluate.md says how verdicts are found. The same \
     figures for programs are in the files .json and .parquet beside this page.";

/// The report of `evaluation` as one file of HTML. It needs no network, no script, and nothing beside it.
pub fn html(evaluation: &Evaluation) -> String {
    let Evaluation { subject, baseline, scale, sets, .. } = evaluation;
    let mut about = format!("{scale} scale · {}", evaluation.tally());
    if !sets.is_empty() {
        let _ = write!(about, " · with {}", sets.join(", "));
    }
    let mut body = criteria(evaluation);
    body += "<p class=\"hint\">An interval has the true difference, corrected for the number of rows. A row is \
             <b>like</b> the baseline if its interval has the difference of none, or if the difference is too small \
             to matter. Differences with a × are ratios.</p>\n";
    body += &harm(evaluation);
    for block in &evaluation.blocks {
        body += &section(evaluation, block);
    }
    let title = format!("{subject} beside {baseline}");
    Document { title: &title, about: escape(&about), class: "report", body, footer: FOOTER, figures: vec![] }.html()
}

/// All rows by section of the RFC.
fn criteria(evaluation: &Evaluation) -> String {
    let (subject, baseline) = (escape(&evaluation.subject), escape(&evaluation.baseline));
    let mut html = format!(
        "<table class=\"setup claims criteria\">\n<thead><tr><td></td><td>criterion</td><td>{subject}</td>\
         <td>{baseline}</td><td>difference</td><td>interval</td></tr></thead>\n<tbody>\n"
    );
    let mut before = "";
    for row in &evaluation.rows {
        if row.criterion != before {
            before = &row.criterion;
            let name = format!("{before} {}", title(before));
            let _ = writeln!(html, "<tr class=\"section\"><td colspan=\"6\">{}</td></tr>", escape(&name));
        }
        let place = escape(&row.block);
        let _ = writeln!(
            html,
            "<tr><td>{}</td><td><a href=\"#{place}\">{}</a></td><td data-head=\"{subject}\">{}</td>\
             <td data-head=\"{baseline}\">{}</td><td data-head=\"difference\">{}</td>\
             <td data-head=\"interval\">{}</td></tr>",
            badge(row.verdict),
            escape(&row.says) + &broken_in(row),
            with_unit(row, row.subject),
            with_unit(row, row.baseline),
            times(&change(row, row.difference)),
            interval(row),
        );
    }
    html + "</tbody>\n</table>\n"
}

/// In which case a row is broken: its means over all cases may not show it.
fn broken_in(row: &RowResult) -> String {
    let Some(case) = row.worst.filter(|_| row.verdict == Verdict::Broken).map(|worst| &row.cases[worst]) else {
        return String::new();
    };
    let mean = |values: &[f64]| plain(row, Some(values.iter().sum::<f64>() / values.len() as f64));
    let (subject, baseline) = (mean(&case.subject), mean(&case.baseline));
    format!("<br><em>{}: {}, the baseline {}</em>", escape(&case.name()), escape(&subject), escape(&baseline))
}

/// A block: what it is, how it is made alone, and its rows.
fn section(evaluation: &Evaluation, block: &BlockResult) -> String {
    let BlockResult { block: id, title, about, source, seeds } = block;
    let mut html = format!(
        "<section class=\"artefact\" id=\"{0}\">\n<h2>{1} <small>{0}</small></h2>\n<p class=\"said\">{2} \
         <em>({3}; {seeds} seeds.)</em></p>\n<p class=\"said\"><code>{4}</code></p>\n",
        escape(id),
        escape(title),
        with_code(&about.replace('\n', " ")),
        escape(source),
        escape(&evaluation.command(id)),
    );
    for row in evaluation.rows.iter().filter(|row| row.block == *id) {
        html += &strips(evaluation, row);
    }
    html + "</section>\n"
}

/// A row: what it says in a sentence, and the values of both controllers in each case.
fn strips(evaluation: &Evaluation, row: &RowResult) -> String {
    let Evaluation { subject, baseline, .. } = evaluation;
    let worst = row.worst.filter(|_| row.cases.len() > 1).map(|worst| row.cases[worst].name());
    let worst = worst.map_or(String::new(), |name| format!(" {subject} compares worst in {name}."));
    let better = match row.better {
        Better::More => "more",
        Better::Less => "less",
    };
    let said = format!(
        "{subject}: {}, {baseline}: {}; {better} is better.{worst}",
        plain(row, row.subject),
        plain(row, row.baseline)
    );
    let mut html = format!(
        "<h3>{} {}</h3>\n<p class=\"said\">{}</p>\n<table class=\"strips\">\n",
        badge(row.verdict),
        escape(&capital(&row.says)),
        escape(&said)
    );
    let Some(scale) = Scale::of(row) else { return html + "</table>\n" };
    for case in &row.cases {
        let _ = writeln!(
            html,
            "<tr><th>{}</th><td><span class=\"strip\">{}{}</span></td></tr>",
            escape(&case.name()),
            scale.mark(&case.baseline, "baseline", baseline),
            scale.mark(&case.subject, "subject", subject),
        );
    }
    let ends = [0.0, 0.5, 1.0].map(|share| format!("<span>{}</span>", value(Some(scale.at(share)))));
    let _ = writeln!(
        html,
        "<tr><th>{}</th><td><span class=\"ends\">{}</span></td></tr>\n</table>",
        key(subject, baseline) + &escape(&row.axis),
        ends.join("")
    );
    html
}

/// What the marks are.
fn key(subject: &str, baseline: &str) -> String {
    let one = |class: &str, name: &str| {
        format!("<span class=\"key strip\"><i class=\"dot {class}\" style=\"left:50%\"></i></span> {} ", escape(name))
    };
    one("subject", subject) + &one("baseline", baseline) + "<br>"
}

/// The horizontal axis of a row: linear, or logarithmic if the row compares ratios.
struct Scale {
    low: f64,
    high: f64,
    logarithmic: bool,
}

impl Scale {
    /// The axis on which all values of `row` are; none if there is none.
    fn of(row: &RowResult) -> Option<Scale> {
        let all = || row.cases.iter().flat_map(CaseResult::values).filter(|x| x.is_finite());
        let positive = all().filter(|x| *x > 0.0).fold(f64::INFINITY, f64::min);
        let logarithmic = row.by_ratio && positive.is_finite();
        let low = if logarithmic { positive } else { all().fold(0.0, f64::min) };
        let high = all().fold(f64::NEG_INFINITY, f64::max);
        high.is_finite().then_some(Scale { low, high: if high > low { high } else { low + 1.0 }, logarithmic })
    }

    /// Where `x` is, from 0 at the left end to 1. Zero is at the left end of a logarithmic axis.
    fn place(&self, x: f64) -> f64 {
        let place = match self.logarithmic {
            true => (x.max(self.low) / self.low).ln() / (self.high / self.low).ln(),
            false => (x - self.low) / (self.high - self.low),
        };
        place.clamp(0.0, 1.0)
    }

    /// The value at a place.
    fn at(&self, place: f64) -> f64 {
        match self.logarithmic {
            true => self.low * (self.high / self.low).powf(place),
            false => self.low + place * (self.high - self.low),
        }
    }

    /// The mean of `values`, and the range from the least to the largest.
    fn mark(&self, values: &[f64], class: &str, name: &str) -> String {
        let places: Vec<f64> = values.iter().filter(|x| x.is_finite()).map(|x| 100.0 * self.place(*x)).collect();
        if places.is_empty() {
            return String::new();
        }
        let mean = values.iter().filter(|x| x.is_finite()).sum::<f64>() / places.len() as f64;
        let low = places.iter().copied().fold(f64::INFINITY, f64::min);
        let high = places.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        format!(
            "<i class=\"range {class}\" style=\"left:{low:.1}%;width:{:.1}%\"></i><i class=\"dot {class}\" \
             style=\"left:{:.1}%\" title=\"{}: {}\"></i>",
            high - low,
            100.0 * self.place(mean),
            escape(name),
            value(Some(mean)),
        )
    }
}

/// The cell of a value, with its unit.
fn with_unit(row: &RowResult, x: Option<f64>) -> String {
    escape(&plain(row, x))
}

/// A value with its unit.
fn plain(row: &RowResult, x: Option<f64>) -> String {
    match unit(&row.axis) {
        "-" => value(x),
        unit => format!("{} {unit}", value(x)),
    }
}

/// A factor with a sign of multiplication.
fn times(change: &str) -> String {
    escape(&change.replace("x ", "× "))
}

/// `text` with a capital letter.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
