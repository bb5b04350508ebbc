//! What claims measure. Few and general: an artefact has none of its own.

use super::Made;
use super::artefact::{Artefact, Quantity, Scale};
use super::curve::Curve;
use crate::results::{completion_seconds, over_windows, synchronization_ratio};
use crate::{processor_sharing, theory};
use control::pstream::{Layout, SlowStart, Stream};
use control::rapid::Rapid2009;
use control::{Duration, Phase, Rate, Time};
use experiment::Finished;
use experiment::Transfer;
use experiment::quantile;
use serde::Deserialize;

/// What to measure of a run. "Over the span" is from its first to its second time; of one flow, or of all together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// Round trips from the flow's start, or from the beginning of the span, to the first time from which its mean throughput
    /// over the next 10 is at least 95 % of the spare capacity.
    AcquireRtts,
    /// Round trips from the flow's start, or from the beginning of the span, to the time from which its mean throughput over any
    /// 10 is at least 95 % of the spare capacity, to the end of the span.
    SettleRtts,
    /// Round trips from the flow's start until it has left slow start for the first time.
    SlowStartRtts,
    /// Goodput over the span.
    Throughput,
    /// The least that a flow which is active throughout the span gets over it, of an equal share.
    LeastShare,
    /// The quantile of the flow's round-trip times, sample by sample, over the span; of all flows, that of their means.
    Rtt,
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
    /// The same of all the flows, also of those that have not started.
    JainOfAll,
    /// How long transfers of connections that come and go take: the quantile of those that begin in the span and are completed.
    Response,
    /// Standard deviation of the flow's throughput from second to second over its mean, over the span.
    Variation,
    /// From the beginning of the span until the flow's mean throughput over a second is at least `level` Mbps.
    ReachSeconds,
    /// From the beginning of the span until Jain's index of all the flows over 50 s is at least `level`, and stays there.
    FairSeconds,
    /// What the flow, or all flows, estimate the available bandwidth to be, over the span: a quantile.
    Available,
    /// What the router allows each flow at the end of the span.
    Allowed,
    /// The lowest rate that RAPID-2009's stream probes for after `level` round trips, as a multiple of its rate before. No run.
    RapidLow,
    /// The highest one.
    RapidHigh,
    /// The highest rate, in Mbps, that RAPID-2009's slow start has probed for after `level` round trips. No run.
    RapidSlowStart,
    /// The value of a curve at `level`. No run.
    Curve,
    /// How steep a curve is there on log scales: the d of c/x^d. No run.
    Steepness,
    /// The largest argument at which two curves cross. No run.
    Crossing,
    /// Their value there. No run.
    CrossingHeight,
    /// Goodput over the span as a share of the narrowest link's rate.
    Share,
    /// Of the intervals in which flows lose, the share in which at least `level` of them do (BIC-2004, section III).
    Synchronization,
    /// How many different phases the flow is in, over the span.
    Phases,
    /// Mean time that transfers take whose size is one of `sizes` and that begin in the span.
    Completion,
    /// The same of processor sharing, for the same arrivals.
    CompletionIdeal,
    /// What connections that begin in the span have to send, as a share of the narrowest link's rate.
    Offered,
    /// Mean window of the run's only flow over a curve's value at its loss event rate.
    WindowOverCurve,
}

impl Measure {
    /// Whether it differs between protocols by powers of ten.
    pub fn ranges_widely(self) -> bool {
        matches!(self, Measure::MeanQueue | Measure::MaxQueue | Measure::Drops | Measure::Loss | Measure::Rtt)
    }

