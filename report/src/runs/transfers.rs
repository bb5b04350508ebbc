//! The figures of transfers and connections: distributions of their completion times, round-trip times and sizes.

use crate::figure::{Across, Curve, Figure, Line, Vertical};
use experiment::{Finished, Workload, WorkloadOutcome};
use lab::connections::{Connection, connections as connections_of};
use lab::results::{self, SizeBin};

/// Number of values of a distribution's curve.
const POINTS: usize = 300;
/// The name of the ideal that completion times are compared with.
pub const IDEAL: &str = "processor sharing";

/// A workload of a run, and the name of its line.
pub struct Shown<'r> {
    pub name: String,
    pub run: &'r Finished,
    /// Index of the workload in its run.
    pub index: usize,
    pub workload: &'r Workload,
    pub outcome: &'r WorkloadOutcome,
}

/// A line per workload.
pub fn lines(shown: &[Shown], values: impl Fn(&Shown) -> Curve) -> Vec<Line> {
    let line = |(i, one): (usize, &Shown)| Line { entry: Some(i), name: one.name.clone(), values: values(one) };
    shown.iter().enumerate().map(line).collect()
}

/// All figures of them, none over time.
pub fn figures(shown: &[Shown]) -> Vec<Figure> {
    let [rtts, bytes] = connections(shown);
    [completion(shown), by_size(shown), rtts, bytes].into_iter().flatten().collect()
}

/// The distribution of completion times.
fn completion(shown: &[Shown]) -> Option<Figure> {
    let times = |shown: &Shown| shown.outcome.completion_seconds(shown.run.run.experiment.measure);
    let (lines, across) = distribution(shown, "Completion time (s)", times, |below| below)?;
    let figure = Figure::new("Share of transfers".into(), lines);
    Some(Figure { across: Some(across), vertical: Vertical::To(1.02), ..figure })
}

/// The distributions of round-trip times and of sizes, of the connections that began in the measured interval.
fn connections(shown: &[Shown]) -> [Option<Figure>; 2] {
    let of_each = |shown: &Shown, value: fn(&Connection) -> f64| {
        let connections = connections_of(shown.outcome, shown.run.run.experiment.measure);
        let mut values: Vec<f64> = connections.iter().map(value).collect();
        values.sort_by(f64::total_cmp);
        values
    };
    let above = |below: f64| if below < 1.0 { 1.0 - below } else { f64::NAN };
    let rtts = distribution(shown, "Round-trip time (ms)", |it| of_each(it, |one| one.rtt_ms), |below| below);
    let sizes = distribution(shown, "Bytes", |it| of_each(it, |one| one.bytes), above);
    let figure = |axis: &str, vertical, (lines, across)| {
        let figure = Figure::new(axis.into(), lines);
        Figure { across: Some(across), vertical, ..figure }
    };
    [
        rtts.map(|it| figure("Share of connections, not longer", Vertical::To(1.02), it)),
        sizes.map(|it| figure("Share of connections, larger", Vertical::Logarithmic, it)),
    ]
}

/// A line per workload over the logarithm of a value: what `height` makes of the share of `values` that are not larger.
/// `values` are rising. None if all are the same.
fn distribution(
    shown: &[Shown],
    axis: &str,
    values: impl Fn(&Shown) -> Vec<f64>,
    height: fn(f64) -> f64,
) -> Option<(Vec<Line>, Across)> {
    let values: Vec<Vec<f64>> = shown.iter().map(values).collect();
    let least = values.iter().filter_map(|values| values.first()).copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().filter_map(|values| values.last()).copied().fold(0.0, f64::max);
    if least >= most {
        return None;
    }
    // The axis begins a little below the smallest value and ends a little above the largest.
    let (from, to) = (least.max(1e-9) / 1.05, most.max(1e-9) * 1.05);
    let places: Vec<f64> = (0..POINTS).map(|k| from * (to / from).powf(k as f64 / (POINTS - 1) as f64)).collect();
    let share = |values: &[f64], x: f64| values.partition_point(|&value| value <= x) as f64 / values.len() as f64;
    let line = |(i, (one, values)): (usize, (&Shown, &Vec<f64>))| Line {
        entry: Some(i),
        name: one.name.clone(),
        values: Curve(places.iter().map(|&x| height(share(values, x))).collect()),
    };
    let lines = shown.iter().zip(&values).enumerate().map(line).filter(|line| !line.values.is_empty()).collect();
    Some((lines, Across::logarithmic(axis, places)))
}

/// Mean completion time against size, and what it would be under processor sharing.
fn by_size(shown: &[Shown]) -> Option<Figure> {
    let bins: Vec<Vec<SizeBin>> = shown.iter().map(|shown| results::by_size(shown.run, shown.index)).collect();
    let mut edges: Vec<[u64; 2]> = bins.iter().flatten().map(|bin| bin.bytes).collect();
    edges.sort_unstable();
    edges.dedup();
    if edges.len() < 2 {
        return None;
    }
    let curve = |bins: &[SizeBin], of: fn(&SizeBin) -> Option<f64>| {
        let at = |edge: &[u64; 2]| bins.iter().find(|bin| bin.bytes == *edge).and_then(of).unwrap_or(f64::NAN);
        Curve(edges.iter().map(at).collect())
    };
    let mut lines = lines(shown, |_| Curve::default());
    for (line, bins) in lines.iter_mut().zip(&bins) {
        line.values = curve(bins, |bin| Some(bin.mean_seconds));
    }
    // Runs that are compared have the same arrivals, and so the same ideal.
    let ideal = curve(&bins[0], |bin| bin.ideal_seconds);
    if !ideal.is_empty() {
        lines.push(Line { entry: Some(shown.len()), name: IDEAL.into(), values: ideal });
    }
    let middle = |[from, to]: &[u64; 2]| (*from as f64 * *to as f64).sqrt();
    let across = Across::logarithmic("Size (bytes)", edges.iter().map(middle).collect());
    let figure = Figure::new("Mean completion time (s)".into(), lines);
    Some(Figure { across: Some(across), vertical: Vertical::Logarithmic, ..figure })
}
