//! Figures of connections that come and go: what they carry and how many there are over time, and how long their transfers
//! take.

use super::figures::{Across, Draw, Entry, Figure, Group, Line, drawn, entries, figure};
use super::grid::Curve;
use experiment::Finished;
use experiment::{Transfer, Workload, WorkloadOutcome};
use lab::results::{self, SizeBin};

/// Points of a distribution's curve.
const POINTS: usize = 300;

/// The ideal that completion times are compared with.
const IDEAL: &str = "processor sharing";

/// What a curve of each figure shows, and under which name.
struct Shown<'r> {
    name: String,
    run: &'r Finished,
    index: usize,
    workload: &'r Workload,
    outcome: &'r WorkloadOutcome,
}

/// One run: its kinds of traffic over each other. Several runs: for each kind, the runs over each other.
pub fn groups(draw: &Draw, runs: &[Finished]) -> Vec<Group> {
    if let [run] = runs {
        let shown = traffic(run);
        return if shown.is_empty() { vec![] } else { vec![group(draw, "Traffic".into(), &shown)] };
    }
    let mut kinds: Vec<String> = Vec::new();
    for shown in runs.iter().flat_map(traffic) {
        if !kinds.contains(&shown.name) {
            kinds.push(shown.name);
        }
    }
    let of_kind = |kind: &String| {
        let all = runs.iter().flat_map(traffic).filter(|shown| shown.name == *kind);
        let shown: Vec<Shown> = all.map(|shown| Shown { name: shown.run.run.name(), ..shown }).collect();
        group(draw, format!("Traffic: {kind}"), &shown)
    };
    kinds.iter().map(of_kind).collect()
}

/// Each kind of traffic of `run`, by its name.
fn traffic(run: &Finished) -> Vec<Shown<'_>> {
    let pairs = run.run.experiment.workloads.iter().zip(&run.outcome.workloads);
    let shown = |(index, (workload, outcome)): (usize, (_, _))| {
        let workload: &Workload = workload;
        Shown { name: workload.name.clone(), run, index, workload, outcome }
    };
    pairs.enumerate().map(shown).collect()
}

fn group(draw: &Draw, title: String, shown: &[Shown]) -> Group {
    let figures = vec![
        figure(draw.rate_axis("Throughput"), lines(shown, |shown| throughput(draw, shown))),
        figure(
            "Connections".into(),
            lines(shown, |Shown { run, outcome, .. }| {
                draw.grid.mean(&run.outcome.sampled, outcome.series.active.iter().map(|&n| n.into()))
            }),
        ),
    ];
    let figures: Vec<Figure> = drawn(figures)
        .into_iter()
        .chain(completion(shown))
        .chain(by_size(shown))
        .chain(connections(shown).into_iter().flatten())
        .collect();
    let mut legend = entries(shown.iter().map(|shown| shown.name.to_string()));
    if figures.iter().flat_map(|figure| &figure.lines).any(|line| line.entry == Some(shown.len())) {
        legend.push(Entry { name: IDEAL.into(), style: None, band: false, points: false });
    }
    Group { title: Some(title), legend, panels: false, figures }
}

fn lines(shown: &[Shown], values: impl Fn(&Shown) -> Curve) -> Vec<Line> {
    let line = |(i, one): (usize, &Shown)| Line { entry: Some(i), name: one.name.to_string(), values: values(one) };
    shown.iter().enumerate().map(line).collect()
}

/// Goodput in the direction of the data, or else of the responses.
fn throughput(draw: &Draw, Shown { run, workload, outcome, .. }: &Shown) -> Curve {
    let sampled = &run.outcome.sampled;
    let begins = std::iter::once(control::Time::ZERO).chain(sampled.iter().copied());
    let seconds = sampled.iter().zip(begins).map(|(end, begin)| end.since(begin).as_secs());
    let delivered = &outcome.series.delivered[usize::from(workload.sends[1])];
    draw.grid
        .mean(sampled, delivered.iter().zip(seconds).map(|(&bytes, s)| bytes as f64 * 8.0 / s))
        .scale(draw.rate_factor())
}

/// The share of transfers that took no longer than some time.
fn completion(shown: &[Shown]) -> Option<Figure> {
    let times = |shown: &Shown| shown.outcome.completion_seconds(shown.run.run.experiment.measure);
    let (lines, across) = distribution(shown, "Completion time (s)", times, |below| below)?;
    Some(Figure { across: Some(across), top: Some(1.02), ..figure("Share of transfers".into(), lines) })
}

/// What connections that began in the measured interval are like: their round-trip times, and how much they carry.
fn connections(shown: &[Shown]) -> [Option<Figure>; 2] {
    let of_each = |shown: &Shown, value: fn(&[&Transfer]) -> f64| {
        let (from, to) = shown.run.run.experiment.measure;
        let mut transfers: Vec<&Transfer> = shown.outcome.transfers.iter().collect();
        transfers.sort_by_key(|it| (it.connection, it.start));
        let connections = transfers.chunk_by(|a, b| a.connection == b.connection);
        let mut values: Vec<f64> =
            connections.filter(|all| from <= all[0].start && all[0].start < to).map(value).collect();
        values.sort_by(f64::total_cmp);
        values
    };
    let rtt = |all: &[&Transfer]| all[0].rtt.as_millis();
    let bytes = |all: &[&Transfer]| all.iter().map(|it| it.sent[0].0 as f64 + it.sent[1].0 as f64).sum();
    [
        distribution(shown, "Round-trip time (ms)", |it| of_each(it, rtt), |below| below).map(|(lines, across)| {
            Figure { across: Some(across), top: Some(1.02), ..figure("Share of connections, not longer".into(), lines) }
        }),
        distribution(shown, "Bytes", |it| of_each(it, bytes), |below| if below < 1.0 { 1.0 - below } else { f64::NAN })
            .map(|(lines, across)| Figure {
                across: Some(across),
                log: true,
                ..figure("Share of connections, larger".into(), lines)
            }),
    ]
}

/// Lines over the logarithm of a value, what `height` makes of the share of values that are not larger. `values` are rising; none
/// if all are alike.
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
    // To both sides a little more than there is.
    let (from, to) = (least.max(1e-9) / 1.05, most.max(1e-9) * 1.05);
    let places: Vec<f64> = (0..POINTS).map(|k| from * (to / from).powf(k as f64 / (POINTS - 1) as f64)).collect();
    let share = |values: &[f64], x: f64| values.partition_point(|&value| value <= x) as f64 / values.len() as f64;
    let line = |(i, (one, values)): (usize, (&Shown, &Vec<f64>))| Line {
        entry: Some(i),
        name: one.name.to_string(),
        values: Curve(places.iter().map(|&x| height(share(values, x))).collect()),
    };
    let lines = shown.iter().zip(&values).enumerate().map(line).filter(|line| !line.values.is_empty()).collect();
    Some((lines, Across { axis: axis.into(), values: Curve(places) }))
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
    // The same arrivals in all runs that are compared.
    let ideal = curve(&bins[0], |bin| bin.ideal_seconds);
    if !ideal.is_empty() {
        lines.push(Line { entry: Some(shown.len()), name: IDEAL.into(), values: ideal });
    }
    let middle = |[from, to]: &[u64; 2]| (*from as f64 * *to as f64).sqrt();
    let across = Across { axis: "Size (bytes)".into(), values: Curve(edges.iter().map(middle).collect()) };
    Some(Figure { across: Some(across), log: true, ..figure("Mean completion time (s)".into(), lines) })
}
