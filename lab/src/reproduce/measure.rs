//! What claims measure. Few and general: an artefact has none of its own.

use super::Made;
use super::artefact::{Artefact, Quantity, Scale};
use crate::Finished;
use crate::report::quantile;
use crate::results::{completion_seconds, over_windows};
use control::rapid::{Layout, Stream};
use control::{Duration, Rate, Time};
use serde::Deserialize;

/// What to measure of a run. "Over the span" is from its first to its second time; of one flow, or of all together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// Round trips from the flow's start, or from the beginning of the span, to the first time from which its mean throughput
    /// over the next 10 is at least 95 % of the spare capacity.
    AcquireRtts,
    /// Goodput over the span.
    Throughput,
    /// Share of the span in which the busiest link transmits.
    Utilization,
    /// Mean of packets that wait at the busiest link, over the span.
    MeanQueue,
    /// The most packets that wait there, over the span.
    MaxQueue,
    /// Packets that its queue drops, over the span.
    Drops,
    /// Share of the flow's packets that are sent again, over the span.
    Loss,
    /// Jain's index of what flows that are active throughout the span get over it; with a window, the quantile of its value over
    /// consecutive windows.
    Jain,
    /// How long transfers of connections that come and go take: the quantile of those that begin in the span and are completed.
    Response,
    /// Standard deviation of the flow's throughput from second to second over its mean, over the span.
    Variation,
    /// From the beginning of the span until the flow's mean throughput over a second is at least `level` Mbps.
    ReachSeconds,
    /// From the beginning of the span until Jain's index over 50 s is at least `level`.
    FairSeconds,
    /// What the router allows each flow at the end of the span.
    Allowed,
    /// The lowest rate that RAPID-2009's stream probes for after `level` round trips, as a multiple of its rate before. No run.
    RapidLow,
    /// The highest one.
    RapidHigh,
}

impl Measure {
    /// Whether it differs between protocols by powers of ten.
    pub fn ranges_widely(self) -> bool {
        matches!(self, Measure::MeanQueue | Measure::MaxQueue | Measure::Drops | Measure::Loss)
    }

    /// What it is called, with its unit in brackets.
    pub fn axis(self) -> &'static str {
        match self {
            Measure::AcquireRtts => "Acquired after (RTTs)",
            Measure::Throughput => "Goodput (Mbps)",
            Measure::Utilization => "Link use (%)",
            Measure::MeanQueue => "Mean queue (packets)",
            Measure::MaxQueue => "Longest queue (packets)",
            Measure::Drops => "Drops (packets)",
            Measure::Loss => "Loss (%)",
            Measure::Jain => "Jain index",
            Measure::Response => "Response time (ms)",
            Measure::Variation => "Variation of throughput",
            Measure::ReachSeconds => "Reached after (s)",
            Measure::FairSeconds => "Fair after (s)",
            Measure::Allowed => "Allowed rate (Mbps)",
            Measure::RapidLow => "Lowest rate probed",
            Measure::RapidHigh => "Highest rate probed",
        }
    }
}

impl Quantity {
    /// Its unit, after a space.
    pub fn unit(&self) -> String {
        let axis = if self.divisor.is_none() { self.measure.axis() } else { "" };
        axis.split_once('(').map_or(String::new(), |(_, unit)| format!(" {}", unit.trim_end_matches(')')))
    }

    /// The names of its scenario, run, flow and span; empty where it names none.
    pub fn names(&self) -> [String; 4] {
        let flow = self.flow.map(|flow| format!("flow {flow}"));
        [self.scenario.clone(), self.run.clone(), flow, self.span.clone()].map(Option::unwrap_or_default)
    }

    /// Its value; infinite for what never happened.
    ///
    /// # Errors
    /// In a line, what it names that is not there.
    pub fn value(&self, artefact: &Artefact, scale: Scale, made: &[Made]) -> Result<f64, String> {
        let value = self.own_value(artefact, scale, made)?;
        match &self.divisor {
            Some(divisor) => Ok(value / divisor.value(artefact, scale, made)?),
            None => Ok(value),
        }
    }

