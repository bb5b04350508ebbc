//! How soon a flow gets what it can.

use super::definition::Measure;
use super::excerpt::Excerpt;
use control::{Duration, Phase, Time};
use experiment::{ACQUIRED_RTTS, ACQUIRED_SHARE, Flow, spare_capacity};

pub(super) const ALL: &[Measure] = &[
    Measure::of_run("acquire-rtts", "Acquired after (RTTs)", acquire_rtts),
    Measure::of_run("settle-rtts", "Settled after (RTTs)", settle_rtts),
    Measure::of_run("slow-start-rtts", "Slow start (RTTs)", slow_start_rtts),
    Measure::of_run("slow-start-streams", "Streams of slow start", slow_start_streams),
    Measure::of_run("reach-seconds", "Reached after (s)", reach_seconds),
    Measure::of_run("delivered-seconds", "Delivered after (s)", delivered_seconds).ranging_widely(),
];

/// Round trips from the flow's start, or from the beginning of the span, to the first time from which its mean
/// throughput over the next 10 round trips is at least 95 % of the spare capacity.
fn acquire_rtts(it: &Excerpt) -> f64 {
    let Some(flow) = it.run.run.experiment.flows.get(it.flow()) else { return f64::NAN };
    if it.scope.span.is_none() {
        let acquired = it.run.outcome.flows[it.flow()].acquired;
        return acquired.map_or(f64::INFINITY, |time| time.as_secs() / flow.rtt.as_secs());
    }
    let windows = Windows::new(it, flow);
    windows.rtts(windows.enough.iter().position(|&enough| enough))
}

/// Round trips from the beginning of the span to the time from which the flow's mean throughput over any 10 round trips
/// is at least 95 % of the spare capacity, until the end of the span.
fn settle_rtts(it: &Excerpt) -> f64 {
    let Some(flow) = it.run.run.experiment.flows.get(it.flow()) else { return f64::NAN };
    let windows = Windows::new(it, flow);
    windows.rtts(Some(windows.enough.iter().rposition(|&enough| !enough).map_or(0, |last| last + 1)))
}

/// The windows of 10 round trips that begin at each sample of a span and end within it.
struct Windows {
    /// Whether the throughput in the window is at least 95 % of the capacity that is spare at the end of the span.
    enough: Vec<bool>,
    /// The sampling interval and the flow's round-trip time, in seconds.
    every: f64,
    rtt: f64,
}

impl Windows {
    fn new(it: &Excerpt, flow: &Flow) -> Windows {
        let (every, rtt) = (it.sampling_interval(), flow.rtt.as_secs());
        let end = Time::ZERO + Duration::from_secs(it.to);
        let spare = spare_capacity(&it.run.run.experiment, flow);
        let spare =
            spare.iter().take_while(|(since, _)| *since <= end).last().map_or(f64::NAN, |(_, rate)| rate.as_bps());
        let enough = |bits: &[f64]| bits.iter().sum::<f64>() >= ACQUIRED_SHARE * spare * bits.len() as f64 * every;
        let width = it.samples_in(ACQUIRED_RTTS as f64 * rtt);
        Windows { enough: it.bits().windows(width).map(enough).collect(), every, rtt }
    }

    /// When window `number` begins, in round trips from the beginning of the span; infinite if there is no such window.
    fn rtts(&self, number: Option<usize>) -> f64 {
        number
            .filter(|number| *number < self.enough.len())
            .map_or(f64::INFINITY, |number| number as f64 * self.every / self.rtt)
    }
}

/// Round trips from the flow's start until it has left slow start for the first time.
fn slow_start_rtts(it: &Excerpt) -> f64 {
    let outcome = &it.run.outcome;
    let Some(flow) = it.run.run.experiment.flows.get(it.flow()) else { return f64::NAN };
    let slow = |phase: &Option<Phase>| phase.is_none_or(|phase| phase == Phase::SlowStart);
    let end = outcome.flows[it.flow()].series.phase.iter().position(|phase| !slow(phase));
    end.map_or(f64::INFINITY, |end| outcome.sampled[end].since(flow.start).as_secs() / flow.rtt.as_secs())
}

/// How many streams a flow of RAPID sends until it has left slow start for the first time: one in a round trip. Each
/// has another mean rate than the one before.
fn slow_start_streams(it: &Excerpt) -> f64 {
    let series = &it.run.outcome.flows[it.flow()].series;
    let end = series.phase.iter().position(|phase| phase.is_some_and(|phase| phase != Phase::SlowStart));
    let Some(end) = end else { return f64::INFINITY };
    let mut rates: Vec<u64> = series.rate[..end].iter().filter(|x| x.is_finite()).map(|x| x.to_bits()).collect();
    rates.dedup();
    rates.len() as f64
}

/// Seconds from the beginning of the span until the mean throughput over a second, or over a window, is at least
/// `level` Mbps.
fn reach_seconds(it: &Excerpt) -> f64 {
    let every = it.sampling_interval();
    let width = it.samples_in(it.scope.window.unwrap_or(1.0));
    let reached = |bits: &[f64]| bits.iter().sum::<f64>() >= it.scope.level * 1e6 * width as f64 * every;
    it.bits().windows(width).position(reached).map_or(f64::INFINITY, |i| i as f64 * every)
}

/// Seconds from the beginning of the span until the flows have delivered `level` bytes in it.
fn delivered_seconds(it: &Excerpt) -> f64 {
    let delivered = it.bits().into_iter().scan(0.0, |sum, bits| {
        *sum += bits / 8.0;
        Some(*sum)
    });
    let reached = delivered.take_while(|bytes| *bytes < it.scope.level).count();
    if reached < it.samples.len() { (reached + 1) as f64 * it.sampling_interval() } else { f64::INFINITY }
}
