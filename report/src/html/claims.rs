//! Claims with their verdicts.

use crate::markup::escape;
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
            Verdict::Untold => "<span class=\"not-run\">not run</span>",
        };
        let because = because.map_or(String::new(), |why| format!("<br><em>{}</em>", escape(why)));
        html += &format!(
            "<tr><td>{verdict}</td><td>{}{because}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
            escape(&claim.says),
            claim.paper.map_or(String::new(), number),
            escape(&claim.wanted()),
            escape(&claim.measured)
        );
    }
    html + "</table>\n"
}

/// How many claims pass, miss and are not run: a badge for each number that is not zero.
pub fn tally(claims: &[Judged]) -> String {
    let badge = |class: &str, verdict| match claims.iter().filter(|claim| claim.verdict == verdict).count() {
        0 => String::new(),
        n => format!(" <span class=\"{class}\">{n}</span>"),
    };
    badge("pass", Verdict::Pass) + &badge("miss", Verdict::Miss) + &badge("not-run", Verdict::Untold)
}
