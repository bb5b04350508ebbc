//! An artefact, a table or figure of a paper, as data: what `catalogue/PAPER/NAME.toml` says.

mod claim;
mod figure;
mod quantity;
mod scale;
mod scenario;

pub use claim::{Band, Claim, Source};
pub use figure::{Chart, Figure, Panel};
pub use quantity::Quantity;
pub use scale::{Scale, Scales};
pub use scenario::Scenario;

use super::curve::Curve;
use quantity::laid_over;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A table or figure of a paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Artefact {
    /// `PAPER/NAME`, from the file's name.
    #[serde(skip)]
    pub id: String,
    /// A title of one line.
    pub title: String,
    /// What the paper shows, and what was decided where the paper is silent.
    pub about: String,
    /// How long its runs take on two cores, roughly, in seconds.
    pub seconds: Scales<f64>,
    /// What is run. Claims name a scenario by its name; the first is meant where a claim names none.
    #[serde(default, rename = "scenario")]
    pub scenarios: Vec<Scenario>,
    /// Intervals by the names that claims use, in seconds from the beginning of the run.
    #[serde(default, rename = "span")]
    pub spans: BTreeMap<String, Scales<[f64; 2]>>,
    /// The claims as the file has them; [`Artefact::read`] turns each into one or more of `claims`.
    #[serde(default, rename = "claim")]
    claims_as_written: Vec<Map<String, Value>>,
    /// The claims, in the file's order.
    #[serde(skip)]
    pub claims: Vec<Claim>,
    /// What is drawn from the runs.
    #[serde(default, rename = "figure")]
    pub figures: Vec<Figure>,
    /// Formulas that need no run.
    #[serde(default, rename = "curve")]
    pub curves: Vec<Curve>,
    /// What is drawn of the curves, after the figures.
    #[serde(default, rename = "chart")]
    pub charts: Vec<Chart>,
}

impl Artefact {
    /// Reads the artefact `id`.
    ///
    /// # Errors
    /// In a line, what is wrong with it.
    pub fn read(id: &str, text: &str) -> Result<Artefact, String> {
        let mut artefact: Artefact = toml::from_str(text).map_err(|e| e.to_string().trim().replace('\n', ", "))?;
        artefact.id = id.into();
        for written in &artefact.claims_as_written {
            let mut one = written.clone();
            let each = match one.shift_remove("each") {
                None => vec![Map::new()],
                Some(each) => serde_json::from_value(each).map_err(|e| format!("each: {e}"))?,
            };
            for variation in each {
                let mut claim = Claim::read(laid_over(&one, &variation))
                    .map_err(|why| format!("a claim, {}: {why}", one.get("says").unwrap_or(&Value::Null)))?;
                // What goes beyond the papers, and what others have published, are folders of their own.
                claim.source = match (id.split('/').next(), claim.source) {
                    (Some("beyond"), _) => Source::Ours,
                    (Some("today"), Source::Paper) => Source::Published,
                    (Some("today"), Source::PaperOurBand) => Source::PublishedOurBand,
                    (_, source) => source,
                };
                let named = variation.contains_key("run") && !variation.contains_key("says");
                if let Some(run) = claim.quantity.run.as_ref().filter(|_| named) {
                    claim.says = format!("{}: {run}", claim.says);
                }
                artefact.claims.push(claim);
            }
        }
        Ok(artefact)
    }

    /// A copy without titles, explanations and expected times: what decides on runs, verdicts and figures.
    pub(super) fn bare(&self) -> Artefact {
        let mut bare = self.clone();
        bare.seconds = Scales { quick: 0.0, full: 0.0 };
        bare.title.clear();
        bare.about.clear();
        bare.claims_as_written.clear();
        for claim in &mut bare.claims {
            claim.says.clear();
            claim.because = None;
        }
        bare
    }
}
