//! What a paper says, or we beside it, and when it counts as confirmed.

use super::quantity::{Quantity, laid_over};
use super::scale::Scale;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A statement of a paper, or one of ours beside it, and how to judge it.
#[derive(Clone, Debug)]
pub struct Claim {
    /// The statement, shortened.
    pub says: String,
    /// The only scale at which the claim is judged; none if at both.
    pub scale: Option<Scale>,
    /// What is measured.
    pub quantity: Quantity,
    /// Which values confirm the claim.
    pub band: Band,
    /// The value that the paper gives, in the quantity's unit.
    pub paper: Option<f64>,
    /// Whether the paper does not print that value: it follows from the paper's words or equations for this setup.
    pub derived: bool,
    /// Who makes the statement, and whose the band is.
    pub source: Source,
    /// Why the claim misses, if that is known.
    pub because: Option<String>,
}

/// Who makes a statement, and whose its band is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// The paper, in its prose, a table or a figure; the band follows from its number.
    Paper,
    /// The paper, in words only; the band is ours.
    PaperOurBand,
    /// An RFC or a publication other than the five papers; the band follows from its number.
    Published,
    /// An RFC or a publication other than the five papers, in words only; the band is ours.
    PublishedOurBand,
    /// We do, and the band is ours, too.
    Ours,
}

/// Which values of a quantity confirm a claim.
#[derive(Clone, Debug)]
pub enum Band {
    /// Values from the first to the second, both included.
    Between(f64, f64),
    /// These quantities rise: the value of each is larger than the value of the one before.
    Rising(Vec<Quantity>),
}

/// The keys of a claim that are not those of its quantity.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Judgement {
    says: String,
    scale: Option<Scale>,
    paper: Option<f64>,
    #[serde(default)]
    derived: bool,
    #[serde(default)]
    ours: bool,
    #[serde(default)]
    beyond: bool,
    because: Option<String>,
    least: Option<f64>,
    most: Option<f64>,
    within: Option<f64>,
    #[serde(default)]
    rising: Vec<Map<String, Value>>,
}

/// The names of these keys.
const JUDGEMENT: [&str; 11] =
    ["says", "scale", "paper", "derived", "ours", "beyond", "because", "least", "most", "within", "rising"];

impl Claim {
    /// Reads a claim, which is the keys of its quantity and those of its judgement together.
    ///
    /// # Errors
    /// In a line, what is wrong with it.
    pub(super) fn read(mut written: Map<String, Value>) -> Result<Claim, String> {
        let judgement: Map<String, Value> =
            JUDGEMENT.iter().filter_map(|&key| Some((key.to_string(), written.shift_remove(key)?))).collect();
        let judgement: Judgement = serde_json::from_value(judgement.into()).map_err(|e| e.to_string())?;
        let quantity = Quantity::read(written.clone())?;
        let band = judgement.band(&written)?;
        let source = match (judgement.beyond, judgement.ours) {
            (true, _) => Source::Ours,
            (false, true) => Source::PaperOurBand,
            (false, false) => Source::Paper,
        };
        let Judgement { says, scale, paper, derived, because, .. } = judgement;
        Ok(Claim { says, scale, quantity, band, paper, derived, source, because })
    }
}

impl Judgement {
    /// The band of a claim whose quantity is `written`.
    fn band(&self, written: &Map<String, Value>) -> Result<Band, String> {
        match (self.least, self.most, self.within, self.paper) {
            (None, None, None, None) if !self.rising.is_empty() => {
                let all = self.rising.iter().map(|keys| Quantity::read(laid_over(written, keys)));
                Ok(Band::Rising(all.collect::<Result<_, _>>()?))
            }
            _ if !self.rising.is_empty() => Err("has rising, and another band or a figure of the paper".into()),
            (None, None, Some(share), Some(paper)) => Ok(Band::Between(paper * (1.0 - share), paper * (1.0 + share))),
            (None, None, None, _) | (_, _, Some(_), _) => Err("needs least, most, rising, or within and paper".into()),
            (Some(least), Some(most), None, _) if least > most => Err(format!("least is {least}, most {most}")),
            (least, most, None, _) => {
                Ok(Band::Between(least.unwrap_or(f64::NEG_INFINITY), most.unwrap_or(f64::INFINITY)))
            }
        }
    }
}
