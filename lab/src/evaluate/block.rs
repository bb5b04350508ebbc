//! A block of an evaluation, as data: what `blocks/NAME.toml` or a user's file says. docs/evaluate.md has the format.

use crate::reproduce::Scale;
use crate::reproduce::artefact::Scales;
use crate::reproduce::measure::{Compute, Measure, Scope};
use scenario::Set;
use serde::{Deserialize, Serialize};

/// Experiments that belong together, and the rows of the report that are read from them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Block {
    /// What `--blocks` and the report call it: the file's name.
    #[serde(skip)]
    pub id: String,
    /// A title of one line.
    pub title: String,
    /// Why the block is there, and what its cases are.
    pub about: String,
    /// Where the numbers of its scenarios are from.
    pub source: String,
    /// With how many seeds each scenario is run.
    #[serde(default = "seeds")]
    pub seeds: Scales<u32>,
    /// What is run.
    #[serde(rename = "case")]
    pub cases: Vec<Case>,
    /// What is compared, in the order of the report.
    #[serde(rename = "row")]
    pub rows: Vec<Row>,
}

/// A scenario of a block. Each combination of the values of its `[sweep]` is compared for itself.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Case {
    /// By which rows name it.
    pub name: String,
    /// The scenario. Its flows and traffic with the controller `subject` or `baseline` have that of this evaluation.
    pub scenario: String,
    /// Values that replace those of the scenario at full scale.
    #[serde(default)]
    full: Vec<String>,
}

/// A row of the report: what is compared between subject and baseline, and what difference matters.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Row {
    /// The section of RFC 9743 that asks for it.
    pub criterion: String,
    /// What is compared, in words.
    pub says: String,
    /// The cases from which it is read; all of the block if not given.
    #[serde(default)]
    cases: Vec<String>,
    /// What is measured.
    pub measure: Measure,
    /// Which direction is better.
    pub better: Better,
    /// The least difference that matters to a user: of the measure, or, of a row with a `floor`, as a share of the
    /// baseline's value.
    pub matters: f64,
    /// If given, values are compared by their ratio after this was added to both, which keeps the ratio of two values
    /// that are nearly zero near 1. In the measure's unit.
    pub floor: Option<f64>,
    /// The value that takes the place of larger ones, of infinity, and of values that do not exist.
    pub cap: Option<f64>,
    /// Beyond which value the controller is broken, unless the baseline is beyond it, too.
    pub broken: Option<Limit>,
    /// Whether it measures what others get beside the subject, so that a difference is harm.
    #[serde(default)]
    pub harm: bool,
    span: Option<[f64; 2]>,
    flows: Option<[usize; 2]>,
    #[serde(default)]
    traffic: bool,
    sizes: Option<[f64; 2]>,
    #[serde(default)]
    level: f64,
    window: Option<f64>,
    quantile: Option<f64>,
}

/// Which values of a measure are better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    /// The larger ones.
    More,
    /// The smaller ones.
    Less,
}

/// A limit of a measure.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Limit {
    /// Larger values are beyond it.
    Above(f64),
    /// Smaller values are beyond it.
    Below(f64),
}

impl Limit {
    /// Whether `value` is beyond the limit.
    pub fn is_passed_by(self, value: f64) -> bool {
        match self {
            Limit::Above(most) => value > most,
            Limit::Below(least) => value < least,
        }
    }
}

/// The seeds of a block that does not say how many. With 10, the interval of a row is 1.8 deviations of its sample to
/// either side, after the correction for some 50 rows; with 30 it is 0.9.
fn seeds() -> Scales<u32> {
    Scales { quick: 10, full: 30 }
}

impl Block {
    /// Reads the block `id` from the text of `file`.
    ///
    /// # Errors
    /// In a line, what is wrong with it.
    pub fn read(id: &str, file: &str, text: &str) -> Result<Block, String> {
        let mut block: Block = toml::from_str(text).map_err(|e| {
            let line = e.span().map_or(1, |span| 1 + text[..span.start].matches('\n').count());
            format!("{file}:{line}: {}", e.message().trim().replace('\n', ", "))
        })?;
        block.id = id.into();
        block.check().map_err(|why| format!("{file}: {why}"))?;
        Ok(block)
    }

