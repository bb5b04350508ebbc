//! Real runs beside the simulated runs of the same scenarios.

use super::run_summary::RunSummary;
use experiment::{EmulatorSummary, Place};
use serde::Serialize;

/// Throughputs agree if they differ by no more than this share of the simulated one.
const THROUGHPUT: f64 = 0.1;
/// Mean queues agree if they differ by no more than this factor, or by less than a packet.
const QUEUE: f64 = 2.0;

/// A run that was simulated and also made for real. Of a pair, the first value is the simulated one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Agreement {
    /// The name of the simulated run.
    pub name: String,
    /// Pair: the sum of the flows' goodput, in Mbps.
    pub throughput_mbps: [f64; 2],
    /// Whether the throughputs differ by no more than 10 % of the simulated one.
    pub throughput_agrees: bool,
    /// Pair: the mean queue of the busiest link.
    pub mean_queue_packets: [f64; 2],
    /// Whether the queues differ by no more than a factor of 2, or by less than a packet.
    pub queue_agrees: bool,
    /// Whether the emulator kept up in the real run, and the host had processor time left.
    pub trusted: bool,
}

/// The pairs among `runs` of a simulated and a real run with the same identity otherwise. A simulated run in which
/// nothing was delivered is compared with none: there is no share of nothing.
pub fn agreement(runs: &[RunSummary]) -> Vec<Agreement> {
    let pair = |real: &RunSummary| {
        if real.identity.place.is_simulated() {
            return None;
        }
        let simulated = real.identity.in_place(Place::Simulated);
        let simulated = runs.iter().find(|run| run.identity == simulated)?;
        let queue = |run: &RunSummary| run.busiest_link().map_or(f64::NAN, |link| link.mean_queue_packets);
        let both = [simulated, real];
        let (throughput_mbps, mean_queue_packets) = (both.map(|run| run.throughput_mbps), both.map(queue));
        let ([expected, got], [low, high]) = (throughput_mbps, {
            let [a, b] = mean_queue_packets;
            [a.min(b), a.max(b)]
        });
        let comparable = expected > 0.0 && got.is_finite() && mean_queue_packets.iter().all(|queue| queue.is_finite());
        comparable.then(|| Agreement {
            name: simulated.name.clone(),
            throughput_mbps,
            throughput_agrees: (got - expected).abs() <= THROUGHPUT * expected,
            mean_queue_packets,
            queue_agrees: high <= QUEUE * low || high - low < 1.0,
            trusted: real.emulator.as_ref().is_none_or(EmulatorSummary::trusted),
        })
    };
    runs.iter().filter_map(pair).collect()
}
