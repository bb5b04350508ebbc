//! Whether claims hold.

use super::artefact::{Artefact, Band, Claim, Quantity, Scale, Source};
use super::scenario_runs::ScenarioRuns;
use serde::{Deserialize, Serialize};

/// Whether runs confirm a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Verdict {
    /// The measured value is within the band.
    Pass,
    /// It is not, or could not be measured.
    Miss,
    /// The claim is judged at another scale only.
    #[serde(rename = "NOT RUN")]
    NotRun,
}

/// A claim, judged.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Judged {
    /// The statement, in short.
    pub says: String,
    /// Who makes the statement, and whose the band is.
    pub source: Source,
    /// The value that the paper gives.
    pub paper: Option<f64>,
    /// Whether the paper does not print that value: it follows from the paper's words or equations for this setup.
    pub derived: bool,
    /// The measured value as text, with its unit.
    pub measured: String,
    /// The measured values, unrounded: one, or several that shall rise; null for what never happened. Empty if the
    /// claim was not run, or could not be measured.
    pub values: Vec<Option<f64>>,
    /// Which values confirm the claim, as text.
    pub band: String,
    /// Whether the measured values are within the band.
    pub verdict: Verdict,
    /// Why the claim misses, if that is known.
    pub because: Option<String>,
}

/// Judges the claims of `artefact` by the runs `made`.
pub fn judge(artefact: &Artefact, scale: Scale, made: &[ScenarioRuns]) -> Vec<Judged> {
    let claims = artefact.claims.iter();
    claims
        .map(|claim| {
            let unit = claim.quantity.unit();
            let asked_for = claim.scale.is_none_or(|only| only == scale);
            let asked = match &claim.band {
                _ if !asked_for => &[],
                Band::Between(..) => std::slice::from_ref(&claim.quantity),
                Band::Rising(all) => &all[..],
            };
            let values: Result<Vec<f64>, String> = asked.iter().map(|it| it.value(artefact, scale, made)).collect();
            let known = values.as_ref().is_ok_and(|v| !v.iter().any(|x| x.is_nan()));
            let (band, holds) = match (&claim.band, values.as_deref().unwrap_or_default()) {
                (Band::Between(least, most), v) => {
                    (between(*least, *most), matches!(v, [x] if *least <= *x && x <= most))
                }
                (Band::Rising(all), v) => (names(all).join(" < "), v.len() > 1 && v.is_sorted_by(|a, b| a < b)),
            };
            let verdict = match (asked_for, holds) {
                (false, _) => Verdict::NotRun,
                (true, true) => Verdict::Pass,
                (true, false) => Verdict::Miss,
            };
            let measured = match &values {
                _ if !asked_for => format!("takes {} scale", Scale::Full),
                Ok(v) => {
                    let text = v.iter().map(|&x| number(x)).collect::<Vec<_>>().join(", ");
                    if matches!(v[..], [x] if !x.is_finite()) { text } else { text + &unit }
                }
                Err(why) => why.clone(),
            };
            let finite = |x: f64| x.is_finite().then_some(x);
            let mut judged = Judged {
                says: claim.says.clone(),
                source: claim.source,
                paper: claim.paper,
                derived: claim.derived,
                measured,
                values: values.into_iter().flatten().map(finite).filter(|_| known).collect(),
                band,
                verdict,
                because: None,
            };
            judged.because = judged.explanation(claim);
            judged
        })
        .collect()
}

impl Judged {
    /// Why it misses, if `claim`, which it judges, says so. A reason for a miss does not explain why nothing could be
    /// measured.
    pub(super) fn explanation(&self, claim: &Claim) -> Option<String> {
        claim.because.clone().filter(|_| self.verdict == Verdict::Miss && !self.values.is_empty())
    }

    /// Whether it misses and the catalogue gives no reason.
    pub fn unexplained(&self) -> bool {
        self.verdict == Verdict::Miss && self.because.is_none()
    }

    /// The band, and whose it is if the statement is the paper's and the band is not.
    pub fn wanted(&self) -> String {
        format!(
            "{}{}",
            self.band,
            if matches!(self.source, Source::PaperOurBand | Source::PublishedOurBand) { ", our band" } else { "" }
        )
    }

    /// The value that the paper gives, and whether it is derived; empty if there is none.
    pub fn paper_value(&self) -> String {
        let derived = if self.derived { ", derived" } else { "" };
        self.paper.map_or(String::new(), |value| format!("{}{derived}", number(value)))
    }
}

