//! Which figures the page has, and what they show.
//!
//! One run: its flows. Several runs of one flow each: the runs, over each other. Several runs of several flows: a panel of
//! flows per run, then totals and medians of the runs over each other. Of many flows, the median and a band.

use super::grid::{Curve, Grid};
use super::heat::Heat;
use super::traffic;
use control::{Duration, Rate};
use experiment::Finished;
use experiment::Place;
use experiment::quantile;
use experiment::{FlowOutcome, FlowSeries, LinkOutcome};
use serde::{Deserialize, Serialize};

/// More flows than this become a median and a band.
const MANY_FLOWS: usize = 12;
/// More runs than this are not drawn; the table has them all.
const MANY_RUNS: usize = 64;
/// More runs than this do not get panels of their own.
const MANY_PANELS: usize = 12;
/// More links than this are not drawn, but for those with the longest queues.
const MANY_LINKS: usize = 12;
/// Points per curve, and of all curves together.
const POINTS: usize = 1500;
const ALL_POINTS: usize = 400_000;
/// What routers that take part in congestion control say.
const ALLOWED: &str = "Allowed rate";
const GROWTH: &str = "Allowed growth (kB)";
/// How many colours there are before they come again with another dash (page.js).
const COLOURS: usize = 7;
/// Jain's index is taken over at least this long.
const FAIR: Duration = Duration::from_millis(500);

/// Everything that is drawn.
#[derive(Serialize, Deserialize)]
pub struct Page {
    /// Length of a bin, in seconds; the first begins at zero.
    pub(super) step: f64,
    /// How many bins every curve has.
    pub(super) bins: usize,
    pub(super) groups: Vec<Group>,
}

/// Figures that share a legend.
#[derive(Serialize, Deserialize)]
pub(super) struct Group {
    /// Heading, if it needs one.
    pub title: Option<String>,
    pub legend: Vec<Entry>,
    /// Whether the figures are panels side by side, with the same axes.
    pub panels: bool,
    pub figures: Vec<Figure>,
}

/// A curve or band by which name it is shown, hidden and told from others, in all figures of its group.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) name: String,
    /// Which colour and dash; none: neutral.
    pub(super) style: Option<usize>,
    /// Whether it is the band around the curve of that style.
    pub(super) band: bool,
    /// Whether it is points that stand alone.
    #[serde(default)]
    pub(super) points: bool,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Figure {
    pub title: Option<String>,
    /// What its vertical axis shows, and in which unit.
    pub axis: String,
    pub lines: Vec<Line>,
    pub band: Option<Band>,
    /// Top of the axis if all is shown; none: as the data want. The bottom is zero.
    pub top: Option<f64>,
    /// Whether the axis is logarithmic.
    pub log: bool,
    /// Whether the axis begins at zero.
    pub from_zero: bool,
    /// A level to compare with, and its name.
    pub level: Option<(f64, String)>,
    /// What its horizontal axis shows, if not time.
    pub across: Option<Across>,
    /// A matrix in place of lines.
    pub heat: Option<Heat>,
    /// Whether the horizontal axis, if it is not time, is linear; else it is logarithmic.
    pub linear: bool,
    /// So many of its lines, the last ones, are points that stand alone.
    pub points: usize,
}

