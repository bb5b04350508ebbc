//! What came of an artefact: its claims, judged.

use super::artefact::{Artefact, Scale};
use super::judge::Judged;
use super::tally::{Apart, Tally, tally};
use crate::code::CODE;
use serde::{Deserialize, Serialize};

/// What came of an artefact. The same code and scale give the same bytes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    /// `PAPER/NAME`.
    pub id: String,
    /// A title of one line.
    pub title: String,
    /// What the paper shows.
    pub about: String,
    /// The claims, in the artefact's order.
    pub claims: Vec<Judged>,
}

/// The contents of `claims.json`.
#[derive(Serialize, Deserialize)]
pub struct Claims {
    /// Which code made the runs and judged the claims: [`CODE`].
    pub code: String,
    /// How much was run.
    pub scale: Scale,
    /// How many claims have which verdict: the papers' claims, those of other
    /// publications, and ours, apart.
    pub totals: Apart<Tally>,
    /// The artefacts, in the catalogue's order.
    pub artefacts: Vec<Entry>,
}

/// An artefact in `claims.json`.
#[derive(Serialize, Deserialize)]
pub struct Entry {
    /// `PAPER/NAME`.
    pub id: String,
    /// A title of one line.
    pub title: String,
    /// The claims, in the artefact's order.
    pub claims: Vec<Judged>,
}

impl Claims {
    /// The contents for `records`.
    pub fn of<R: AsRef<Record>>(scale: Scale, records: &[R]) -> Claims {
        let entry = |it: &R| {
            let Record { id, title, claims, .. } = it.as_ref();
            Entry { id: id.clone(), title: title.clone(), claims: claims.clone() }
        };
        let totals = tally_of_records(records);
        Claims { code: CODE.into(), scale, totals, artefacts: records.iter().map(entry).collect() }
    }
}

impl AsRef<Record> for Record {
    fn as_ref(&self) -> &Record {
        self
    }
}

impl Record {
    /// The record with the present titles and reasons of its `artefact`, which may have changed since it was made.
    pub fn in_words_of(mut self, artefact: &Artefact) -> Record {
        self.title.clone_from(&artefact.title);
        self.about.clone_from(&artefact.about);
        for (judged, claim) in self.claims.iter_mut().zip(&artefact.claims) {
            judged.says.clone_from(&claim.says);
            judged.because = judged.explanation(claim);
        }
        self
    }
}

/// The verdicts of the claims of all `records`.
pub fn tally_of_records<R: AsRef<Record>>(records: &[R]) -> Apart<Tally> {
    tally(records.iter().flat_map(|it| &it.as_ref().claims))
}

/// Why each of `claims` misses. A reason that the last claim with a reason had, too, is `As above.`
pub fn reasons<'c>(claims: &[&'c Judged]) -> Vec<Option<&'c str>> {
    let mut last = None;
    claims
        .iter()
        .map(|claim| {
            let because = claim.because.as_deref()?;
            Some(if last.replace(because) == Some(because) { "As above." } else { because })
        })
        .collect()
}