    /// What it is called, with its unit in brackets.
    pub fn axis(self) -> &'static str {
        match self {
            Measure::AcquireRtts => "Acquired after (RTTs)",
            Measure::SettleRtts => "Settled after (RTTs)",
            Measure::SlowStartRtts => "Slow start (RTTs)",
            Measure::Throughput => "Goodput (Mbps)",
            Measure::LeastShare => "Least share of an equal one (%)",
            Measure::Rtt => "RTT (ms)",
            Measure::Utilization => "Link use (%)",
            Measure::MeanQueue => "Mean queue (packets)",
            Measure::MaxQueue => "Longest queue (packets)",
            Measure::Drops => "Drops (packets)",
            Measure::Loss => "Loss (%)",
            Measure::Jain | Measure::JainOfAll => "Jain index",
            Measure::Response => "Response time (ms)",
            Measure::Variation => "Variation of throughput",
            Measure::ReachSeconds => "Reached after (s)",
            Measure::FairSeconds => "Fair after (s)",
            Measure::Available => "Estimate (Mbps)",
            Measure::Allowed => "Allowed rate (Mbps)",
            Measure::RapidLow => "Lowest rate probed",
            Measure::RapidHigh => "Highest rate probed",
            Measure::RapidSlowStart => "Highest rate probed (Mbps)",
            Measure::Curve => "Value",
            Measure::Steepness => "Steepness",
            Measure::Crossing => "Crossing",
            Measure::CrossingHeight => "Value at the crossing",
            Measure::Share => "Share of the link (%)",
            Measure::Synchronization => "Synchronisation ratio",
            Measure::Phases => "Phases",
            Measure::Completion => "Mean completion time (ms)",
            Measure::CompletionIdeal => "Processor sharing (ms)",
            Measure::Offered => "Offered load (%)",
            Measure::WindowOverCurve => "Mean window over the curve's",
        }
    }
}