/// A horizontal axis of its own.
#[derive(Serialize, Deserialize)]
pub(super) struct Across {
    /// What it shows, and in which unit.
    pub axis: String,
    /// Where the lines have their values, rising.
    pub values: Curve,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Line {
    /// Entry of the legend; none for a line that stands for all.
    pub entry: Option<usize>,
    pub name: String,
    pub values: Curve,
}

/// What lies between two curves.
#[derive(Serialize, Deserialize)]
pub(super) struct Band {
    pub entry: usize,
    pub low: Curve,
    pub high: Curve,
}

impl Page {
    /// The figures of `runs`.
    pub fn new(runs: &[Finished]) -> Page {
        let runs = &runs[..runs.len().min(MANY_RUNS)];
        let several_flows = most_flows(runs) > 1;
        let lines = match runs {
            [run] => 5 * run.outcome.flows.len().min(MANY_FLOWS),
            _ => runs.len() * if several_flows { 5 + MANY_FLOWS } else { 5 },
        };
        let points = (ALL_POINTS / lines.max(1)).clamp(200, POINTS);
        let grid = Grid::new(runs.iter().map(|run| (&run.outcome, run.run.experiment.sample)), points);
        let draw = Draw {
            grid,
            gigabits: fastest(runs) > Rate::from_gbps(2.0),
            capacity: capacity(runs),
            banded: most_flows(runs) > MANY_FLOWS,
        };
        let mut groups = match runs {
            [] => vec![],
            [run] => draw.one(run),
            _ if several_flows => draw.panels(runs),
            _ => vec![draw.overlay(runs, "", |flows| flows.first().cloned().unwrap_or_default())],
        };
        groups.extend(traffic::groups(&draw, runs));
        groups.retain(|group| !group.figures.is_empty());
        Page { step: grid.step.as_secs(), bins: grid.bins, groups }
    }

    /// A group without time.
    pub(super) fn of(group: Group) -> Page {
        Page { step: 1.0, bins: 0, groups: vec![group] }
    }

    /// A group over time.
    pub(super) fn over((grid, group): (Grid, Group)) -> Page {
        Page { step: grid.step.as_secs(), bins: grid.bins, groups: vec![group] }
    }

    /// Drops the figures whose axis begins with none of `axes`, unless there are no `axes`.
    pub(super) fn keep(&mut self, axes: &[String]) {
        for group in &mut self.groups {
            group.figures.retain(|figure| axes.is_empty() || axes.iter().any(|axis| figure.axis.starts_with(axis)));
        }
        self.groups.retain(|group| !group.figures.is_empty());
    }
}

/// What all figures have in common.
pub(super) struct Draw {
    pub grid: Grid,
    /// Whether rates are in Gbps.
    gigabits: bool,
    /// The narrowest link, if it is the same in all runs.
    capacity: Option<Rate>,
    /// Whether some run has so many flows that those of all runs become a median and a band.
    banded: bool,
}

impl Draw {
    /// The flows of one run.
    fn one(&self, run: &Finished) -> Vec<Group> {
        let flows = run.outcome.flows.len();
        let mut legend = if flows > 1 { self.flow_legend(run) } else { vec![] };
        let mut figures = vec![self.flows(run, self.rate_axis("Throughput"), |draw, flow| draw.throughput(run, flow))];
        if flows > 1 {
            let total = Line { entry: Some(legend.len()), name: "total".into(), values: self.total(run) };
            legend.push(Entry { name: "total".into(), style: None, band: false, points: false });
            if self.banded {
                figures.insert(0, figure(self.rate_axis("Total"), vec![total]));
            } else {
                figures[0].lines.push(total);
            }
        }
        figures[0].level = self.level();
        let mut links = drawn(self.links(run));
        let legend_of_links = entries(links.iter().take(1).flat_map(|f| &f.lines).map(|line| line.name.clone()));
        if legend_of_links.len() < 2 {
            figures.append(&mut links);
        }
        figures.push(self.flows(run, "Window (packets)".into(), |draw, flow| draw.of(run, flow, |s| &s.window)));
        figures.push(self.flows(run, self.rate_axis("Rate"), |draw, flow| {
            draw.of(run, flow, |s| &s.rate).scale(self.rate_factor())
        }));
        figures
            .push(self.rtt(self.flows(run, "RTT (ms)".into(), |draw, flow| draw.of(run, flow, |s| &s.rtt).scale(1e3))));
        if flows > 1 {
            figures.push(self.fairness(vec![Line { entry: None, name: "Jain index".into(), values: self.jain(run) }]));
        }
        let mut groups = vec![Group { title: None, legend, panels: false, figures: drawn(figures) }];
        if !links.is_empty() {
            groups.push(Group { title: Some("Links".into()), legend: legend_of_links, panels: false, figures: links });
        }
        groups
    }

