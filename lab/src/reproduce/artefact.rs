//! An artefact's data.

use super::curve::Curve;
use super::selector::Selector;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt;

/// How much of a paper's experiment is run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// The same physics, shorter and fewer: seconds.
    #[default]
    Quick,
    /// The paper's own durations and speeds.
    Full,
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Scale::Quick => "quick",
            Scale::Full => "full",
        })
    }
}

/// A value for each scale.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scales<T> {
    quick: T,
    full: T,
}

impl<T: Copy> Scales<T> {
    /// That of `scale`.
    pub fn at(&self, scale: Scale) -> T {
        match scale {
            Scale::Quick => self.quick,
            Scale::Full => self.full,
        }
    }
}

/// A table or figure of a paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Artefact {
    /// `PAPER/NAME`, from the file's name.
    #[serde(skip)]
    pub id: String,
    /// A line.
    pub title: String,
    /// What the paper shows, and what was decided where it is silent.
    pub about: String,
    /// About how long it takes on two cores, in seconds.
    pub seconds: Scales<f64>,
    /// What runs. A later claim names one by `scenario`; the first is meant otherwise.
    #[serde(default, rename = "scenario")]
    pub scenarios: Vec<Scenario>,
    /// Intervals that claims name, in seconds from the beginning of the run.
    #[serde(default, rename = "span")]
    pub spans: BTreeMap<String, Scales<[f64; 2]>>,
    /// As in the file; [`Artefact::claims`] reads them.
    #[serde(default, rename = "claim")]
    claims_as_written: Vec<Map<String, Value>>,
    /// The claims, one by one.
    #[serde(skip)]
    pub claims: Vec<Claim>,
    /// What is drawn.
    #[serde(default, rename = "figure")]
    pub figures: Vec<Figure>,
    /// Laws that need no run.
    #[serde(default, rename = "curve")]
    pub curves: Vec<Curve>,
    /// What is drawn of these, after the figures.
    #[serde(default, rename = "chart")]
    pub charts: Vec<Chart>,
}

/// Runs, by a scenario's file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Scenario {
    /// What claims and figures call it.
    pub name: String,
    /// In the paper's folder `scenarios`.
    pub file: String,
    /// Laid over the file, each like `path.rate=10 Gbps`.
    #[serde(default)]
    set: Vec<String>,
    /// After these, at quick scale.
    #[serde(default)]
    quick: Vec<String>,
    /// After these, at full scale.
    #[serde(default)]
    full: Vec<String>,
    /// The only scale at which it runs.
    pub scale: Option<Scale>,
}

impl Scenario {
    /// What is laid over the file.
    pub fn sets(&self, scale: Scale) -> impl Iterator<Item = &String> {
        self.set.iter().chain(match scale {
            Scale::Quick => &self.quick,
            Scale::Full => &self.full,
        })
    }
}

/// Something that a paper says, and how to tell whether it is so.
#[derive(Clone, Debug)]
pub struct Claim {
    /// The paper's words, shortened.
    pub says: String,
    /// The only scale at which it can be told.
    pub scale: Option<Scale>,
    /// What is measured.
    pub quantity: Quantity,
    /// What that shall be.
    pub band: Band,
    /// The paper's own figure.
    pub paper: Option<f64>,
    /// Whether the band is ours: the paper says it in words, or does not say it.
    pub ours: bool,
    /// Why it misses, where it is known to.
    pub because: Option<String>,
}

/// What a quantity shall be.
#[derive(Clone, Debug)]
pub enum Band {
    /// No less than the first, no more than the second.
    Between(f64, f64),
    /// That of each variation of it is larger than that of the one before.
    Rising(Vec<Quantity>),
}

/// What can be measured, and where.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Quantity {
    /// What.
    pub measure: super::measure::Measure,
    /// In which scenario; the artefact's first if none is named.
    pub scenario: Option<String>,
    /// In which run; the scenario's first if none is named.
    pub run: Option<Selector>,
    /// Of which flow, from 1.
    pub flow: Option<usize>,
    /// From which flow to which, from 1.
    pub flows: Option<[usize; 2]>,
    /// And of connections that come and go, what is sent forward.
    #[serde(default)]
    pub traffic: bool,
    /// Of transfers from the first size on and below the second, in bytes.
    pub sizes: Option<[f64; 2]>,
    /// Over which of the artefact's spans; the whole run if none is named.
    pub span: Option<String>,
    /// The level to reach, the number of a round trip, or where on a curve.
    pub level: Option<f64>,
    /// Over consecutive windows of so many seconds, in place of the whole span; of several lengths that fit, the least value.
    #[serde(default)]
    pub windows: Vec<f64>,
    /// Of several values, that which a share so large does not exceed; the median if not given.
    pub quantile: Option<f64>,
    /// Of which of the artefact's curves.
    pub curve: Option<String>,
    /// Where that crosses this other one.
    pub with: Option<String>,
    /// Divided by this variation of it.
    #[serde(default, rename = "relative-to")]
    relative_to: Option<Map<String, Value>>,
    /// The same, read.
    #[serde(skip)]
    pub divisor: Option<Box<Quantity>>,
    /// Less this variation of it.
    above: Option<Map<String, Value>>,
    /// The same, read.
    #[serde(skip)]
    pub base: Option<Box<Quantity>>,
}