impl Quantity {
    /// Its unit, after a space.
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
        let run = self.run.as_ref().map(ToString::to_string);
        let named = [&self.scenario, &run, &flow, &self.span, &self.curve, &self.with, &level, &measure];
        named.map(|name| name.clone().unwrap_or_default()).to_vec()
    }

    /// Its value; infinite for what never happened.
    ///
    /// # Errors
    /// In a line, what it names that is not there.
    pub fn value(&self, artefact: &Artefact, scale: Scale, made: &[Made]) -> Result<f64, String> {
        let of = |other: &Quantity| other.value(artefact, scale, made);
        let value = self.own_value(artefact, scale, made)?;
        let above = value - self.base.as_deref().map_or(Ok(0.0), of)?;
        Ok(above / self.divisor.as_deref().map_or(Ok(1.0), of)?)
    }

    /// The curve of this name.
    fn curve<'a>(artefact: &'a Artefact, name: Option<&String>) -> Result<&'a Curve, String> {
        let found = artefact.curves.iter().find(|it| Some(&it.name) == name);
        found.ok_or_else(|| format!("no curve `{}`", name.map_or("", String::as_str)))
    }

    fn of_curves(&self, artefact: &Artefact) -> Result<f64, String> {
        let curve = Quantity::curve(artefact, self.curve.as_ref())?;
        let level = self.level.unwrap_or(f64::NAN);
        if let Measure::Curve = self.measure {
            return Ok(curve.at(level));
        }
        if let Measure::Steepness = self.measure {
            return Ok(theory::steepness(|x| curve.at(x), level));
        }
        let with = Quantity::curve(artefact, self.with.as_ref())?;
        let [from, to] = artefact.charts.first().map_or(RATES, |chart| chart.range);
        let x = theory::crossing(|x| curve.at(x), |x| with.at(x), from..to);
        Ok(x.map_or(f64::INFINITY, |x| if self.measure == Measure::Crossing { x } else { with.at(x) }))
    }

    fn own_value(&self, artefact: &Artefact, scale: Scale, made: &[Made]) -> Result<f64, String> {
        if let Measure::RapidLow | Measure::RapidHigh | Measure::RapidSlowStart = self.measure {
            return Ok(rapid_reach(self.measure, self.level.unwrap_or(0.0)));
        }
        if let Measure::Curve | Measure::Steepness | Measure::Crossing | Measure::CrossingHeight = self.measure {
            return self.of_curves(artefact);
        }
        let runs = match &self.scenario {
            None => made.first(),
            Some(name) => made.iter().find(|it| it.scenario == *name),
        };
        let runs = runs.ok_or_else(|| format!("no scenario `{}`", self.scenario.as_deref().unwrap_or("")))?;
        let run = match &self.run {
            None => runs.runs.first().ok_or_else(|| format!("scenario `{}` has no runs", runs.scenario))?,
            Some(selector) => selector.find(&runs.runs, |it| &it.run.identity)?,
        };
        self.of_finished(artefact, scale, None, run)
    }

    /// The same of a given run, whatever run it names; and over the given span, if there is one, in seconds.
    ///
    /// # Errors
    /// See [`value`](Quantity::value).
    pub fn of_finished(
        &self,
        artefact: &Artefact,
        scale: Scale,
        given: Option<[f64; 2]>,
        run: &Finished,
    ) -> Result<f64, String> {
        let span = match &self.span {
            _ if given.is_some() => given,
            None => None,
            Some(name) => Some(artefact.spans.get(name).ok_or_else(|| format!("no span `{name}`"))?.at(scale)),
        };
        let flows = self.flow.map(|flow| [flow, flow]).or(self.flows);
        if let Some([first, last]) =
            flows.filter(|[first, last]| *first == 0 || first > last || *last > run.outcome.flows.len())
        {
            return Err(if first == last { format!("no flow {first}") } else { format!("no flows {first} to {last}") });
        }
        if let Measure::WindowOverCurve = self.measure {
            let (p, window) = response(run);
            return Ok(window / Quantity::curve(artefact, self.curve.as_ref())?.bounded(&artefact.curves, p));
        }
        let of = Of {
            span,
            flows: flows.map(|flows| flows.map(|flow| flow - 1)),
            traffic: self.traffic,
            sizes: self.sizes.unwrap_or([0.0, f64::INFINITY]),
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
    /// From which flow to which, from 0; of all if none.
    pub flows: Option<[usize; 2]>,
    /// And of connections that come and go, what is sent forward.
    pub traffic: bool,
    /// Of transfers from the first size on and below the second, in bytes.
    pub sizes: [f64; 2],
    /// The level to reach.
    pub level: f64,
    /// Of each window of so many seconds.
    pub window: Option<f64>,
    /// Which of several values.
    pub quantile: f64,
}

impl Default for Of {
    fn default() -> Of {
        let sizes = [0.0, f64::INFINITY];
        Of { span: None, flows: None, traffic: false, sizes, level: 0.0, window: None, quantile: MEDIAN }
    }
}

/// `measure` of `run`.
pub fn of_run(measure: Measure, run: &Finished, of: Of) -> f64 {
    let level = of.level;
    let outcome = &run.outcome;
    let flow = of.flows.map_or(0, |flows| flows[0]);
    let range = of.flows.map_or(0..outcome.flows.len(), |[first, last]| first..last + 1);
    let [from, to] = of.span.unwrap_or([0.0, run.run.experiment.duration.as_secs()]);
    let from_sample = outcome.sampled.partition_point(|time| time.as_secs() <= from + 1e-9);
    let to_sample = outcome.sampled.partition_point(|time| time.as_secs() <= to + 1e-9);
    let samples = from_sample..to_sample.max(from_sample);
    let every = run.run.experiment.sample.as_secs();
    let flows = &outcome.flows[range.clone()];
    let workloads = if of.traffic { &outcome.workloads[..] } else { &[] };
    // What goes forward is the initiators' on a route that is crossed forward.
    let forward = |i: usize| usize::from(run.run.experiment.workloads[i].route.reverse);
    let of_workloads = |at: usize| workloads.iter().enumerate().map(move |(i, it)| it.series.delivered[forward(i)][at]);
    // Bits of the flow, or of all, in each sampling interval.
    let bytes = |i: usize| flows.iter().map(|it| it.series.delivered[i]).chain(of_workloads(i)).sum::<u64>();
    let bits: Vec<f64> = samples.clone().map(|i| 8.0 * bytes(i) as f64).collect();
    let narrowest = || run.run.experiment.links.iter().map(|it| it.rate.as_bps()).fold(f64::INFINITY, f64::min);
    let link = outcome.links.iter().reduce(|most, it| if it.utilization > most.utilization { it } else { most });
    let of_link = |value: &dyn Fn(&experiment::LinkSeries, usize) -> f64| -> Vec<f64> {
        link.map_or(vec![], |link| samples.clone().map(|i| value(&link.series, i)).collect())
    };
    let width = |seconds: f64| ((seconds / every).round() as usize).max(1);
    let means = |seconds: f64| -> Vec<f64> {
        let width = width(seconds);
        bits.chunks_exact(width).map(|some| some.iter().sum::<f64>() / (width as f64 * every)).collect()
    };
    match measure {
        Measure::Share => 100.0 * bits.iter().sum::<f64>() / (to - from) / narrowest(),
        Measure::Synchronization => synchronization_ratio(run, range, level, [from, to]),
        Measure::Phases => {
            let seen = flows.iter().flat_map(|it| &it.series.phase[samples.clone()]).flatten();
            seen.collect::<std::collections::HashSet<_>>().len() as f64
        }
        Measure::Completion => {
            1e3 * completion(run, of.sizes, [from, to], |_, transfer| transfer.completed.map(Duration::as_secs))
        }
        Measure::CompletionIdeal => {
            let ideal = processor_sharing::ideal(run).unwrap_or_default();
            1e3 * completion(run, of.sizes, [from, to], |i, transfer| transfer.completed.and(ideal.get(i).copied()))
        }
        Measure::Offered => {
            let all = outcome.workloads.iter().flat_map(|it| &it.transfers).filter(|it| begins(it, [from, to]));
            100.0 * all.map(|it| (it.sent[0] + it.sent[1]).as_bits()).sum::<f64>() / (to - from) / narrowest()
        }
        Measure::Throughput => bits.iter().sum::<f64>() / (to - from) / 1e6,
        Measure::LeastShare => {
            let active = |it: &&experiment::FlowOutcome| it.series.phase[samples.clone()].iter().all(Option::is_some);
            let got = |it: &experiment::FlowOutcome| it.series.delivered[samples.clone()].iter().sum::<u64>() as f64;
            let shares: Vec<f64> = flows.iter().filter(active).map(got).collect();
            100.0 * shares.iter().copied().fold(f64::INFINITY, f64::min) / mean(&shares)
        }
        Measure::JainOfAll => {
            let got = |it: &experiment::FlowOutcome| it.series.delivered[samples.clone()].iter().sum::<u64>() as f64;
            crate::results::jain(&flows.iter().map(got).collect::<Vec<_>>())
        }
        Measure::Rtt => {
            let of_sample = |i: usize| {
                let known: Vec<f64> = flows.iter().map(|it| it.series.rtt[i]).filter(|rtt| rtt.is_finite()).collect();
                1e3 * mean(&known)
            };
            let mut rtts: Vec<f64> = samples.clone().map(of_sample).filter(|rtt| rtt.is_finite()).collect();
            quantile(&mut rtts, of.quantile)
        }
        Measure::Utilization => 100.0 * mean(&of_link(&|series, i| series.utilization[i])),
        Measure::MeanQueue => mean(&of_link(&|series, i| series.queue[i])),
        Measure::MaxQueue => of_link(&|series, i| series.max_queue[i] as f64).into_iter().fold(0.0, f64::max),
        Measure::Drops => of_link(&|series, i| series.drops[i].into()).iter().sum::<f64>() + 0.0,
        Measure::Available => {
            let estimates = flows.iter().flat_map(|it| &it.series.available[samples.clone()]).filter(|x| x.is_finite());
            quantile(&mut estimates.copied().collect::<Vec<_>>(), of.quantile) / 1e6
        }
        Measure::Allowed => {
            let last = link.and_then(|link| link.series.allowed.get(..to_sample)?.last().copied());
            last.map_or(f64::NAN, |rate| rate / 1e6)
        }
        Measure::Loss => {
            let packet = run.run.experiment.flows.get(flow).map_or(1.0, |it| it.packet.0 as f64);
            let arrived = bits.iter().sum::<f64>() / 8.0 / packet;
            let again: f64 = samples
                .clone()
                .map(|i| flows.iter().map(|it| f64::from(it.series.retransmitted[i])).sum::<f64>())
                .sum();
            100.0 * again / (arrived + again)
        }
        Measure::Jain => {
            let width = of.window.map_or(samples.len(), width);
            quantile(&mut over_windows(run, range, samples, width), of.quantile)
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
            let ends: Vec<f64> =
                (1..).map(|i| from + width * f64::from(i)).take_while(|end| *end <= to + 1e-9).collect();
            let fair = |end: &f64| {
                of_run(
                    Measure::JainOfAll,
                    run,
                    Of { span: Some([end - width, *end]), flows: of.flows, ..Of::default() },
                ) >= level
            };
            let first = ends.iter().rposition(|end| !fair(end)).map_or(0, |last| last + 1);
            ends.get(first).map_or(f64::INFINITY, |end| end - from)
        }
        Measure::AcquireRtts | Measure::SettleRtts => {
            let Some(one) = run.run.experiment.flows.get(flow) else { return f64::NAN };
            let rtt = one.rtt.as_secs();
            if of.span.is_none() && measure == Measure::AcquireRtts {
                return outcome.flows[flow].acquired.map_or(f64::INFINITY, |time| time.as_secs() / rtt);
            }
            let then = Time::ZERO + Duration::from_secs(to);
            let links = run.run.experiment.links.iter();
            let spare = links.map(|it| it.rate_at(then).as_bps()).fold(f64::INFINITY, f64::min);
            let enough = |some: &[f64]| some.iter().sum::<f64>() >= 0.95 * spare * some.len() as f64 * every;
            let mut all = bits.windows(width(10.0 * rtt));
            let first = match measure {
                Measure::AcquireRtts => all.position(enough),
                _ => all.rposition(|some| !enough(some)).map_or(Some(0), |last| Some(last + 1)),
            };
            let windows = (bits.len() + 1).saturating_sub(width(10.0 * rtt));
            first.filter(|first| *first < windows).map_or(f64::INFINITY, |first| first as f64 * every / rtt)
        }
        Measure::SlowStartRtts => {
            let Some(one) = run.run.experiment.flows.get(flow) else { return f64::NAN };
            let slow = |phase: &Option<Phase>| phase.is_none_or(|phase| phase == Phase::SlowStart);
            let end = outcome.flows[flow].series.phase.iter().position(|phase| !slow(phase));
            end.map_or(f64::INFINITY, |end| outcome.sampled[end].since(one.start).as_secs() / one.rtt.as_secs())
        }
        Measure::RapidLow | Measure::RapidHigh | Measure::RapidSlowStart => rapid_reach(measure, level),
        Measure::WindowOverCurve => f64::NAN,
        Measure::Curve | Measure::Steepness | Measure::Crossing | Measure::CrossingHeight => f64::NAN,
    }
}

/// Loss event rates over which curves are looked for, if no chart says so.
const RATES: [f64; 2] = [1e-9, 1e-1];

/// Of a run's first flow, while it is active and after the first quarter of that: loss events per packet that arrives outside
/// recovery, and the mean window. A flow that repairs a loss does not grow, and closed forms let it grow on every packet.
pub fn response(run: &Finished) -> (f64, f64) {
    let Some(flow) = run.outcome.flows.first() else { return (f64::NAN, f64::NAN) };
    let active: Vec<usize> = (0..flow.series.phase.len()).filter(|&i| flow.series.phase[i].is_some()).collect();
    let settled = &active[active.len() / 4..];
    let windows: Vec<f64> = settled.iter().map(|&i| flow.series.window[i]).filter(|w| w.is_finite()).collect();
    let all = || active.iter().map(|&i| (flow.series.delivered[i] as f64, flow.series.phase[i]));
    let growing: f64 = all().filter(|(_, phase)| *phase != Some(Phase::Recovery)).map(|(bytes, _)| bytes).sum();
    let packet = run.run.experiment.flows[0].packet.0 as f64;
    (flow.loss_events as f64 * packet / growing, mean(&windows))
}

/// Whether a transfer begins in a span.
fn begins(transfer: &Transfer, [from, to]: [f64; 2]) -> bool {
    (from..to).contains(&transfer.start.as_secs())
}

/// The mean of `seconds` over the transfers of the run's first traffic whose size is one of `sizes` and that begin in `span`, where it is
/// known; their numbers count from 0.
fn completion(
    run: &Finished,
    [least, most]: [f64; 2],
    span: [f64; 2],
    seconds: impl Fn(usize, &Transfer) -> Option<f64>,
) -> f64 {
    let transfers = run.outcome.workloads.first().map_or(&[][..], |it| &it.transfers);
    let sized = |it: &Transfer| (least..most).contains(&((it.sent[0] + it.sent[1]).0 as f64));
    let chosen = transfers.iter().enumerate().filter(|(_, it)| sized(it) && begins(it, span));
    mean(&chosen.filter_map(|(i, it)| seconds(i, it)).collect::<Vec<_>>())
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// How far RAPID-2009's streams of 30 packets and m = 1.07 reach: in each round trip the highest rate becomes the next average, or
/// in slow start the lowest.
fn rapid_reach(measure: Measure, rtts: f64) -> f64 {
    if measure == Measure::RapidSlowStart {
        let SlowStart { first, longest, spread } = SlowStart::RAPID_2009;
        let lengths = std::iter::successors(Some(first), |len| Some((2 * len).min(longest)));
        let top = |first: Rate, len: u16| Stream::starting_at(0, len, spread, first).range().1;
        return lengths.take(rtts as usize).fold(Rapid2009::default().0.initial_rate, top).as_mbps();
    }
    let (low, high) = Stream::new(0, 30, 1.07, Rate::from_mbps(1.0), Layout::AverageFirst).range();
    let (low, high) = (low.as_mbps(), high.as_mbps());
    libm::pow(high, rtts) * if measure == Measure::RapidLow { low } else { high }
}
