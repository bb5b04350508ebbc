//! Samples links and flows at regular times, and takes their totals at the ends of the measured interval.

use crate::flow::Flow;
use crate::looks::Looks;
use crate::network::Network;
use control::Time;
use experiment::{Experiment, FlowSeries, LinkOutcome, LinkSeries};
use path::{Counters, LinkDirection};

/// See the [module](self).
pub struct Recorder {
    /// When flows are looked at, and their samples.
    pub looks: Looks,
    /// How many of these times have come.
    looked: usize,
    /// The measured interval.
    measured: (Time, Time),
    /// The ends of the sampling intervals so far.
    sampled: Vec<Time>,
    links: Vec<LinkRecord>,
}

/// What is recorded of one direction of a link.
struct LinkRecord {
    direction: LinkDirection,
    /// The counters at the last sample.
    before: Counters,
    /// The most packets that waited since the last sample.
    max_since_sample: u64,
    /// The most packets that waited in the measured interval, once it has begun.
    max_measured: Option<u64>,
    /// The counters at the beginning and the end of the measured interval.
    measured: (Counters, Counters),
    series: LinkSeries,
}

impl LinkRecord {
    fn observe(&mut self, now: Time, network: &mut Network) -> Counters {
        let counters = network.topology.link(self.direction).observe(now);
        let most = counters.max_queue;
        self.max_since_sample = self.max_since_sample.max(most);
        self.max_measured = self.max_measured.map(|max| max.max(most));
        counters
    }
}

impl Recorder {
    /// Records the directions of links that results list.
    pub fn new(experiment: &Experiment) -> Recorder {
        let link = |direction| LinkRecord {
            direction,
            before: Counters::default(),
            max_since_sample: 0,
            max_measured: None,
            measured: Default::default(),
            series: LinkSeries::default(),
        };
        let links = experiment.listed_directions().into_iter().map(link).collect();
        let (looks, measured) = (Looks::new(experiment), experiment.measure);
        Recorder { looks, looked: 0, measured, sampled: Vec::new(), links }
    }

    /// The directions of links that are recorded.
    pub fn directions(&self) -> impl Iterator<Item = LinkDirection> {
        self.links.iter().map(|link| link.direction)
    }

    /// The measured interval begins or ends.
    pub fn measure(&mut self, now: Time, begins: bool, network: &mut Network, flows: &mut [Flow]) {
        for link in &mut self.links {
            let counters = link.observe(now, network);
            if begins {
                link.max_measured = Some(network.topology.link(link.direction).observe(now).max_queue);
                link.measured.0 = counters;
            } else {
                link.measured.1 = Counters { max_queue: link.max_measured.unwrap_or(0), ..counters };
            }
        }
        self.settle(flows);
    }

    /// A sampling interval ends.
    pub fn sample(&mut self, now: Time, network: &mut Network, flows: &mut [Flow]) {
        self.sampled.push(now);
        for link in &mut self.links {
            let counters = link.observe(now, network);
            let before = std::mem::replace(&mut link.before, counters);
            let max_queue = std::mem::take(&mut link.max_since_sample);
            let router = network.topology.link(link.direction).control();
            link.series.push(&before, &counters, max_queue, router);
        }
        self.settle(flows);
    }

    /// The time of the next look has come.
    fn settle(&mut self, flows: &mut [Flow]) {
        for flow in flows {
            flow.settle(self.looked, &mut self.looks);
        }
        self.looked += 1;
    }

    /// The samples of `flow`.
    pub fn series(&self, flow: u32) -> FlowSeries {
        self.looks.samples.series(flow, self.sampled.len())
    }

    /// Mean window, in packets, over the samples of the measured interval; none if the controller has no window.
    pub fn mean_window(&self, series: &FlowSeries) -> Option<f64> {
        let (from, to) = self.measured;
        let inside = self
            .sampled
            .iter()
            .zip(&series.window)
            .filter(|&(time, window)| from < *time && *time <= to && !window.is_nan());
        let (sum, n) = inside.fold((0.0, 0u64), |(sum, n), (_, window)| (sum + window, n + 1));
        (n > 0).then(|| sum / n as f64)
    }

    /// The links' results, and the times of the samples.
    pub fn finish(&mut self, experiment: &Experiment) -> (Vec<LinkOutcome>, Vec<Time>) {
        let outcome = |link: LinkRecord| {
            let (from, to) = link.measured;
            LinkOutcome::between(link.direction.name(&experiment.links), &from, &to, to.max_queue, link.series)
        };
        (std::mem::take(&mut self.links).into_iter().map(outcome).collect(), std::mem::take(&mut self.sampled))
    }
}
