//! What is drawn of an artefact.

use super::quantity::Quantity;
use crate::reproduce::measure::Measure;
use serde::Deserialize;

/// A figure of an artefact, drawn from runs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Figure {
    /// The scenario whose runs are drawn.
    pub scenario: String,
    /// Which of the report's figures over time: those whose vertical axes begin with one of these texts; all if none is
    /// given.
    #[serde(default)]
    pub axes: Vec<String>,
    /// A key that the scenario sweeps, as the horizontal axis in place of time; for panels also `scenario`, where the
    /// scenarios' names are values such as `40 ms`, or end with one after a comma.
    pub across: Option<String>,
    /// The title of that axis, with its unit in brackets; the key if not given.
    pub label: Option<String>,
    /// Two keys that the scenario sweeps. Each measure is drawn as a map with a row for each value of the first key and
    /// a column for each value of the second.
    pub map: Option<[String; 2]>,
    /// Of which flow, counted from 1.
    pub flow: Option<usize>,
    /// Which quantile of several values, 0 to 1; the median if not given.
    pub quantile: Option<f64>,
    /// Lengths of windows in seconds, as the horizontal axis in place of time. Each measure is drawn as its median over
    /// the windows of each length, with a band from the 10th to the 90th percentile.
    #[serde(default)]
    pub windows: Vec<f64>,
    /// Over which of the artefact's spans; the whole run if none is named.
    pub span: Option<String>,
    /// The measures that are drawn over `across` or `windows`, or as maps.
    #[serde(default)]
    pub measures: Vec<Measure>,
    /// Scenarios whose runs are drawn beside those of `scenario`.
    #[serde(default)]
    pub beside: Vec<String>,
    /// Length in seconds of the windows into which time is divided, which is then the horizontal axis of the panels.
    pub every: Option<f64>,
    /// Panels over `across` or over time, each with a line for each controller, or for each scenario if there are
    /// several.
    #[serde(default)]
    pub panels: Vec<Panel>,
    /// Only the flows from the first to the last of these, counted from 1, and no other traffic.
    pub flows: Option<[usize; 2]>,
    /// Whether the flows' windows are drawn with the phases of their controllers, a panel for each flow.
    #[serde(default)]
    pub phases: bool,
}

/// One panel of a figure.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Panel {
    /// The panel's title.
    pub title: String,
    /// The title of its vertical axis, with the unit in brackets.
    pub axis: String,
    /// What is measured of each run.
    #[serde(deserialize_with = "Quantity::deserialize_compared")]
    pub of: Quantity,
    /// Whether the vertical axis is logarithmic.
    #[serde(default)]
    pub log: bool,
    /// The upper end of the vertical axis.
    pub top: Option<f64>,
}

/// Curves over their argument, and what runs measure of them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Chart {
    /// The title of the horizontal axis, with its unit in brackets.
    pub across: String,
    /// Whether the horizontal axis is linear; else it is logarithmic.
    #[serde(default)]
    pub linear: bool,
    /// The title of the vertical axis.
    pub axis: String,
    /// Whether the vertical axis is logarithmic.
    #[serde(default)]
    pub log: bool,
    /// The ends of the horizontal axis. Both are positive if it is logarithmic or claims are of crossings.
    pub range: [f64; 2],
    /// The upper end of the vertical axis.
    pub top: Option<f64>,
    /// Which of the artefact's curves; all if none is named.
    #[serde(default)]
    pub curves: Vec<String>,
    /// Scenarios whose runs are drawn as points: the mean window over the loss event rate.
    #[serde(default)]
    pub points: Vec<String>,
}
