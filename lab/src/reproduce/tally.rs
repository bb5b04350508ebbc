//! How many claims hold: the papers' claims, those of other publications and ours, apart.

use super::artefact::Source;
use super::judge::{Judged, Verdict};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Add;

/// Something of the papers' claims, the same of those of other publications, and of ours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Apart<T> {
    /// Of the claims that the papers make.
    pub papers: T,
    /// Of the claims that RFCs and other publications make.
    pub published: T,
    /// Of the claims that we make beside them.
    pub ours: T,
}

/// How many claims have which verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Tally {
    /// How many pass.
    pub pass: usize,
    /// How many miss.
    pub miss: usize,
    /// How many are not run.
    pub not_run: usize,
}

/// The claims of the papers among `claims`, those of other publications, and ours, each in their order.
pub fn apart<'c>(claims: impl IntoIterator<Item = &'c Judged>) -> Apart<Vec<&'c Judged>> {
    let mut apart = Apart::default();
    for claim in claims {
        let part: &mut Vec<_> = match claim.source {
            Source::Paper | Source::PaperOurBand => &mut apart.papers,
            Source::Published | Source::PublishedOurBand => &mut apart.published,
            Source::Ours => &mut apart.ours,
        };
        part.push(claim);
    }
    apart
}

/// The verdicts of all `claims`.
pub fn tally<'c>(claims: impl IntoIterator<Item = &'c Judged>) -> Apart<Tally> {
    let Apart { papers, published, ours } = apart(claims);
    Apart { papers: Tally::of(&papers), published: Tally::of(&published), ours: Tally::of(&ours) }
}

impl Tally {
    fn of(claims: &[&Judged]) -> Tally {
        let count = |verdict| claims.iter().filter(|claim| claim.verdict == verdict).count();
        Tally { pass: count(Verdict::Pass), miss: count(Verdict::Miss), not_run: count(Verdict::NotRun) }
    }

    /// How many claims there are.
    pub fn claims(&self) -> usize {
        self.pass + self.miss + self.not_run
    }

    /// The verdicts, and in brackets the share of the judged claims that pass.
    fn with_share(&self) -> String {
        match self.pass + self.miss {
            0 => self.to_string(),
            judged => format!("{self} ({:.0} %)", 100.0 * self.pass as f64 / judged as f64),
        }
    }
}

impl Add for Tally {
    type Output = Tally;
    fn add(self, other: Tally) -> Tally {
        Tally { pass: self.pass + other.pass, miss: self.miss + other.miss, not_run: self.not_run + other.not_run }
    }
}

/// Such as `3 PASS, 1 MISS, 2 not run`.
impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} PASS, {} MISS", self.pass, self.miss)?;
        if self.not_run > 0 { write!(f, ", {} not run", self.not_run) } else { Ok(()) }
    }
}

/// In short, such as `paper 3 PASS, 1 MISS; ours 2 PASS, 0 MISS`, without a part that has no claims.
impl fmt::Display for Apart<Tally> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [("paper", &self.papers), ("published", &self.published), ("ours", &self.ours)];
        let parts = parts.iter().filter(|(_, it)| it.claims() > 0);
        let parts: Vec<String> = parts.map(|(whose, it)| format!("{whose} {it}")).collect();
        f.write_str(&parts.join("; "))
    }
}

impl Apart<Tally> {
    /// In full, as a sentence about each part, without one that has no claims.
    pub fn sentences(&self) -> String {
        let sentence = |before: &str, it: &Tally, after: &str| match it.claims() {
            0 => None,
            claims => Some(format!("Of {before} {claims} {after} {}.", it.with_share())),
        };
        let sentences = [
            sentence("the papers'", &self.papers, "claims"),
            sentence("the", &self.published, "claims of RFCs and other publications"),
            sentence("our", &self.ours, "beside them"),
        ];
        sentences.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_in_three_parts() {
        let papers = Tally { pass: 3, miss: 1, not_run: 2 };
        let ours = Tally { pass: 2, miss: 0, not_run: 0 };
        let none = Tally::default();
        let published = Tally { pass: 0, miss: 1, not_run: 0 };
        let all = Apart { papers, published, ours };
        assert_eq!(all.to_string(), "paper 3 PASS, 1 MISS, 2 not run; published 0 PASS, 1 MISS; ours 2 PASS, 0 MISS");
        assert_eq!(Apart { ours, ..Apart::default() }.to_string(), "ours 2 PASS, 0 MISS");
        assert_eq!(
            all.sentences(),
            "Of the papers' 6 claims 3 PASS, 1 MISS, 2 not run (75 %). \
             Of the 1 claims of RFCs and other publications 0 PASS, 1 MISS (0 %). \
             Of our 2 beside them 2 PASS, 0 MISS (100 %)."
        );
        assert_eq!(Apart { papers: none, published: none, ours: none }.sentences(), "");
    }
}