    /// A panel per run, then all runs together.
    fn panels(&self, runs: &[Finished]) -> Vec<Group> {
        let shown = &runs[..runs.len().min(MANY_PANELS)];
        let mut figures: Vec<Figure> = shown
            .iter()
            .map(|run| {
                let axis = self.rate_axis("Throughput");
                let figure = self.flows(run, axis, |draw, flow| draw.throughput(run, flow));
                Figure { title: Some(run.run.name()), ..figure }
            })
            .collect();
        // Panels are alike, except where the shares of many flows are so different in size that little would be seen.
        if !self.banded {
            let top =
                figures.iter().flat_map(|figure| &figure.lines).map(|line| line.values.largest()).fold(0.0, f64::max);
            figures.iter_mut().for_each(|figure| figure.top = Some(top * 1.04));
        }
        let most = shown.iter().max_by_key(|run| run.outcome.flows.len());
        let mut legend = most.map(|run| self.flow_legend(run)).unwrap_or_default();
        // Flow by flow, controllers may differ from run to run.
        for (i, entry) in legend.iter_mut().enumerate().filter(|_| !self.banded) {
            let mut names = shown.iter().filter_map(|run| flow_names(run).into_iter().nth(i));
            if names.any(|name| name != entry.name) {
                entry.name = format!("flow {}", i + 1);
            }
        }
        let flows = Group { title: Some("Each run".into()), legend, panels: true, figures: drawn(figures) };
        let mut together = self.overlay(runs, "median ", |flows| Curve::across(flows, |values| quantile(values, 0.5)));
        together.title = Some("Runs compared".into());
        let jain = self.lines(runs, |run| self.jain(run));
        together.figures.extend(drawn(vec![self.fairness(jain)]));
        vec![flows, together]
    }

    /// Totals and queues of all runs, and of their flows' windows, rates and round-trip times what `pick` makes of them.
    fn overlay(&self, runs: &[Finished], picked: &str, pick: fn(&[Curve]) -> Curve) -> Group {
        let per_flow = |run: &Finished, curve: &dyn Fn(&FlowOutcome) -> Curve| {
            pick(&run.outcome.flows.iter().map(curve).collect::<Vec<_>>())
        };
        let total = self.lines(runs, |run| self.total(run));
        let queue =
            self.lines(runs, |run| run.outcome.busiest_link().map(|link| self.queue(run, link)).unwrap_or_default());
        let window = self.lines(runs, |run| per_flow(run, &|flow| self.of(run, flow, |s| &s.window)));
        let rate =
            self.lines(runs, |run| per_flow(run, &|flow| self.of(run, flow, |s| &s.rate)).scale(self.rate_factor()));
        let rtt = self.lines(runs, |run| per_flow(run, &|flow| self.of(run, flow, |s| &s.rtt)).scale(1e3));
        let capital =
            |text: &str| if picked.is_empty() { text.to_string() } else { format!("{picked}{}", text.to_lowercase()) };
        let of_busiest = |values: fn(&Draw, &Finished, &LinkOutcome) -> Curve| {
            self.lines(runs, |run| run.outcome.busiest_link().map(|link| values(self, run, link)).unwrap_or_default())
        };
        let (allowed, growth) = (of_busiest(Draw::allowed), of_busiest(Draw::growth));
        let several_links = runs.iter().any(|run| run.run.experiment.links.len() > 1);
        let figures = vec![
            Figure {
                level: self.level(),
                ..figure(self.rate_axis(if picked.is_empty() { "Throughput" } else { "Total throughput" }), total)
            },
            figure(if several_links { "Busiest queue (packets)" } else { "Queue (packets)" }.into(), queue),
            figure(self.rate_axis(ALLOWED), allowed),
            figure(GROWTH.into(), growth),
            figure(upper(&format!("{} (packets)", capital("Window"))), window),
            figure(upper(&self.rate_axis(&capital("Rate"))), rate),
            self.rtt(figure(
                if picked.is_empty() { "RTT (ms)".into() } else { upper(&format!("{picked}RTT (ms)")) },
                rtt,
            )),
        ];
        Group { title: None, legend: run_entries(runs), panels: false, figures: drawn(figures) }
    }

