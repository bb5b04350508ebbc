//! The figures of traffic: the throughput of connections that come and go, and how many there are at a time.

use super::common::Common;
use super::transfers;
use crate::figure::{Curve, Entry, Figure, Group};
use crate::order::distinct;
use control::Time;
use experiment::{Finished, Workload};
use transfers::{IDEAL, Shown, lines};

/// One run: its workloads over each other. Several runs: for each workload, the runs over each other.
pub fn groups(common: &Common, runs: &[Finished]) -> Vec<Group> {
    if let [run] = runs {
        let shown = workloads(run);
        return if shown.is_empty() { vec![] } else { vec![group(common, "Traffic".into(), &shown)] };
    }
    let of_name = |name: String| {
        let all = runs.iter().flat_map(workloads).filter(|shown| shown.name == name);
        let shown: Vec<Shown> = all.map(|shown| Shown { name: shown.run.run.name(), ..shown }).collect();
        group(common, format!("Traffic: {name}"), &shown)
    };
    distinct(runs.iter().flat_map(workloads).map(|shown| shown.name)).into_iter().map(of_name).collect()
}

/// The workloads of `run`, by their names.
fn workloads(run: &Finished) -> Vec<Shown<'_>> {
    let pairs = run.run.experiment.workloads.iter().zip(&run.outcome.workloads);
    let shown = |(index, (workload, outcome)): (usize, (_, _))| {
        let workload: &Workload = workload;
        Shown { name: workload.name.clone(), run, index, workload, outcome }
    };
    pairs.enumerate().map(shown).collect()
}

fn group(common: &Common, title: String, shown: &[Shown]) -> Group {
    let connections = |Shown { run, outcome, .. }: &Shown| {
        common.grid.mean(&run.outcome.sampled, outcome.series.active.iter().map(|&n| n.into()))
    };
    let over_time = vec![
        Figure::new(common.rate_axis("Throughput"), lines(shown, |shown| throughput(common, shown))),
        Figure::new("Connections".into(), lines(shown, connections)),
    ];
    let figures: Vec<Figure> = Figure::with_values(over_time).into_iter().chain(transfers::figures(shown)).collect();
    let mut legend = Entry::each(shown.iter().map(|shown| shown.name.clone()));
    if figures.iter().flat_map(|figure| &figure.lines).any(|line| line.entry == Some(shown.len())) {
        legend.push(Entry::neutral(IDEAL));
    }
    Group { title: Some(title), legend, panels: false, figures }
}

/// Goodput of what the acceptors of a workload's connections send, if they send anything; else of what the initiators
/// send.
fn throughput(common: &Common, Shown { run, workload, outcome, .. }: &Shown) -> Curve {
    let sampled = &run.outcome.sampled;
    let begins = std::iter::once(Time::ZERO).chain(sampled.iter().copied());
    let seconds = sampled.iter().zip(begins).map(|(end, begin)| end.since(begin).as_secs());
    let delivered = &outcome.series.delivered[usize::from(workload.sends[1])];
    let rates = delivered.iter().zip(seconds).map(|(&bytes, s)| bytes as f64 * 8.0 / s);
    common.grid.mean(sampled, rates).scale(common.rate_factor())
}
