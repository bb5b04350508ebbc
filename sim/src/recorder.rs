//! Time series and the measured interval.

use crate::flow::Flow;
use crate::network::Network;
use control::{Duration, Time};
use experiment::Experiment;
use experiment::{FlowSeries, LinkOutcome, LinkSeries};
use path::Counters;

/// Samples everything at regular times, and totals at the beginning and the end of the measured interval.
pub struct Recorder {
    sampled: Vec<Time>,
    /// Per link direction that data crosses.
    links: Vec<Lane>,
}

struct Lane {
    /// Which of [`Network::links`].
    link: usize,
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
        let counters = network.links[self.link].observe(now);
        let most = counters.max_queue;
        self.max_since_sample = self.max_since_sample.max(most);
        self.max_measured = self.max_measured.map(|max| max.max(most));
        counters
    }
}

impl Recorder {
    /// Watches each link in the directions that data crosses it.
    pub fn new(experiment: &Experiment) -> Recorder {
        let mut used = vec![[false; 2]; experiment.links.len()];
        let routes = experiment.flows.iter().map(|f| &f.route).chain(experiment.cross.iter().map(|c| &c.route));
        for route in routes {
            for &link in &route.links {
                used[link][route.reverse as usize] = true;
            }
        }
        for workload in &experiment.workloads {
            for &link in &workload.route.links {
                for side in (0..2).filter(|&side| workload.sends[side]) {
                    used[link][workload.route.reverse as usize ^ side] = true;
                }
            }
        }
        // A link that nothing crosses is listed, idle, in its forward direction.
        let first = |link: usize| if used[link][0] || !used[link][1] { 0 } else { 1 };
        let firsts = (0..used.len()).map(|link| 2 * link + first(link));
        let seconds = (0..used.len()).filter(|&link| used[link] == [true; 2]).map(|link| 2 * link + 1);
        let lane = |link| Lane {
            link,
            before: Counters::default(),
            max_since_sample: 0,
            max_measured: None,
            measured: Default::default(),
            series: LinkSeries::default(),
        };
        Recorder { sampled: Vec::new(), links: firsts.chain(seconds).map(lane).collect() }
    }

    /// The measured interval begins or ends.
    pub fn measure(&mut self, now: Time, begins: bool, network: &mut Network, flows: &mut [Flow]) {
        for lane in &mut self.links {
            let counters = lane.observe(now, network);
            if begins {
                lane.max_measured = Some(network.links[lane.link].observe(now).max_queue);
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
        let interval = now.since(self.sampled.last().copied().unwrap_or(Time::ZERO)).as_secs();
        self.sampled.push(now);
        for lane in &mut self.links {
            let counters = lane.observe(now, network);
            let before = std::mem::replace(&mut lane.before, counters);
            lane.series.queue.push(mean_queue(&before, &counters, interval));
            lane.series.max_queue.push(std::mem::take(&mut lane.max_since_sample));
            lane.series.drops.push((counters.dropped - before.dropped) as u32);
            lane.series.utilization.push((counters.busy - before.busy).as_secs() / interval);
            if let Some(router) = network.links[lane.link].control() {
                lane.series.allowed.push(router.rate.map_or(f64::NAN, |rate| rate.as_bps()));
                lane.series.growth.push(router.growth.unwrap_or(f64::NAN));
            }
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
        let interval: Duration = experiment.measure.1.since(experiment.measure.0);
        let outcome = |lane: Lane| {
            let (from, to) = lane.measured;
            let name = experiment.links[lane.link / 2].name.clone();
            LinkOutcome {
                name: if lane.link.is_multiple_of(2) { name } else { format!("{name} (reverse)") },
                utilization: (to.busy - from.busy).as_secs() / interval.as_secs(),
                mean_queue: mean_queue(&from, &to, interval.as_secs()),
                max_queue: to.max_queue,
                drops: to.dropped - from.dropped,
                early_drops: to.early - from.early,
                errors: to.struck - from.struck,
                late: to.late - from.late,
                corrupted: to.corrupted - from.corrupted,
                duplicates: to.doubled - from.doubled,
                series: lane.series,
            }
        };
        (std::mem::take(&mut self.links).into_iter().map(outcome).collect(), std::mem::take(&mut self.sampled))
    }
}

/// Packets waiting on average between two observations, `seconds` apart.
fn mean_queue(from: &Counters, to: &Counters, seconds: f64) -> f64 {
    (to.waiting - from.waiting) as f64 / 1e12 / seconds
}
