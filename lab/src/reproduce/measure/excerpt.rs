//! The part of a run that a measure looks at.

use experiment::{Finished, FlowOutcome, LinkOutcome, LinkSeries, mean};
use std::ops::Range;

/// Which part of a run is measured, and the arguments of measures that have some.
#[derive(Clone, Copy, Debug)]
pub struct Scope {
    /// Beginning and end in seconds; the whole run if none.
    pub span: Option<[f64; 2]>,
    /// The first and the last flow, counted from 0; all flows if none.
    pub flows: Option<[usize; 2]>,
    /// Whether what connections that come and go send forward counts, too.
    pub traffic: bool,
    /// Of transfers from the first size on and below the second, in bytes.
    pub sizes: [f64; 2],
    /// The level to reach, in the measure's unit.
    pub level: f64,
    /// Length in seconds of the consecutive windows that are measured in place of the whole span.
    pub window: Option<f64>,
    /// Which quantile of several values, 0 to 1.
    pub quantile: f64,
}

impl Default for Scope {
    fn default() -> Scope {
        let sizes = [0.0, f64::INFINITY];
        Scope { span: None, flows: None, traffic: false, sizes, level: 0.0, window: None, quantile: 0.5 }
    }
}

/// A part of a run, with the samples and flows that lie in it.
pub struct Excerpt<'r> {
    /// The whole run.
    pub run: &'r Finished,
    /// What was asked for.
    pub scope: Scope,
    /// Beginning of the span, in seconds from the beginning of the run.
    pub from: f64,
    /// End of the span.
    pub to: f64,
    /// The samples in the span.
    pub samples: Range<usize>,
    /// The flows that are measured, by their place in the experiment.
    pub flows: Range<usize>,
}

impl<'r> Excerpt<'r> {
    /// The part of `run` that `scope` describes.
    pub fn new(run: &'r Finished, scope: Scope) -> Excerpt<'r> {
        let outcome = &run.outcome;
        let flows = scope.flows.map_or(0..outcome.flows.len(), |[first, last]| first..last + 1);
        let [from, to] = scope.span.unwrap_or([0.0, run.run.experiment.duration.as_secs()]);
        let first = outcome.sampled.partition_point(|time| time.as_secs() <= from + 1e-9);
        let end = outcome.sampled.partition_point(|time| time.as_secs() <= to + 1e-9);
        Excerpt { run, scope, from, to, samples: first..end.max(first), flows }
    }

    /// The flow that measures of one flow look at: the first.
    pub fn flow(&self) -> usize {
        self.flows.start
    }

    /// The results of the flows.
    pub fn flow_outcomes(&self) -> &'r [FlowOutcome] {
        &self.run.outcome.flows[self.flows.clone()]
    }

    /// The link direction with the largest utilization over the run's measured interval.
    pub fn busiest_link(&self) -> Option<&'r LinkOutcome> {
        self.run.outcome.busiest_link()
    }

    /// The value of each sample of the busiest link; none without links.
    pub fn of_busiest_link(&self, value: impl Fn(&LinkSeries, usize) -> f64) -> Vec<f64> {
        let link = self.busiest_link();
        link.map_or(vec![], |link| self.samples.clone().map(|i| value(&link.series, i)).collect())
    }

    /// The least capacity of all links at the beginning of the run, in the directions that data crosses, in bits per
    /// second.
    pub fn narrowest_bps(&self) -> f64 {
        let experiment = &self.run.run.experiment;
        let directions = experiment.data_directions().into_iter();
        directions.map(|direction| direction.setup(&experiment.links).capacity().as_bps()).fold(f64::INFINITY, f64::min)
    }

    /// The sampling interval, in seconds.
    pub fn sampling_interval(&self) -> f64 {
        self.run.run.experiment.sample.as_secs()
    }

    /// How many samples `seconds` last, to the nearest; at least one.
    pub fn samples_in(&self, seconds: f64) -> usize {
        ((seconds / self.sampling_interval()).round() as usize).max(1)
    }

    /// Bits delivered for the first time in each sampling interval: those of all flows, and of traffic if it counts.
    pub fn bits(&self) -> Vec<f64> {
        let workloads = if self.scope.traffic { &self.run.outcome.workloads[..] } else { &[] };
        // Forward are the initiators' data on a route that is crossed forward, else the acceptors'.
        let forward = |i: usize| usize::from(self.run.run.experiment.workloads[i].route.reverse);
        let of_workloads =
            |at: usize| workloads.iter().enumerate().map(move |(i, it)| it.series.delivered[forward(i)][at]);
        let of_flows = |at: usize| self.flow_outcomes().iter().map(move |it| it.series.delivered[at]);
        let bytes = |at: usize| of_flows(at).chain(of_workloads(at)).sum::<u64>();
        self.samples.clone().map(|at| 8.0 * bytes(at) as f64).collect()
    }

    /// Goodput in bits per second, over the span.
    pub fn throughput_bps(&self) -> f64 {
        self.bits().iter().sum::<f64>() / (self.to - self.from)
    }

    /// The mean over the flows of what `value` finds in sample `i`, without what is not a number.
    pub fn mean_of_flows(&self, i: usize, value: impl Fn(&FlowOutcome, usize) -> f64) -> f64 {
        let known: Vec<f64> = self.flow_outcomes().iter().map(|it| value(it, i)).filter(|x| x.is_finite()).collect();
        mean(&known)
    }
}
