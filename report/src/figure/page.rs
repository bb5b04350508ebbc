//! Pages, groups and figures.

use super::{Curve, Heat, Stated};
use serde::{Deserialize, Serialize};

/// All figures of a report, or one figure of an artefact.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Page {
    /// Length of a bin of time, in seconds; the first bin begins at zero.
    pub step: f64,
    /// Number of bins of every curve over time.
    pub bins: usize,
    /// One below the other.
    pub groups: Vec<Group>,
}

/// Figures that share a legend.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Group {
    /// Heading, if it needs one.
    pub title: Option<String>,
    /// What is shown and hidden by name, in all figures of the group.
    pub legend: Vec<Entry>,
    /// Whether the figures stand side by side as panels, each with a labelled horizontal axis; otherwise they stand one
    /// below the other, and those over time share the label of the last.
    pub panels: bool,
    /// The figures, in order.
    pub figures: Vec<Figure>,
}

/// A name in the legend, and how its lines are told from others.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Entry {
    /// As shown.
    pub name: String,
    /// Index of its colour and of its dash, each counted around the list in [`style`](super::style); none: neutral.
    pub style: Option<usize>,
    /// How its values are drawn.
    pub mark: Mark,
}

/// How the values of a legend entry are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// As a line through all values.
    Line,
    /// As the area between two curves.
    Band,
    /// As a point for each value.
    Points,
    /// As the mark of a value that the paper gives.
    Stated,
    /// As the mark of a range that the paper gives.
    Range,
}

/// Lines over one horizontal axis, or a map.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Figure {
    /// Caption, if it needs one.
    pub title: Option<String>,
    /// What the vertical axis (or the colour of a map) shows, with the unit in brackets.
    pub axis: String,
    /// The lines, later ones over earlier ones.
    pub lines: Vec<Line>,
    /// The band below the lines.
    pub band: Option<Band>,
    /// Extent of the vertical axis.
    pub vertical: Vertical,
    /// A level to compare with, and its name.
    pub level: Option<(f64, String)>,
    /// What the paper says, over the lines.
    pub stated: Vec<Stated>,
    /// The horizontal axis; none: time in seconds.
    pub across: Option<Across>,
    /// A map in place of lines.
    pub heat: Option<Heat>,
}

/// Extent of a vertical axis.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Vertical {
    /// From zero to a little more than the largest value.
    FromZero,
    /// From zero to this value.
    To(f64),
    /// From a little less than the smallest value to a little more than the largest: for values that differ little.
    Around,
    /// As `Around`, on a logarithmic axis.
    Logarithmic,
}

/// A horizontal axis that is not time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Across {
    /// What it shows, with the unit in brackets.
    pub axis: String,
    /// Where the lines have their values, rising.
    pub values: Curve,
    /// Whether it is logarithmic.
    pub log: bool,
}

/// A line of a figure.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Line {
    /// Index of its entry in the legend; none for a line that stands for all flows of a run.
    pub entry: Option<usize>,
    /// What the box beside the cursor calls it.
    pub name: String,
    /// One per bin of time or per place on the figure's own axis.
    pub values: Curve,
}

/// The area between two curves.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Band {
    /// Index of its entry in the legend.
    pub entry: usize,
    /// The lower curve.
    pub low: Curve,
    /// The upper curve.
    pub high: Curve,
}

impl Page {
    /// A page of figures none of which is over time.
    pub fn without_time(group: Group) -> Page {
        Page { step: 1.0, bins: 0, groups: vec![group] }
    }

    /// Drops the figures whose vertical axis begins with none of `axes`, unless `axes` is empty.
    pub fn keep(&mut self, axes: &[String]) {
        for group in &mut self.groups {
            group.figures.retain(|figure| axes.is_empty() || axes.iter().any(|axis| figure.axis.starts_with(axis)));
        }
        self.groups.retain(|group| !group.figures.is_empty());
    }

