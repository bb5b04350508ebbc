//! The busiest link: its use, queue, drops and router.

use super::definition::Measure;
use super::excerpt::Excerpt;
use experiment::{mean, quantile};

pub(super) const ALL: &[Measure] = &[
    Measure::of_run("utilization", "Link use (%)", utilization),
    Measure::of_run("mean-queue", "Mean queue (packets)", mean_queue).ranging_widely(),
    Measure::of_run("max-queue", "Longest queue (packets)", max_queue).ranging_widely(),
    Measure::of_run("max-growth", "Largest allowed growth (packets)", max_growth).ranging_widely(),
    Measure::of_run("queueing-delay", "Queueing delay (ms)", queueing_delay).ranging_widely(),
    Measure::of_run("drops", "Drops (packets)", drops).ranging_widely(),
    Measure::of_run("drop-share", "Dropped (%)", drop_share).ranging_widely(),
    Measure::of_run("allowed", "Allowed rate (Mbps)", allowed),
];

/// Share of the span in which the link transmits, in per cent; with a window, the quantile of its value over
/// consecutive windows.
fn utilization(it: &Excerpt) -> f64 {
    100.0 * over_windows(it, &it.of_busiest_link(|series, i| series.utilization[i]))
}

/// Mean number of packets that wait, over the span; with a window, the quantile of its value over consecutive windows.
fn mean_queue(it: &Excerpt) -> f64 {
    over_windows(it, &it.of_busiest_link(|series, i| series.queue[i]))
}

/// The mean of `samples`; with a window, the quantile of the means of consecutive windows.
fn over_windows(it: &Excerpt, samples: &[f64]) -> f64 {
    let Some(window) = it.scope.window else { return mean(samples) };
    let mut means: Vec<f64> = samples.chunks_exact(it.samples_in(window)).map(mean).collect();
    quantile(&mut means, it.scope.quantile)
}

/// The most packets that wait at any time of the span.
fn max_queue(it: &Excerpt) -> f64 {
    it.of_busiest_link(|series, i| series.max_queue[i] as f64).into_iter().fold(0.0, f64::max)
}

/// The quantile of the queueing delay, sample by sample, in ms: how long the link takes for the packets that wait on
/// average if all of them are full. Samples without capacity do not count.
fn queueing_delay(it: &Excerpt) -> f64 {
    let bits = packet_bits(it);
    let waiting = it.of_busiest_link(|series, i| series.queue[i]).into_iter();
    let delays = waiting.zip(capacities(it)).map(|(packets, rate)| 1e3 * packets * bits / rate);
    quantile(&mut delays.filter(|delay| delay.is_finite()).collect::<Vec<_>>(), it.scope.quantile)
}

/// The size of full packets of the first flow, or of the first traffic if there is no flow, in bits.
fn packet_bits(it: &Excerpt) -> f64 {
    let experiment = &it.run.run.experiment;
    let traffic = experiment.workloads.first().map(|workload| workload.packet);
    let packet = experiment.flows.first().map(|flow| flow.packet).or(traffic);
    packet.map_or(f64::NAN, |packet| packet.as_bits())
}

/// The capacity of the busiest link in each sample of the span, in bits per second.
fn capacities(it: &Excerpt) -> Vec<f64> {
    let experiment = &it.run.run.experiment;
    let Some(busiest) = it.busiest_link() else { return vec![] };
    let listed = experiment.listed_directions().into_iter().zip(&it.run.outcome.links);
    let Some((direction, _)) = listed.into_iter().find(|(_, link)| std::ptr::eq(*link, busiest)) else { return vec![] };
    let setup = direction.setup(&experiment.links);
    it.samples.clone().map(|i| setup.capacity_at(it.run.outcome.sampled[i]).as_bps()).collect()
}

/// Packets that the queue drops over the span, in per cent of those that it drops or the link transmits, all of them
/// full.
fn drop_share(it: &Excerpt) -> f64 {
    let bits = packet_bits(it);
    let busy = it.of_busiest_link(|series, i| series.utilization[i]).into_iter();
    let sent: f64 = busy.zip(capacities(it)).map(|(busy, rate)| busy * rate * it.sampling_interval() / bits).sum();
    let drops = drops(it);
    100.0 * drops / (drops + sent)
}

/// By how many packets the router lets traffic grow in an interval, at most, in the span; NaN without a router that
/// limits that.
fn max_growth(it: &Excerpt) -> f64 {
    let packet = it.run.run.experiment.flows.first().map_or(f64::NAN, |flow| flow.packet.0 as f64);
    it.of_busiest_link(|series, i| series.growth[i] / packet).into_iter().fold(f64::NAN, f64::max)
}

/// Packets that the queue drops over the span.
fn drops(it: &Excerpt) -> f64 {
    // A sum of nothing is -0.0.
    it.of_busiest_link(|series, i| series.drops[i].into()).iter().sum::<f64>() + 0.0
}

/// The rate that the router allows each flow at the end of the span, in Mbps; NaN without a router that says so.
fn allowed(it: &Excerpt) -> f64 {
    let allowed = it.busiest_link().and_then(|link| link.series.allowed.get(..it.samples.end)?.last().copied());
    allowed.map_or(f64::NAN, |rate| rate / 1e6)
}
