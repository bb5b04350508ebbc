//! Claims with their verdicts.

use crate::markup::{escape, with_code};
use lab::reproduce::judge::{Judged, Verdict, number};
use lab::reproduce::record;

/// The claims of an artefact, as a table.
pub fn table(claims: &[Judged]) -> String {
    let mut html = String::from(
        "<table class=\"setup claims\">\n<thead><tr><td></td><td>claim</td><td>paper</td><td>wanted</td><td>measured</td></tr></thead>\n",
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
            claim.paper.map_or(String::new(), number),
            escape(&claim.wanted()),
            escape(&claim.measured)
        );
    }
    html + "</table>\n"
}

/// How many claims pass, miss and are not run: a badge for each number that is not zero.
pub fn tally(claims: &[Judged]) -> String {
    let badge = |(class, verdict)| match claims.iter().filter(|claim| claim.verdict == verdict).count() {
        0 => None,
        n => Some(format!("<span class=\"{class}\">{n}</span>")),
    };
    let verdicts = [("pass", Verdict::Pass), ("miss", Verdict::Miss), ("not-run", Verdict::NotRun)];
    let badges: Vec<String> = verdicts.into_iter().filter_map(badge).collect();
    format!(" <span class=\"tally\">{}</span>", badges.join(" "))
}
