//! What a claim measures, and where.

use crate::reproduce::measure::Measure;
use crate::reproduce::selector::Selector;
use serde::Deserialize;
use serde_json::{Map, Value};

/// A measure, and where it is taken.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Quantity {
    /// What is measured.
    pub measure: Measure,
    /// In which scenario; the artefact's first if none is named.
    pub scenario: Option<String>,
    /// In which run; the scenario's first if none is named.
    pub run: Option<Selector>,
    /// Of which flow, counted from 1; of all flows together if neither this nor `flows` is given.
    pub flow: Option<usize>,
    /// From which flow to which, both included, counted from 1.
    pub flows: Option<[usize; 2]>,
    /// Whether what connections that come and go send forward counts, too.
    #[serde(default)]
    pub traffic: bool,
    /// Of transfers from the first size on and below the second, in bytes.
    pub sizes: Option<[f64; 2]>,
    /// Over which of the artefact's spans; the whole run if none is named.
    pub span: Option<String>,
    /// The argument of measures that have one: the level to reach, the number of a round trip, or a place on a curve.
    pub level: Option<f64>,
    /// Lengths of consecutive windows that are measured in place of the whole span, in seconds. Of several lengths that
    /// fit into the span, the one with the least value counts.
    #[serde(default)]
    pub windows: Vec<f64>,
    /// Which quantile of several values, 0 to 1; the median if not given.
    pub quantile: Option<f64>,
    /// Of which of the artefact's curves.
    pub curve: Option<String>,
    /// The other of two curves that cross.
    pub with: Option<String>,
    /// Keys of the quantity that this one is divided by, where they differ.
    #[serde(default, rename = "relative-to")]
    relative_to: Option<Map<String, Value>>,
    /// The quantity that this one is divided by.
    #[serde(skip)]
    pub divisor: Option<Box<Quantity>>,
    /// Keys of the quantity that is subtracted from this one, where they differ.
    above: Option<Map<String, Value>>,
    /// The quantity that is subtracted from this one.
    #[serde(skip)]
    pub base: Option<Box<Quantity>>,
    /// Keys of the quantities of whose values this one is the quantile, where they differ.
    #[serde(default)]
    among: Vec<Map<String, Value>>,
    /// These quantities.
    #[serde(skip)]
    pub members: Vec<Quantity>,
}

/// The keys of `below`, with those of `above` in their place.
pub(super) fn laid_over(below: &Map<String, Value>, above: &Map<String, Value>) -> Map<String, Value> {
    let mut both = below.clone();
    both.extend(above.clone());
    both
}

impl Quantity {
    /// Reads the quantity of a panel.
    ///
    /// # Errors
    /// As [`Quantity::read`].
    pub(super) fn deserialize_compared<'de, D: serde::Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Quantity, D::Error> {
        Quantity::read(Map::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }

    /// Reads a quantity.
    ///
    /// # Errors
    /// In a line, what is wrong with it.
    pub(super) fn read(written: Map<String, Value>) -> Result<Quantity, String> {
        let mut quantity: Quantity = serde_json::from_value(written.clone().into()).map_err(|e| e.to_string())?;
        let mut below = written;
        below.shift_remove("relative-to");
        below.shift_remove("above");
        let other = |keys: Map<String, Value>| Quantity::read(laid_over(&below, &keys)).map(Box::new);
        quantity.divisor = quantity.relative_to.take().map(other).transpose()?;
        quantity.base = quantity.above.take().map(other).transpose()?;
        let mut member = below.clone();
        member.shift_remove("among");
        member.shift_remove("quantile");
        let members = std::mem::take(&mut quantity.among).into_iter();
        quantity.members =
            members.map(|keys| Quantity::read(laid_over(&member, &keys))).collect::<Result<_, String>>()?;
        Ok(quantity)
    }

    /// Whether it is a value of one run as it is, neither compared with another nor one of several.
    pub fn is_absolute(&self) -> bool {
        self.divisor.is_none() && self.base.is_none() && self.members.is_empty()
    }

    /// Whether it is about one run: what it is compared with is taken in the same run.
    pub fn is_of_one_run(&self) -> bool {
        let same = |other: &Quantity| other.run == self.run && other.scenario == self.scenario && other.is_of_one_run();
        self.members.is_empty() && [&self.divisor, &self.base].into_iter().flatten().all(|other| same(other))
    }

    /// Whether it measures the same as `other` does, in whichever run and whenever.
    pub fn measures_as(&self, other: &Quantity) -> bool {
        let arguments = |it: &Quantity| (it.flow, it.flows, it.traffic, it.sizes, it.level);
        let alike = |one: &Option<Box<Quantity>>, other: &Option<Box<Quantity>>| match (one, other) {
            (None, None) => true,
            (Some(one), Some(other)) => one.measures_as(other),
            _ => false,
        };
        let compared = || alike(&self.divisor, &other.divisor) && alike(&self.base, &other.base);
        self.measure == other.measure && arguments(self) == arguments(other) && compared()
    }

    /// Its unit, after a space; empty if it has none.
    pub fn unit(&self) -> String {
        let axis = if self.divisor.is_none() { self.measure.axis() } else { "" };
        axis.split_once('(').map_or(String::new(), |(_, unit)| format!(" {}", unit.trim_end_matches(')')))
    }

    /// The names of its scenario, run, flows, span, curves, level and measure; empty where it names none.
    pub fn names(&self) -> Vec<String> {
        let flows = self.flows.map(|[first, last]| format!("flows {first} to {last}"));
        let flow = self.flow.map(|flow| format!("flow {flow}")).or(flows);
        let measure = self.measure.axis().split(" (").next().map(str::to_string);
        let level = self.level.map(|level| level.to_string());
        let several = match self.quantile {
            None => "median".to_string(),
            Some(share) => format!("quantile {share}"),
        };
        let several = (!self.members.is_empty()).then(|| format!("{several} of {}", self.members.len()));
        let run = several.or(self.run.as_ref().map(ToString::to_string));
        let named = [&self.scenario, &run, &flow, &self.span, &self.curve, &self.with, &level, &measure];
        named.map(|name| name.clone().unwrap_or_default()).to_vec()
    }
}
