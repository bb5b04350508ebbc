//! What came of an artefact, with its figures.

use crate::{charts, gallery};
use lab::reproduce::{Artefact, Record, Reproduced, Scale};
use serde::{Deserialize, Serialize};

/// What came of an artefact, with what its page draws. The same code and scale give the same bytes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Drawn {
    /// Its claims.
    pub record: Record,
    /// What the page draws, as JSON: one per figure.
    pub figures: Vec<String>,
}

impl Drawn {
    /// Draws the figures of `artefact` from the runs that were made of it.
    pub fn new(artefact: &Artefact, scale: Scale, reproduced: Reproduced) -> Drawn {
        let made = &reproduced.runs;
        let figures = gallery::figures(artefact, scale, made).into_iter().chain(charts(artefact, made)).collect();
        Drawn { record: reproduced.record, figures }
    }
}

impl AsRef<Record> for Drawn {
    fn as_ref(&self) -> &Record {
        &self.record
    }
}