    fn own_value(&self, artefact: &Artefact, scale: Scale, made: &[Made]) -> Result<f64, String> {
        if let Measure::RapidLow | Measure::RapidHigh = self.measure {
            return Ok(rapid_reach(self.measure, self.level.unwrap_or(0.0)));
        }
        let runs = match &self.scenario {
            None => made.first(),
            Some(name) => made.iter().find(|it| it.scenario == *name),
        };
        let runs = runs.ok_or_else(|| format!("no scenario `{}`", self.scenario.as_deref().unwrap_or("")))?;
        let run = match &self.run {
            None => runs.runs.first(),
            Some(name) => runs.runs.iter().find(|it| it.run.name == *name),
        };
        let run = run.ok_or_else(|| format!("no run `{}`", self.run.as_deref().unwrap_or("")))?;
        let span = match &self.span {
            None => None,
            Some(name) => Some(artefact.spans.get(name).ok_or_else(|| format!("no span `{name}`"))?.at(scale)),
        };
        if self.flow.is_some_and(|flow| flow == 0 || flow > run.outcome.flows.len()) {
            return Err(format!("no flow {}", self.flow.unwrap_or(0)));
        }
        let of = Of {
            span,
            flow: self.flow.map(|flow| flow - 1),
            level: self.level.unwrap_or(0.0),
            window: None,
            quantile: self.quantile.unwrap_or(MEDIAN),
        };
        let over = |&window: &f64| of_run(self.measure, run, Of { window: Some(window), ..of });
        // That of a window that does not fit is NaN, which is not the least.
        let least = self.windows.iter().map(over).reduce(f64::min);
        Ok(least.unwrap_or_else(|| of_run(self.measure, run, of)))
    }
}

/// Half of the values do not exceed it.
const MEDIAN: f64 = 0.5;

/// Of what in a run something is measured.
#[derive(Clone, Copy, Debug)]
pub struct Of {
    /// From when to when, in seconds; the whole run if none.
    pub span: Option<[f64; 2]>,
    /// Of which flow, from 0; of all if none.
    pub flow: Option<usize>,
    /// The level to reach.
    pub level: f64,
    /// Of each window of so many seconds.
    pub window: Option<f64>,
    /// Which of several values.
    pub quantile: f64,
}

impl Default for Of {
    fn default() -> Of {
        Of { span: None, flow: None, level: 0.0, window: None, quantile: MEDIAN }
    }
}