/// A figure of an artefact.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Figure {
    /// Whose runs.
    pub scenario: String,
    /// What is drawn over time: vertical axes that begin like one of these; all that there are if none is named.
    #[serde(default)]
    pub axes: Vec<String>,
    /// A key that the scenario sweeps, as the horizontal axis in place of time.
    pub across: Option<String>,
    /// What that axis is called, with its unit in brackets; as the key if not given.
    pub label: Option<String>,
    /// Two keys that the scenario sweeps: a map of each measure, with a row for each value of the first and a column for each of
    /// the second.
    pub map: Option<[String; 2]>,
    /// Of which flow, from 1.
    pub flow: Option<usize>,
    /// Of several values, that which a share so large does not exceed; the median if not given.
    pub quantile: Option<f64>,
    /// Lengths of windows in seconds, as the horizontal axis in place of time: of each measure the median, and a band from its
    /// 10th to its 90th percentile.
    #[serde(default)]
    pub windows: Vec<f64>,
    /// Over which of the artefact's spans; the whole run if none is named.
    pub span: Option<String>,
    /// What is drawn over that key or those windows, or mapped.
    #[serde(default)]
    pub measures: Vec<super::measure::Measure>,
    /// Scenarios whose runs are drawn beside those of the first.
    #[serde(default)]
    pub beside: Vec<String>,
    /// Time in windows of so many seconds, as the horizontal axis.
    pub every: Option<f64>,
    /// What is drawn over that key or that time: a panel each, with a line for each controller, or each scenario if there are several.
    #[serde(default)]
    pub panels: Vec<Panel>,
    /// Only the flows from the first to the last of these, from 1, and no other traffic.
    pub flows: Option<[usize; 2]>,
    /// Whether windows are drawn with the phases that the flows are in, a panel per flow.
    #[serde(default)]
    pub phases: bool,
}

/// A part of a figure.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Panel {
    /// What is over it.
    pub title: String,
    /// What its vertical axis shows, with its unit in brackets.
    pub axis: String,
    /// That, of each run.
    pub of: Quantity,
    /// Where the vertical axis ends.
    pub top: Option<f64>,
}

/// Curves over their argument, and what runs measure of them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Chart {
    /// What the horizontal axis shows, with its unit in brackets.
    pub across: String,
    /// Whether that is linear; else it is logarithmic.
    #[serde(default)]
    pub linear: bool,
    /// What the vertical axis shows.
    pub axis: String,
    /// Whether that is logarithmic.
    #[serde(default)]
    pub log: bool,
    /// From where to where the curves go; positive.
    pub range: [f64; 2],
    /// Where the vertical axis ends.
    pub top: Option<f64>,
    /// Which of the artefact's curves; all if none is named.
    #[serde(default)]
    pub curves: Vec<String>,
    /// Scenarios whose runs are points: the mean window over the loss event rate.
    #[serde(default)]
    pub points: Vec<String>,
}

/// What a claim has beside its quantity.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Rest {
    says: String,
    scale: Option<Scale>,
    paper: Option<f64>,
    #[serde(default)]
    ours: bool,
    because: Option<String>,
    least: Option<f64>,
    most: Option<f64>,
    within: Option<f64>,
    #[serde(default)]
    rising: Vec<Map<String, Value>>,
}

const REST: [&str; 9] = ["says", "scale", "paper", "ours", "because", "least", "most", "within", "rising"];

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
                let mut claim = claim(laid_over(&one, &variation))
                    .map_err(|why| format!("a claim, {}: {why}", one.get("says").unwrap_or(&Value::Null)))?;
                let named = variation.contains_key("run") && !variation.contains_key("says");
                if let Some(run) = claim.quantity.run.as_ref().filter(|_| named) {
                    claim.says = format!("{}: {run}", claim.says);
                }
                artefact.claims.push(claim);
            }
        }
        Ok(artefact)
    }

    /// What decides on runs and verdicts, without titles, explanations and expected times.
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

fn laid_over(below: &Map<String, Value>, above: &Map<String, Value>) -> Map<String, Value> {
    let mut both = below.clone();
    both.extend(above.clone());
    both
}

fn claim(mut written: Map<String, Value>) -> Result<Claim, String> {
    let rest: Map<String, Value> =
        REST.iter().filter_map(|&key| Some((key.to_string(), written.shift_remove(key)?))).collect();
    let rest: Rest = serde_json::from_value(rest.into()).map_err(|e| e.to_string())?;
    let quantity = quantity(written.clone())?;
    let band = match (rest.least, rest.most, rest.within, rest.paper) {
        (None, None, None, None) if !rest.rising.is_empty() => Band::Rising(
            rest.rising.iter().map(|it| self::quantity(laid_over(&written, it))).collect::<Result<_, _>>()?,
        ),
        _ if !rest.rising.is_empty() => return Err("has rising, and another band or a figure of the paper".into()),
        (None, None, Some(share), Some(paper)) => Band::Between(paper * (1.0 - share), paper * (1.0 + share)),
        (None, None, None, _) | (_, _, Some(_), _) => {
            return Err("needs least, most, rising, or within and paper".into());
        }
        (Some(least), Some(most), None, _) if least > most => return Err(format!("least is {least}, most {most}")),
        (least, most, None, _) => Band::Between(least.unwrap_or(f64::NEG_INFINITY), most.unwrap_or(f64::INFINITY)),
    };
    let Rest { says, scale, paper, ours, because, .. } = rest;
    Ok(Claim { says, scale, quantity, band, paper, ours, because })
}

fn quantity(written: Map<String, Value>) -> Result<Quantity, String> {
    let mut quantity: Quantity = serde_json::from_value(written.clone().into()).map_err(|e| e.to_string())?;
    let mut below = written;
    below.shift_remove("relative-to");
    below.shift_remove("above");
    let other = |variation: Map<String, Value>| self::quantity(laid_over(&below, &variation)).map(Box::new);
    quantity.divisor = quantity.relative_to.take().map(other).transpose()?;
    quantity.base = quantity.above.take().map(other).transpose()?;
    Ok(quantity)
}
