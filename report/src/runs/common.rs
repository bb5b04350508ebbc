//! What all figures of a page of runs have in common: the grid of time, the unit of rates, the capacity to compare
//! with.

use super::grid::Grid;
use crate::figure::{Curve, Entry, Figure, Line, Vertical};
use control::{Duration, Rate};
use experiment::{Experiment, Finished, Flow, FlowOutcome};
use path::{DirectionSetup, LinkSetup};

/// More flows than this are drawn as a median and a band.
pub const MAX_FLOWS: usize = 12;
/// Number of values per curve at most.
const POINTS: usize = 1500;
/// Number of values per curve at least.
const FEWEST_POINTS: usize = 200;
/// Number of values of all curves of a page together, unless [`FEWEST_POINTS`] per curve are more.
const ALL_POINTS: usize = 400_000;
/// Number of curves per flow, for that bound: throughput, window, rate, RTT, and one of its link.
const FIGURES_PER_FLOW: usize = 5;
/// Jain's index is that of throughputs over at least this long.
const FAIR: Duration = Duration::from_millis(500);

/// What all figures of a page of runs have in common.
pub struct Common {
    /// The bins of all curves over time.
    pub grid: Grid,
    /// Whether rates are in Gbps.
    gigabits: bool,
    /// The rate of the only link, if it is the same in all runs and at all times.
    capacity: Option<Rate>,
    /// Whether some run has so many flows that the flows of every run become a median and a band.
    pub banded: bool,
}

impl Common {
    /// What the figures of a page of `runs` have in common.
    pub fn new(runs: &[Finished]) -> Common {
        let several_flows = most_flows(runs) > 1;
        let lines = match runs {
            [run] => FIGURES_PER_FLOW * run.outcome.flows.len().min(MAX_FLOWS),
            _ => runs.len() * (FIGURES_PER_FLOW + if several_flows { MAX_FLOWS } else { 0 }),
        };
        let points = (ALL_POINTS / lines.max(1)).clamp(FEWEST_POINTS, POINTS);
        Common {
            grid: Grid::new(runs.iter().map(|run| (&run.outcome, run.run.experiment.sample)), points),
            gigabits: fastest(runs) > Rate::from_gbps(2.0),
            capacity: capacity(runs),
            banded: most_flows(runs) > MAX_FLOWS,
        }
    }

    /// What rates in bits per second are multiplied by.
    pub fn rate_factor(&self) -> f64 {
        if self.gigabits { 1e-9 } else { 1e-6 }
    }

    /// An axis that shows the rate `what`.
    pub fn rate_axis(&self, what: &str) -> String {
        format!("{what} ({})", if self.gigabits { "Gbps" } else { "Mbps" })
    }

    /// The capacity to compare throughputs with.
    pub fn level(&self) -> Option<(f64, String)> {
        self.capacity.map(|rate| (rate.as_bps() * self.rate_factor(), "capacity".into()))
    }

    /// Goodput of a flow.
    pub fn throughput(&self, run: &Finished, flow: &FlowOutcome) -> Curve {
        self.grid.throughput(&run.outcome.sampled, flow).scale(self.rate_factor())
    }

    /// Goodput of all flows of a run.
    pub fn total(&self, run: &Finished) -> Curve {
        let flows: Vec<Curve> = run.outcome.flows.iter().map(|flow| self.throughput(run, flow)).collect();
        Curve::across(&flows, |values| values.iter().sum())
    }

    /// Jain's index of the flows that are active throughout [`FAIR`], where these are two or more.
    pub fn jain(&self, run: &Finished) -> Curve {
        let width = self.fair_bins();
        let flows: Vec<Curve> = run.outcome.flows.iter().map(|flow| self.throughput(run, flow).smooth(width)).collect();
        Curve::across(&flows, |shares| if shares.len() > 1 { experiment::jain(shares) } else { f64::NAN })
    }

    /// The figure of Jain's index, whose `lines` come from [`Common::jain`].
    pub fn fairness(&self, lines: Vec<Line>) -> Figure {
        let over = Duration(self.grid.step.0 * self.fair_bins() as u64);
        Figure { vertical: Vertical::To(1.05), ..Figure::new(format!("Jain index ({over})"), lines) }
    }

    fn fair_bins(&self) -> usize {
        FAIR.0.div_ceil(self.grid.step.0).max(1) as usize
    }

    /// The legend of a run's flows, or of their median and band.
    pub fn flow_legend(&self, run: &Finished) -> Vec<Entry> {
        match self.banded {
            true => Entry::median_and_band("median flow", "10–90 % of flows"),
            false => Entry::each(flow_names(run)),
        }
    }
}

/// The names of a run's flows, with their controllers if these differ.
pub fn flow_names(run: &Finished) -> Vec<String> {
    let flows = &run.run.experiment.flows;
    let alike = flows.iter().all(|flow| flow.controller == flows[0].controller);
    let name = |(i, flow): (usize, &Flow)| match alike {
        true => format!("flow {}", i + 1),
        false => format!("flow {} {}", i + 1, flow.controller),
    };
    flows.iter().enumerate().map(name).collect()
}

/// The number of flows of the run that has most.
pub fn most_flows(runs: &[Finished]) -> usize {
    runs.iter().map(|run| run.outcome.flows.len()).max().unwrap_or(0)
}

/// The highest capacity of a link.
fn fastest(runs: &[Finished]) -> Rate {
    let links = runs.iter().flat_map(|run| &run.run.experiment.links);
    let rates = links.flat_map(LinkSetup::each).map(DirectionSetup::capacity);
    rates.fold(Rate::ZERO, |most, rate| if rate > most { rate } else { most })
}

/// The capacity of the only link of all runs in the direction of the flows, if that is the same and never changes.
fn capacity(runs: &[Finished]) -> Option<Rate> {
    let only = |run: &Finished| {
        let Experiment { links, flows, .. } = &run.run.experiment;
        let [link] = &links[..] else { return None };
        let rate = |reverse: bool| {
            let direction = link.direction(reverse);
            direction.changes.is_empty().then(|| direction.capacity())
        };
        let first = rate(flows.first().is_some_and(|flow| flow.route.reverse));
        first.filter(|_| flows.iter().all(|flow| rate(flow.route.reverse) == first))
    };
    let rate = only(runs.first()?);
    if runs.iter().all(|run| only(run) == rate) { rate } else { None }
}