    /// With the values of all curves as they are written, so that a page that was kept in a file is drawn the same.
    pub fn rounded(mut self) -> Page {
        for figure in self.groups.iter_mut().flat_map(|group| &mut group.figures) {
            let lines = figure.lines.iter_mut().map(|line| &mut line.values);
            let band = figure.band.iter_mut().flat_map(|band| [&mut band.low, &mut band.high]);
            let across = figure.across.iter_mut().map(|across| &mut across.values);
            let heat = figure.heat.iter_mut().flat_map(|heat| &mut heat.values);
            lines.chain(band).chain(across).chain(heat).for_each(Curve::round);
        }
        self
    }
}

impl Entry {
    /// An entry for each of `names`: lines, each with a style of its own.
    pub fn each(names: impl IntoIterator<Item = String>) -> Vec<Entry> {
        let entry = |(i, name)| Entry { name, style: Some(i), mark: Mark::Line };
        names.into_iter().enumerate().map(entry).collect()
    }

    /// A line in the neutral colour.
    pub fn neutral(name: &str) -> Entry {
        Entry { name: name.into(), style: None, mark: Mark::Line }
    }

    /// The two entries of a median and the band around it, in the first style.
    pub fn median_and_band(median: &str, band: &str) -> Vec<Entry> {
        let entry = |name: &str, mark| Entry { name: name.into(), style: Some(0), mark };
        vec![entry(median, Mark::Line), entry(band, Mark::Band)]
    }
}

impl Figure {
    /// Lines over time, on a vertical axis that begins at zero.
    pub fn new(axis: String, lines: Vec<Line>) -> Figure {
        Figure {
            title: None,
            axis,
            lines,
            band: None,
            vertical: Vertical::FromZero,
            level: None,
            stated: vec![],
            across: None,
            heat: None,
        }
    }

    /// `figures` without lines that have no value, and without figures that then have no line: the windows of
    /// controllers that have none, for example.
    pub fn with_values(figures: Vec<Figure>) -> Vec<Figure> {
        let shows = |mut figure: Figure| {
            figure.lines.retain(|line| !line.values.is_empty());
            (!figure.lines.is_empty()).then_some(figure)
        };
        figures.into_iter().filter_map(shows).collect()
    }
}

impl Across {
    /// A logarithmic axis; a linear one if it begins at zero or below.
    pub fn logarithmic(axis: impl Into<String>, values: Vec<f64>) -> Across {
        let log = values.first().is_some_and(|first| *first > 0.0);
        Across { axis: axis.into(), values: Curve(values), log }
    }

    /// A linear axis.
    pub fn linear(axis: impl Into<String>, values: Vec<f64>) -> Across {
        Across { axis: axis.into(), values: Curve(values), log: false }
    }
}

impl Figure {
    /// Whether several lines have the level of `one`, so that it has the colour of none.
    pub fn shares_level(&self, one: &Stated) -> bool {
        self.stated.iter().filter(|it| it.along == one.along && it.values == one.values).count() > 1
    }
}

impl Group {
    /// Adds to the legend what the marks of its figures are.
    pub fn name_stated(&mut self) {
        let stated = || self.figures.iter().flat_map(|figure| &figure.stated);
        let kinds = [("the paper", Mark::Stated, stated().any(|it| !it.is_range()))];
        let kinds = kinds.into_iter().chain([("the paper's range", Mark::Range, stated().any(Stated::is_range))]);
        let entries =
            kinds.filter(|(.., any)| *any).map(|(name, mark, _)| Entry { name: name.into(), style: None, mark });
        let entries: Vec<Entry> = entries.collect();
        self.legend.extend(entries);
    }

    /// Whether a legend tells more than the figures themselves.
    pub fn needs_legend(&self) -> bool {
        self.legend.len() > 1 || self.legend.iter().any(|entry| matches!(entry.mark, Mark::Stated | Mark::Range))
    }
}
