//! Processor sharing, the ideal that RCP and RCP-AC are compared with: at any time, each of the n transfers under way
//! has the rate C/n on a link of capacity C. The computation is exact for given arrivals of fluids, not packets.

use experiment::Finished;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// A time of completion, ordered. It is never NaN.
#[derive(PartialEq)]
struct Finish(f64);

impl Eq for Finish {}

impl PartialOrd for Finish {
    fn partial_cmp(&self, other: &Finish) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Finish {
    fn cmp(&self, other: &Finish) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// How long each of `jobs` is in a server that they share evenly. A job is the time of its arrival and the time that it
/// would take alone, in any unit of time; arrivals are in rising order.
pub fn sojourns(jobs: &[(f64, f64)]) -> Vec<f64> {
    let mut left = vec![0.0; jobs.len()];
    // `served` is a clock that advances by the service that each present job gets: a job that arrives when the clock
    // shows v and needs a service time of s is done when it shows v + s, whatever else arrives.
    let (mut served, mut now) = (0.0, 0.0);
    let mut present: BinaryHeap<Reverse<(Finish, usize)>> = BinaryHeap::new();
    // Serves the present jobs until `time`; returns what the clock shows then.
    let mut serve = |present: &mut BinaryHeap<Reverse<(Finish, usize)>>, time: f64| {
        while let Some(Reverse((Finish(next), job))) = present.peek() {
            let done = now + (next - served) * present.len() as f64;
            if done > time {
                served += (time - now) / present.len() as f64;
                break;
            }
            left[*job] = done;
            (served, now) = (*next, done);
            present.pop();
        }
        now = time;
        served
    };
    for (i, &(arrival, size)) in jobs.iter().enumerate() {
        let served = serve(&mut present, arrival);
        present.push(Reverse((Finish(served + size), i)));
    }
    serve(&mut present, f64::INFINITY);
    left.iter().zip(jobs).map(|(left, (arrival, _))| left - arrival).collect()
}

/// The completion time of each transfer of `run`'s only traffic under processor sharing, in seconds: a round trip to
/// open the connection if there is a handshake, the fluid's time on the narrowest link of the route, and half a round
/// trip to arrive. None if anything else sends in the run, if a link of the route changes over time, if both sides
/// send, or if a connection has several transfers.
pub fn ideal(run: &Finished) -> Option<Vec<f64>> {
    let experiment = &run.run.experiment;
    let ([workload], [outcome], [], []) =
        (&experiment.workloads[..], &run.outcome.workloads[..], &experiment.flows[..], &experiment.cross[..])
    else {
        return None;
    };
    let side = match workload.sends {
        [true, false] => 0,
        [false, true] => 1,
        _ => return None,
    };
    if outcome.transfers.len() as u64 > outcome.connections {
        return None;
    }
    // The acceptors' data crosses the route the other way.
    let directions = workload.route.directions(side == 1);
    let links = || directions.iter().map(|direction| direction.setup(&experiment.links));
    if links().any(|link| !link.changes.is_empty() || link.trace.is_some() || link.shaper.is_some()) {
        return None;
    }
    let capacity = links().map(|link| link.rate.as_bps()).fold(f64::INFINITY, f64::min);
    let transfers = &outcome.transfers;
    let mut order: Vec<usize> = (0..transfers.len()).collect();
    order.sort_by_key(|&i| (transfers[i].start, transfers[i].connection));
    let job = |&i: &usize| (transfers[i].start.as_secs(), transfers[i].sent[side].as_bits() / capacity);
    let jobs: Vec<(f64, f64)> = order.iter().map(job).collect();
    let mut times = vec![0.0; transfers.len()];
    for (i, sojourn) in order.into_iter().zip(sojourns(&jobs)) {
        let round_trips = if workload.handshake { 1.5 } else { 0.5 };
        times[i] = round_trips * transfers[i].rtt.as_secs() + sojourn;
    }
    Some(times)
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::traffic::{Random, Sizes, Stream};

    fn close(a: &[f64], b: &[f64]) {
        assert!(a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9), "{a:?} {b:?}");
    }

    #[test]
    fn small_cases_by_hand() {
        close(&sojourns(&[]), &[]);
        close(&sojourns(&[(5.0, 2.0)]), &[2.0]);
        // Two equal jobs at the same time: each gets half.
        close(&sojourns(&[(0.0, 1.0), (0.0, 1.0)]), &[2.0, 2.0]);
        // The second job arrives when half of the first is done. Both have half of the server until the first is done,
        // at 2; then the second has all of it.
        close(&sojourns(&[(0.0, 1.0), (0.5, 1.0)]), &[1.5, 1.5]);
        close(&sojourns(&[(0.0, 1.0), (0.5, 2.0)]), &[1.5, 2.5]);
        // An idle time in between changes nothing.
        close(&sojourns(&[(0.0, 1.0), (10.0, 1.0), (10.0, 3.0)]), &[1.0, 2.0, 4.0]);
    }

    /// M/G/1 processor sharing: a job that takes x alone stays x/(1 - rho) on average, whatever the distribution of the
    /// others (Kleinrock, "Queueing Systems", volume 2, section 4.4).
    #[test]
    fn the_mean_sojourn_is_linear_in_the_size_with_slope_1_over_1_minus_rho() {
        for (sizes, rho) in [
            (Sizes::Exponential(1e6), 0.5),
            (Sizes::Exponential(1e6), 0.9),
            (Sizes::Uniform(0.0, 2e6), 0.8),
            (Sizes::Pareto { mean: 1e6, shape: 2.2 }, 0.8),
        ] {
            // In units of a mean service time. The jobs in the server at either end are a small part of a million.
            let mut random = Random::new(1, Stream::Sessions, &[9]);
            let mut now = 0.0;
            let jobs: Vec<(f64, f64)> = (0..1_000_000)
                .map(|_| {
                    now += random.exponential(1.0 / rho);
                    (now, sizes.draw(&mut random).0 as f64 / 1e6)
                })
                .collect();
            let sojourns = sojourns(&jobs);
            // The load that was drawn, which a heavy tail lets differ from the one that was meant.
            let drawn = jobs.iter().map(|job| job.1).sum::<f64>() / now;
            let slope = 1.0 / (1.0 - drawn);
            let mut ratios = vec![];
            for (low, high) in [(0.6, 1.0), (1.0, 1.5), (1.5, 2.0)] {
                let bin = || jobs.iter().zip(&sojourns).filter(|((_, size), _)| (low..high).contains(size));
                let (size, time) = bin().fold((0.0, 0.0), |(s, t), ((_, size), time)| (s + size, t + time));
                ratios.push(time / size / slope);
            }
            println!("{sizes:?}, load {rho} (drawn: {drawn:.4}): sojourn over x/(1 - rho) {ratios:.4?}");
            assert!(ratios.iter().all(|ratio| (ratio - 1.0).abs() < 0.03), "{ratios:?}");
        }
    }
}