    /// What the parser does not see.
    fn check(&self) -> Result<(), String> {
        if self.seeds.quick < 2 || self.seeds.full < 2 {
            return Err("seeds: an interval needs at least 2; write more".into());
        }
        if self.cases.is_empty() || self.rows.is_empty() {
            return Err("has no case or no row; write at least one [[case]] and one [[row]]".into());
        }
        for (i, case) in self.cases.iter().enumerate() {
            if self.cases[..i].iter().any(|other| other.name == case.name) {
                return Err(format!("there are two cases `{}`; rename one", case.name));
            }
            case.sets(Scale::Full)?;
        }
        self.rows.iter().try_for_each(|row| row.check(self).map_err(|why| format!("row \"{}\": {why}", row.says)))
    }
}

impl Case {
    /// Values that replace those of its scenario at `scale`.
    ///
    /// # Errors
    /// Which of them is none.
    pub fn sets(&self, scale: Scale) -> Result<Vec<Set>, String> {
        let all = if scale == Scale::Full { &self.full[..] } else { &[] };
        all.iter().map(|set| set.parse().map_err(|why| format!("case `{}`: full: {why}", self.name))).collect()
    }
}

impl Row {
    /// Whether the row is read from `case`.
    pub fn has(&self, case: &Case) -> bool {
        self.cases.is_empty() || self.cases.contains(&case.name)
    }

    /// What is measured of a run.
    pub fn scope(&self) -> Scope {
        let plain = Scope::default();
        Scope {
            span: self.span,
            flows: self.flows.map(|[first, last]| [first - 1, last - 1]),
            traffic: self.traffic,
            sizes: self.sizes.unwrap_or(plain.sizes),
            level: self.level,
            window: self.window,
            quantile: self.quantile.unwrap_or(plain.quantile),
        }
    }

    /// The last flow that it looks at, counted from 1; 0 if it looks at all there are.
    pub fn last_flow(&self) -> usize {
        self.flows.map_or(0, |[_, last]| last)
    }

    /// The end of its span in seconds; 0 if that is the run's.
    pub fn end(&self) -> f64 {
        self.span.map_or(0.0, |[_, end]| end)
    }

    fn check(&self, block: &Block) -> Result<(), String> {
        let positive = |x: f64| x.is_finite() && x > 0.0;
        let wrong = |key: &str, what: &str| Err(format!("{key}: {what}"));
        if let Some(case) = self.cases.iter().find(|name| !block.cases.iter().any(|case| case.name == **name)) {
            return wrong("cases", &format!("there is no case `{case}`; write the name of one"));
        }
        if !matches!(self.measure.compute, Compute::OfRun(_)) {
            return wrong("measure", "is none of a run; name another");
        }
        if !(self.matters.is_finite() && self.matters >= 0.0) {
            return wrong("matters", "write a number that is not negative");
        }
        if self.floor.is_some_and(|floor| !positive(floor)) {
            return wrong("floor", "write a number above 0");
        }
        if self.cap.is_some_and(|cap| !cap.is_finite()) {
            return wrong("cap", "write a finite number");
        }
        if self.span.is_some_and(|[from, to]| !(from.is_finite() && to.is_finite() && 0.0 <= from && from < to)) {
            return wrong("span", "write the beginning and the end in seconds, like [10, 30]");
        }
        if self.flows.is_some_and(|[first, last]| first < 1 || last < first) {
            return wrong("flows", "write the first and the last flow, counted from 1, like [1, 2]");
        }
        if self.sizes.is_some_and(|[least, most]| !(0.0 <= least && least < most)) {
            return wrong("sizes", "write the least size and the size above, in bytes, like [0, 100_000]");
        }
        // A window is at least a millisecond, so that a span has a number of them that can be counted through.
        if self.window.is_some_and(|window| !(window.is_finite() && window >= 1e-3)) {
            return wrong("window", "write a length in seconds, 0.001 or more");
        }
        if self.quantile.is_some_and(|q| !(0.0..=1.0).contains(&q)) {
            return wrong("quantile", "write a number from 0 to 1");
        }
        if !self.level.is_finite() {
            return wrong("level", "write a finite number");
        }
        Ok(())
    }
}