/// `measure` of `run`.
pub fn of_run(measure: Measure, run: &Finished, of: Of) -> f64 {
    let Of { flow, level, .. } = of;
    let outcome = &run.outcome;
    let [from, to] = of.span.unwrap_or([0.0, run.run.experiment.duration.as_secs()]);
    let from_sample = outcome.sampled.partition_point(|time| time.as_secs() <= from + 1e-9);
    let to_sample = outcome.sampled.partition_point(|time| time.as_secs() <= to + 1e-9);
    let samples = from_sample..to_sample.max(from_sample);
    let every = run.run.experiment.sample.as_secs();
    let flows =
        || outcome.flows.iter().enumerate().filter(|(i, _)| flow.is_none_or(|flow| flow == *i)).map(|(_, it)| it);
    // Bits of the flow, or of all, in each sampling interval.
    let bits: Vec<f64> =
        samples.clone().map(|i| 8.0 * flows().map(|it| it.series.delivered[i] as f64).sum::<f64>()).collect();
    let link = outcome.links.iter().reduce(|most, it| if it.utilization > most.utilization { it } else { most });
    let of_link = |value: &dyn Fn(&sim::LinkSeries, usize) -> f64| -> Vec<f64> {
        link.map_or(vec![], |link| samples.clone().map(|i| value(&link.series, i)).collect())
    };
    let width = |seconds: f64| ((seconds / every).round() as usize).max(1);
    let means = |seconds: f64| -> Vec<f64> {
        let width = width(seconds);
        bits.chunks_exact(width).map(|some| some.iter().sum::<f64>() / (width as f64 * every)).collect()
    };
    match measure {
        Measure::Throughput => bits.iter().sum::<f64>() / (to - from) / 1e6,
        Measure::Utilization => 100.0 * mean(&of_link(&|series, i| series.utilization[i])),
        Measure::MeanQueue => mean(&of_link(&|series, i| series.queue[i])),
        Measure::MaxQueue => of_link(&|series, i| series.max_queue[i] as f64).into_iter().fold(0.0, f64::max),
        Measure::Drops => of_link(&|series, i| series.drops[i].into()).iter().sum::<f64>() + 0.0,
        Measure::Allowed => {
            let last = link.and_then(|link| link.series.allowed.get(..to_sample)?.last().copied());
            last.map_or(f64::NAN, |rate| rate / 1e6)
        }
        Measure::Loss => {
            let packet = run.run.experiment.flows.get(flow.unwrap_or(0)).map_or(1.0, |it| it.packet.0 as f64);
            let arrived = bits.iter().sum::<f64>() / 8.0 / packet;
            let again: f64 =
                samples.clone().map(|i| flows().map(|it| f64::from(it.series.retransmitted[i])).sum::<f64>()).sum();
            100.0 * again / (arrived + again)
        }
        Measure::Jain => {
            let width = of.window.map_or(samples.len(), width);
            quantile(&mut over_windows(run, samples, width), of.quantile)
        }
        Measure::Response => {
            let span = (Time::ZERO + Duration::from_secs(from), Time::ZERO + Duration::from_secs(to));
            let mut seconds: Vec<f64> =
                outcome.workloads.iter().flat_map(|traffic| completion_seconds(traffic, span)).collect();
            1e3 * quantile(&mut seconds, of.quantile)
        }
        Measure::Variation => {
            let seconds = means(1.0);
            let middle = mean(&seconds);
            libm::sqrt(mean(&seconds.iter().map(|x| (x - middle) * (x - middle)).collect::<Vec<_>>())) / middle
        }
        Measure::ReachSeconds => {
            let width = width(1.0);
            let reached = |some: &[f64]| some.iter().sum::<f64>() >= level * 1e6 * width as f64 * every;
            bits.windows(width).position(reached).map_or(f64::INFINITY, |i| i as f64 * every)
        }
        Measure::FairSeconds => {
            let width = 50.0;
            let ends = (1..).map(|i| from + width * f64::from(i)).take_while(|end| *end <= to + 1e-9);
            let fair = |end: &f64| {
                of_run(Measure::Jain, run, Of { span: Some([end - width, *end]), flow, ..Of::default() }) >= level
            };
            ends.into_iter().find(fair).map_or(f64::INFINITY, |end| end - from)
        }
        Measure::AcquireRtts => {
            let i = flow.unwrap_or(0);
            let Some(one) = run.run.experiment.flows.get(i) else { return f64::NAN };
            let rtt = one.rtt.as_secs();
            if of.span.is_none() {
                return outcome.flows[i].acquired.map_or(f64::INFINITY, |time| time.as_secs() / rtt);
            }
            let then = Time::ZERO + Duration::from_secs(to);
            let links = run.run.experiment.links.iter();
            let spare = links.map(|it| it.rate_at(then).as_bps()).fold(f64::INFINITY, f64::min);
            let width = width(10.0 * rtt);
            let mut sum: f64 = bits.iter().take(width).sum();
            for first in 0..bits.len().saturating_sub(width) {
                if sum >= 0.95 * spare * width as f64 * every {
                    return first as f64 * every / rtt;
                }
                sum += bits[first + width] - bits[first];
            }
            f64::INFINITY
        }
        Measure::RapidLow | Measure::RapidHigh => rapid_reach(measure, level),
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// How far RAPID-2009's streams of 30 packets and m = 1.07 reach: in each round trip the highest rate becomes the next average.
fn rapid_reach(measure: Measure, rtts: f64) -> f64 {
    let (low, high) = Stream::new(0, 30, 1.07, Rate::from_mbps(1.0), Layout::AverageFirst).range();
    let (low, high) = (low.as_mbps(), high.as_mbps());
    libm::pow(high, rtts) * if measure == Measure::RapidLow { low } else { high }
}