    /// A line per run.
    fn lines(&self, runs: &[Finished], values: impl Fn(&Finished) -> Curve) -> Vec<Line> {
        let line = |(i, run): (usize, &Finished)| Line { entry: Some(i), name: run.run.name(), values: values(run) };
        runs.iter().enumerate().map(line).collect()
    }

    /// A line per flow, or of many the median and a band.
    fn flows(&self, run: &Finished, axis: String, values: impl Fn(&Draw, &FlowOutcome) -> Curve) -> Figure {
        let mut curves: Vec<Curve> = run.outcome.flows.iter().map(|flow| values(self, flow)).collect();
        if self.banded {
            let across = |q| Curve::across(&curves, |values| quantile(values, q));
            let band = Band { entry: 1, low: across(0.1), high: across(0.9) };
            let median = Line { entry: Some(0), name: "median".into(), values: across(0.5) };
            return Figure { band: Some(band), ..figure(axis, vec![median]) };
        }
        let entry = |i| (curves.len() > 1).then_some(i);
        let entries: Vec<_> = (0..curves.len()).map(entry).collect();
        let names = flow_names(run);
        let lines = curves.drain(..).zip(names).zip(entries);
        figure(axis, lines.map(|((values, name), entry)| Line { entry, name, values }).collect())
    }

    fn flow_legend(&self, run: &Finished) -> Vec<Entry> {
        if !self.banded {
            return entries(flow_names(run));
        }
        let entry = |name: &str, band| Entry { name: name.into(), style: Some(0), band, points: false };
        vec![entry("median flow", false), entry("10–90 % of flows", true)]
    }

    /// The queues of a run's links, and what routers there say; of many links, those whose queues were longest.
    fn links(&self, run: &Finished) -> Vec<Figure> {
        let mut links: Vec<_> = run.outcome.links.iter().collect();
        links.sort_by_key(|link| std::cmp::Reverse(link.max_queue));
        links.truncate(MANY_LINKS);
        let draw = |axis: String, values: &dyn Fn(&LinkOutcome) -> Curve| {
            let line = |(i, link): (usize, &&LinkOutcome)| Line {
                entry: (links.len() > 1).then_some(i),
                name: link.name.clone(),
                values: values(link),
            };
            figure(axis, links.iter().enumerate().map(line).collect())
        };
        vec![
            draw("Queue (packets)".into(), &|link| self.queue(run, link)),
            draw(self.rate_axis(ALLOWED), &|link| self.allowed(run, link)),
            draw(GROWTH.into(), &|link| self.growth(run, link)),
        ]
    }

    /// What a router allows each flow.
    fn allowed(&self, run: &Finished, link: &LinkOutcome) -> Curve {
        self.grid.mean(&run.outcome.sampled, link.series.allowed.iter().copied()).scale(self.rate_factor())
    }

    /// By how much a router lets traffic grow.
    fn growth(&self, run: &Finished, link: &LinkOutcome) -> Curve {
        self.grid.mean(&run.outcome.sampled, link.series.growth.iter().copied()).scale(1e-3)
    }

    fn queue(&self, run: &Finished, link: &LinkOutcome) -> Curve {
        self.grid.max(&run.outcome.sampled, link.series.max_queue.iter().map(|&n| n as f64))
    }

    fn throughput(&self, run: &Finished, flow: &FlowOutcome) -> Curve {
        self.grid.throughput(&run.outcome.sampled, flow).scale(self.rate_factor())
    }

    fn total(&self, run: &Finished) -> Curve {
        let flows: Vec<Curve> = run.outcome.flows.iter().map(|flow| self.throughput(run, flow)).collect();
        Curve::across(&flows, |values| values.iter().sum())
    }

    fn of(&self, run: &Finished, flow: &FlowOutcome, series: fn(&FlowSeries) -> &[f64]) -> Curve {
        self.grid.mean(&run.outcome.sampled, series(&flow.series).iter().copied())
    }

    /// Jain's index of the flows that are active throughout [`FAIR`], where these are two or more.
    fn jain(&self, run: &Finished) -> Curve {
        let width = self.fair_bins();
        let flows: Vec<Curve> = run.outcome.flows.iter().map(|flow| self.throughput(run, flow).smooth(width)).collect();
        Curve::across(&flows, |shares| if shares.len() > 1 { experiment::jain(shares) } else { f64::NAN })
    }

