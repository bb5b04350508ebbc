//! Claims with their verdicts.

use crate::markup::{escape, with_code};
use lab::reproduce::judge::{Judged, Verdict};
use lab::reproduce::record;
use lab::reproduce::tally::{Apart, Tally, apart};

/// The claims of an artefact: a table of the paper's, one of other publications', and one of ours.
pub fn tables(claims: &[Judged]) -> String {
    let Apart { papers, published, ours } = apart(claims);
    let all = [("claim of the paper", papers), ("published claim", published), ("claim of ours", ours)];
    all.into_iter().filter(|(_, it)| !it.is_empty()).map(|(title, claims)| table(title, &claims)).collect()
}

/// A table of `claims`, whose column has the name `title`.
fn table(title: &str, claims: &[&Judged]) -> String {
    let mut html = format!(
        "<table class=\"setup claims\">\n<thead><tr><td></td><td>{title}</td><td>paper</td><td>wanted</td><td>measured</td></tr></thead>\n",
    );
    for (claim, because) in claims.iter().zip(record::reasons(claims)) {
        let verdict = match claim.verdict {
            Verdict::Pass => "<span class=\"pass\">PASS</span>",
            Verdict::Miss => "<span class=\"miss\">MISS</span>",
            Verdict::NotRun => "<span class=\"not-run\">not run</span>",
        };
        let because = because.map_or(String::new(), |why| format!("<br><em>{}</em>", with_code(why)));
        html += &format!(
            "<tr><td>{verdict}</td><td>{}{because}</td><td data-head=\"paper\">{}</td><td data-head=\"wanted\">{}</td>\
             <td data-head=\"measured\">{}</td></tr>\n",
            with_code(&claim.says),
            escape(&claim.paper_value()),
            escape(&claim.wanted()),
            escape(&claim.measured)
        );
    }
    html + "</table>\n"
}

/// How many claims pass, miss and are not run: a badge for each number that is not zero, those of our claims behind the
/// word.
pub fn badges(Apart { papers, published, ours }: &Apart<Tally>) -> String {
    let parts = [("", papers), ("", published), ("ours ", ours)].into_iter().filter(|(_, it)| it.claims() > 0);
    let part = |(whose, it): (&str, &Tally)| {
        let counts = [("pass", it.pass), ("miss", it.miss), ("not-run", it.not_run)];
        let counts = counts.into_iter().filter(|(_, n)| *n > 0);
        let badges: Vec<String> = counts.map(|(class, n)| format!("<span class=\"{class}\">{n}</span>")).collect();
        format!(" <span class=\"tally\">{whose}{}</span>", badges.join(" "))
    };
    parts.map(part).collect()
}
