//! Real runs against simulated ones of the same scenario.

use super::RunSummary;
use experiment::Place;
use serde::Serialize;

/// Throughputs agree within this share of the simulated one.
const THROUGHPUT: f64 = 0.1;
/// Mean queues agree within this factor, or if they differ by less than a packet.
const QUEUE: f64 = 2.0;

/// A run that was simulated and made for real. Of a pair, the first is simulated.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Agreement {
    /// The simulated run's.
    pub name: String,
    /// The sum of the flows' goodput.
    pub throughput_mbps: [f64; 2],
    /// Whether they are within 10 % of the simulated one.
    pub throughput_agrees: bool,
    /// Of the link used most.
    pub mean_queue_packets: [f64; 2],
    /// Whether they are within a factor 2, or differ by less than a packet.
    pub queue_agrees: bool,
}

/// How far the real ones among `runs` agree with the simulated ones.
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
        Some(Agreement {
            name: simulated.name.clone(),
            throughput_mbps,
            throughput_agrees: (got - expected).abs() <= THROUGHPUT * expected,
            mean_queue_packets,
            queue_agrees: high <= QUEUE * low || high - low < 1.0,
        })
    };
    runs.iter().filter_map(pair).collect()
}