    fn fair_bins(&self) -> usize {
        FAIR.0.div_ceil(self.grid.step.0).max(1) as usize
    }

    fn fairness(&self, lines: Vec<Line>) -> Figure {
        let over = Duration(self.grid.step.0 * self.fair_bins() as u64);
        Figure { top: Some(1.05), ..figure(format!("Jain index ({over})"), lines) }
    }

    /// Round-trip times differ little from each other.
    fn rtt(&self, figure: Figure) -> Figure {
        Figure { from_zero: false, ..figure }
    }

    pub fn rate_factor(&self) -> f64 {
        if self.gigabits { 1e-9 } else { 1e-6 }
    }

    pub fn rate_axis(&self, what: &str) -> String {
        format!("{what} ({})", if self.gigabits { "Gbps" } else { "Mbps" })
    }

    fn level(&self) -> Option<(f64, String)> {
        self.capacity.map(|rate| (rate.as_bps() * self.rate_factor(), "capacity".into()))
    }
}

/// An entry for each name, each with a style of its own.
pub(super) fn entries(names: impl IntoIterator<Item = String>) -> Vec<Entry> {
    names.into_iter().enumerate().map(|(i, name)| Entry { name, style: Some(i), band: false, points: false }).collect()
}

/// As [`entries`], but a real run has the colour of the simulated one, and another dash.
fn run_entries(runs: &[Finished]) -> Vec<Entry> {
    let mut legend = entries(runs.iter().map(|run| run.run.name()));
    let simulated = |run: &Finished| {
        let identity = run.run.identity.in_place(Place::Simulated);
        (run.run.identity.place == Place::Real)
            .then(|| runs.iter().position(|run| run.run.identity == identity))
            .flatten()
    };
    let mut next = 0;
    for i in 0..legend.len() {
        legend[i].style = match simulated(&runs[i]).and_then(|pair| legend[pair].style) {
            Some(style) => Some(style + COLOURS),
            None => {
                next += 1;
                Some(next - 1)
            }
        };
    }
    legend
}

fn flow_names(run: &Finished) -> Vec<String> {
    let flows = &run.run.experiment.flows;
    let alike = flows.iter().all(|flow| flow.controller == flows[0].controller);
    let name = |(i, flow): (usize, &experiment::Flow)| match alike {
        true => format!("flow {}", i + 1),
        false => format!("flow {} {}", i + 1, flow.controller),
    };
    flows.iter().enumerate().map(name).collect()
}

pub(super) fn figure(axis: String, lines: Vec<Line>) -> Figure {
    Figure {
        title: None,
        axis,
        lines,
        band: None,
        top: None,
        log: false,
        from_zero: true,
        level: None,
        across: None,
        heat: None,
        linear: false,
        points: 0,
    }
}

/// Without the figures that show nothing, such as the windows of controllers that have none.
pub(super) fn drawn(figures: Vec<Figure>) -> Vec<Figure> {
    let shows = |mut figure: Figure| {
        figure.lines.retain(|line| !line.values.is_empty());
        (!figure.lines.is_empty()).then_some(figure)
    };
    figures.into_iter().filter_map(shows).collect()
}

fn most_flows(runs: &[Finished]) -> usize {
    runs.iter().map(|run| run.outcome.flows.len()).max().unwrap_or(0)
}

fn fastest(runs: &[Finished]) -> Rate {
    let links = runs.iter().flat_map(|run| &run.run.experiment.links);
    links.map(|link| link.rate).fold(Rate::ZERO, |most, rate| if rate > most { rate } else { most })
}

/// The rate of the only link of all runs, if that stays the same.
fn capacity(runs: &[Finished]) -> Option<Rate> {
    let only = |run: &Finished| match &run.run.experiment.links[..] {
        [link] if link.changes.is_empty() => Some(link.rate),
        _ => None,
    };
    let rate = only(runs.first()?);
    if runs.iter().all(|run| only(run) == rate) { rate } else { None }
}

/// With a capital first letter.
fn upper(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}