/// A name for each quantity that tells it from the others: one of its parts if that is enough, else all parts that
/// differ. A quantity that lacks these parts is called by its measure.
fn names(all: &[Quantity]) -> Vec<String> {
    let parts: Vec<_> = all.iter().map(Quantity::names).collect();
    let count = parts.first().map_or(0, Vec::len);
    let differing: Vec<usize> = (0..count).filter(|&i| parts.iter().any(|one| one[i] != parts[0][i])).collect();
    let enough =
        |&&i: &&usize| parts.iter().enumerate().all(|(k, one)| parts[..k].iter().all(|other| other[i] != one[i]));
    let chosen = differing.iter().find(enough).map_or(&differing[..], std::slice::from_ref);
    let name = |one: &Vec<String>| {
        let chosen = chosen.iter().map(|&i| one[i].as_str()).filter(|part| !part.is_empty());
        let name = chosen.collect::<Vec<_>>().join(", ");
        if name.is_empty() { one.last().cloned().unwrap_or_default() } else { name }
    };
    shortened(parts.iter().map(name).collect())
}

/// `names` without the beginning and the end that all have in common: `10 Gbps` for `rapid, path.rate = 10 Gbps`.
fn shortened(names: Vec<String>) -> Vec<String> {
    let Some((first, others)) = names.split_first() else { return names };
    let places = || first.char_indices().map(|(i, _)| i);
    let ends = |text: &str| text.ends_with(", ") || text.ends_with(" = ");
    let begin = places().rev().find(|&i| ends(&first[..i]) && others.iter().all(|it| it.starts_with(&first[..i])));
    let begin = begin.unwrap_or(0);
    let tail = |&i: &usize| {
        i > begin && first[i..].starts_with(", ") && others.iter().all(|it| it[begin..].ends_with(&first[i..]))
    };
    let end = places().find(tail).map_or(0, |i| first.len() - i);
    let short = names.iter().map(|it| it[begin..it.len() - end].to_string());
    let short: Vec<String> = short.collect();
    if short.iter().any(String::is_empty) { names } else { short }
}

fn between(least: f64, most: f64) -> String {
    match (least.is_finite(), most.is_finite()) {
        (true, true) if number(least) == number(most) => number(least),
        (true, true) => format!("{} to {}", number(least), number(most)),
        (true, false) => format!("at least {}", number(least)),
        _ => format!("at most {}", number(most)),
    }
}

/// `x` with four significant digits; `never` if it is infinite.
pub fn number(x: f64) -> String {
    if x.is_infinite() {
        return "never".into();
    }
    if x == 0.0 || x.is_nan() {
        return format!("{x}");
    }
    let decimals = (3 - libm::log10(x.abs()).floor() as i32).clamp(0, 9) as usize;
    let text = format!("{x:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

/// All quantities that a claim measures.
pub fn quantities(claim: &Claim) -> Vec<&Quantity> {
    let own = match &claim.band {
        Band::Between(..) => std::slice::from_ref(&claim.quantity),
        Band::Rising(all) => all,
    };
    fn measured(one: &Quantity) -> &[Quantity] {
        if one.members.is_empty() { std::slice::from_ref(one) } else { &one.members }
    }
    own.iter()
        .flat_map(|one| [Some(one), one.divisor.as_deref(), one.base.as_deref()])
        .flatten()
        .flat_map(measured)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_common_parts_of_names_are_left_out() {
        let short = |names: &[&str]| shortened(names.iter().map(ToString::to_string).collect()).join(" < ");
        assert_eq!(short(&["rapid, rapid.tau = 1 s", "rapid, rapid.tau = 25 ms"]), "1 s < 25 ms");
        assert_eq!(short(&["cubic, path.rate = 10 Gbps", "fast, path.rate = 10 Gbps"]), "cubic < fast");
        assert_eq!(short(&["aimd", "bic"]), "aimd < bic");
        assert_eq!(short(&["X_T = 0.3 Mbps", "X_T = 0.6 Mbps"]), "0.3 Mbps < 0.6 Mbps");
        assert_eq!(short(&["rcp", "rcp, gamma = 1"]), "rcp < rcp, gamma = 1");
        assert_eq!(short(&[]), "");
    }
}
