//! How many packets of a flow wait in the buffers on its way.
//!
//! The simulator counts the packets of a queue, and not those of each flow in it. Little's law gives these: the mean
//! number of a flow's packets in all queues is the rate at which they arrive times the mean time that one of them
//! waits. It holds where nothing but queues delays a packet beyond the round-trip time of the empty path: on links that
//! do not change, for hosts that acknowledge each packet at once.

use super::definition::Measure;
use super::excerpt::Excerpt;
use super::throughput::{over_windows, relative_deviation};
use experiment::{Experiment, Flow, FlowSeries};

pub(super) const ALL: &[Measure] = &[
    Measure::of_run("buffered", "In buffers (packets)", |it| {
        packet_seconds(it).iter().sum::<f64>() / (it.to - it.from)
    }),
    Measure::of_run("buffered-variation", "Variation of the packets in buffers", |it| {
        relative_deviation(&over_windows(it, &packet_seconds(it)))
    }),
];

/// For how many seconds the flows' packets that arrived in each sample had waited, all of them together.
fn packet_seconds(it: &Excerpt) -> Vec<f64> {
    let experiment = &it.run.run.experiment;
    let flows = || it.flow_outcomes().iter().zip(&experiment.flows[it.flows.clone()]);
    let empty: Vec<f64> = flows().map(|(_, flow)| empty_round_trip(experiment, flow)).collect();
    let of_flow = |i: usize, series: &FlowSeries, flow: &Flow, empty: f64| {
        // Without an acknowledgment in the sample, its delay is not a number, and the sample counts as without a queue.
        let waited = series.rtt[i] - empty;
        if waited > 0.0 { waited * series.delivered[i] as f64 / flow.packet.0 as f64 } else { 0.0 }
    };
    let of_sample =
        |i| flows().zip(&empty).map(|((outcome, flow), &empty)| of_flow(i, &outcome.series, flow, empty)).sum();
    it.samples.clone().map(of_sample).collect()
}

/// The round-trip time of a full packet of `flow` that finds all queues empty, in seconds: the propagation delays, and
/// the transmission of the packet and of its acknowledgment on each link.
fn empty_round_trip(experiment: &Experiment, flow: &Flow) -> f64 {
    let transmission = |back: bool, bits: f64| {
        let directions = flow.route.directions(back).into_iter();
        directions.map(|direction| bits / direction.setup(&experiment.links).capacity().as_bps()).sum::<f64>()
    };
    let access = flow.access.map_or(0.0, |rate| flow.packet.as_bits() / rate.as_bps());
    flow.rtt.as_secs()
        + access
        + transmission(false, flow.packet.as_bits())
        + transmission(true, flow.ack_size.as_bits())
}
