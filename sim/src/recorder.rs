//! Time series and the measured interval.

use crate::flow::Flow;
use crate::network::Network;
use control::Time;
use experiment::{Experiment, FlowSeries, LinkOutcome, LinkSeries};
use path::{Counters, LinkDirection};

/// Samples everything at regular times, and totals at the beginning and the end of the measured interval.
pub struct Recorder {
    sampled: Vec<Time>,
    /// Per link direction that data crosses.
    links: Vec<Lane>,
}

struct Lane {
    direction: LinkDirection,
    /// At the last sample.
    before: Counters,
    /// The most packets waiting since the last sample, and since the measured interval began.
    max_since_sample: u64,
    max_measured: Option<u64>,
    /// At the beginning and the end of the measured interval.
    measured: (Counters, Counters),
    series: LinkSeries,
}

impl Lane {
    fn observe(&mut self, now: Time, network: &mut Network) -> Counters {
        let counters = network.topology.links[self.direction.index()].observe(now);
        let most = counters.max_queue;
        self.max_since_sample = self.max_since_sample.max(most);
        self.max_measured = self.max_measured.map(|max| max.max(most));
        counters
    }
}

impl Recorder {
    /// Watches each link in the directions that data crosses it.
    pub fn new(experiment: &Experiment) -> Recorder {
        let lane = |direction| Lane {
            direction,
            before: Counters::default(),
            max_since_sample: 0,
            max_measured: None,
            measured: Default::default(),
            series: LinkSeries::default(),
        };
        let links = experiment.listed_directions().into_iter().map(lane).collect();
        Recorder { sampled: Vec::new(), links }
    }

    /// The measured interval begins or ends.
    pub fn measure(&mut self, now: Time, begins: bool, network: &mut Network, flows: &mut [Flow]) {
        for lane in &mut self.links {
            let counters = lane.observe(now, network);
            if begins {
                lane.max_measured = Some(network.topology.links[lane.direction.index()].observe(now).max_queue);
                lane.measured.0 = counters;
            } else {
                lane.measured.1 = Counters { max_queue: lane.max_measured.unwrap_or(0), ..counters };
            }
        }
        for flow in flows {
            let totals = flow.totals();
            if begins {
                flow.record.measured.0 = totals;
            } else {
                flow.record.measured.1 = totals;
            }
        }
    }

    /// A sampling interval ends.
    pub fn sample(&mut self, now: Time, network: &mut Network, flows: &mut [Flow]) {
        self.sampled.push(now);
        for lane in &mut self.links {
            let counters = lane.observe(now, network);
            let before = std::mem::replace(&mut lane.before, counters);
            let max_queue = std::mem::take(&mut lane.max_since_sample);
            let router = network.topology.links[lane.direction.index()].control();
            lane.series.push(&before, &counters, max_queue, router);
        }
        for flow in flows {
            flow.sample(now);
        }
    }

    /// Mean window over the samples of the measured interval, if there is a window.
    pub fn mean_window(&self, series: &FlowSeries, (from, to): (Time, Time)) -> Option<f64> {
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
        let outcome = |lane: Lane| {
            let (from, to) = lane.measured;
            LinkOutcome::between(lane.direction.name(&experiment.links), &from, &to, to.max_queue, lane.series)
        };
        (std::mem::take(&mut self.links).into_iter().map(outcome).collect(), std::mem::take(&mut self.sampled))
    }
}
