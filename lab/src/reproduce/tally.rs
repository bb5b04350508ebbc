//! How many claims hold: the papers' claims and ours, apart.

use super::artefact::Source;
use super::judge::{Judged, Verdict};
use serde::{Deserialize, Serialize};
use std::fmt::{self, Write};

/// Something of the papers' claims, and the same of ours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Apart<T> {
    /// Of the claims that the papers make.
    pub papers: T,
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

/// The claims of the papers among `claims`, and ours, each in their order.
pub fn apart<'c>(claims: impl IntoIterator<Item = &'c Judged>) -> Apart<Vec<&'c Judged>> {
    let (ours, papers) = claims.into_iter().partition(|claim| claim.source == Source::Ours);
    Apart { papers, ours }
}

/// The verdicts of all `claims`.
pub fn tally<'c>(claims: impl IntoIterator<Item = &'c Judged>) -> Apart<Tally> {
    let Apart { papers, ours } = apart(claims);
    Apart { papers: Tally::of(&papers), ours: Tally::of(&ours) }
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
        let parts = [("paper", &self.papers), ("ours", &self.ours)].into_iter().filter(|(_, it)| it.claims() > 0);
        let parts: Vec<String> = parts.map(|(whose, it)| format!("{whose} {it}")).collect();
        f.write_str(&parts.join("; "))
    }
}

impl Apart<Tally> {
    /// In full, as a sentence about the one and a sentence about the other, without one that has no claims.
    pub fn sentences(&self) -> String {
        let mut text = String::new();
        if self.papers.claims() > 0 {
            let _ = write!(text, "Of the papers' {} claims {}.", self.papers.claims(), self.papers.with_share());
        }
        if self.ours.claims() > 0 {
            let between = if text.is_empty() { "" } else { " " };
            let _ = write!(text, "{between}Of our {} beside them {}.", self.ours.claims(), self.ours.with_share());
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_in_two_parts() {
        let papers = Tally { pass: 3, miss: 1, not_run: 2 };
        let ours = Tally { pass: 2, miss: 0, not_run: 0 };
        let none = Tally::default();
        let both = Apart { papers, ours };
        assert_eq!(both.to_string(), "paper 3 PASS, 1 MISS, 2 not run; ours 2 PASS, 0 MISS");
        assert_eq!(Apart { papers: none, ours }.to_string(), "ours 2 PASS, 0 MISS");
        assert_eq!(
            both.sentences(),
            "Of the papers' 6 claims 3 PASS, 1 MISS, 2 not run (75 %). Of our 2 beside them 2 PASS, 0 MISS (100 %)."
        );
        assert_eq!(Apart { papers: none, ours: none }.sentences(), "");
    }
}
