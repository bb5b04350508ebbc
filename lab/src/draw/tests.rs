//! Drawn paths lie within the distribution that docs/score.md describes, and their scenarios are correct.

use super::*;
use experiment::Experiment;
use scenario::Machine;

/// The paths 1 to `count` of the seeds 1 to `seeds`.
fn paths(seeds: u64, count: u64) -> impl Iterator<Item = Path> {
    (1..=seeds).flat_map(move |seed| (1..=count).map(move |number| path(PathId { seed, number })))
}

/// The run that the path's scenario plans.
fn experiment(path: &Path) -> Experiment {
    let text = path.scenario();
    let machine = Machine { memory: u64::MAX, ..Machine::this(None) };
    let plan = scenario::read("drawn.toml", &text, &[], &machine).unwrap_or_else(|problems| {
        panic!("{}:\n{text}\n{}", path.id, problems.iter().map(ToString::to_string).collect::<String>())
    });
    assert_eq!((plan.runs.len(), plan.title), (1, path.title()));
    plan.runs.into_iter().next().unwrap().experiment
}

#[test]
fn every_path_is_a_correct_scenario_within_its_bounds() {
    for path in paths(40, 25) {
        let name = path.id;
        let Experiment { duration, measure, links, flows, .. } = experiment(&path);
        let rate = path.base.rate.as_bps();
        let rtt = path.base.rtt.as_secs();
        let packet = path.base.packet.as_bits();
        assert!((1e6..=100e9).contains(&rate) && (1e-3..=0.6).contains(&rtt), "{name}");
        let bdp = rate * rtt / packet;
        assert!(path.buffer >= 5 && path.buffer as f64 <= (10.0 * bdp).max(50.0) * 1.01, "{name}");
        let reverse = flows.iter().filter(|flow| flow.route.reverse).count();
        let directions = if reverse > 0 { 2.0 } else { 1.0 };
        assert!(duration.as_secs() * rate / packet * directions <= 1e7, "{name}: packets");
        assert!(duration.as_secs() >= 0.99 * 100.0 * rtt, "{name}: round-trip times");
        assert!((0.29..0.31).contains(&(measure.0.as_secs() / duration.as_secs())), "{name}: warm-up");
        // Two packets per round-trip time and flow at the lowest rate that the path ever has.
        let changes = links[0].forward.changes.iter().filter_map(|change| change.rate);
        let policed = path.features.iter().map(|feature| feature.least_rate(path.base.rate));
        let least = changes.chain(policed).fold(rate, |least, rate| least.min(rate.as_bps()));
        let forward = flows.len() - reverse;
        assert!(forward as f64 * 2.0 <= least * rtt / packet && (1..=1000).contains(&forward), "{name}: flows");
        let of_compare = flows.iter().filter(|flow| &*flow.controller == "cubic").count();
        assert!(of_compare >= path.flows as usize, "{name}: the flows that are judged");
    }
}

#[test]
fn a_path_depends_on_its_seed_and_number_alone() {
    let id = PathId { seed: 17, number: 203 };
    assert_eq!(path(id), path(id));
    let all: std::collections::HashSet<String> = paths(10, 100).map(|path| path.scenario()).collect();
    assert_eq!(all.len(), 1000, "all differ");
}

/// The text must not change, because results on drawn paths are compared over years and machines.
#[test]
fn the_text_of_paths_stays() {
    let texts: Vec<String> = (1..=8).map(|number| path(PathId { seed: 17, number }).scenario()).collect();
    insta::assert_snapshot!(texts.join("\n\n"));
}

/// Shares of the paths that have no feature, one, two or three, and of those with features that have each kind.
#[test]
fn features_are_as_frequent_as_described() {
    let all: Vec<Path> = paths(100, 100).collect();
    let share = |n: usize| all.iter().filter(|path| path.features.len() == n).count() as f64 / all.len() as f64;
    // The standard deviation of each is at most 0.005.
    for (n, expected) in FEATURES.iter().enumerate() {
        assert!((share(n) - expected).abs() < 0.02, "{n}: {}", share(n));
    }
    let features: usize = all.iter().map(|path| path.features.len()).sum();
    let loss = |path: &&Path| path.features.iter().any(|it| matches!(it, Feature::RandomLoss(_)));
    let with_loss = all.iter().filter(loss).count() as f64;
    assert!((with_loss / features as f64 * 18.0 - 1.0).abs() < 0.15, "{with_loss} of {features}");
}

/// Scoring 300 paths is to take minutes.
#[test]
fn a_path_has_two_million_packets_on_average() {
    let packets = |path: Path| path.base.duration.as_secs() * path.base.rate.as_bps() / path.base.packet.as_bits();
    let mean = paths(20, 100).map(packets).sum::<f64>() / 2000.0;
    assert!((1e5..2e6).contains(&mean), "{mean}");
}

#[test]
fn a_path_has_a_name() {
    let id = PathId { seed: 17, number: 203 };
    assert_eq!((id.to_string(), id.as_file()), ("seed 17 path 203".into(), "draw:17/203".into()));
    assert_eq!(id.as_file().parse(), Ok(id));
    for wrong in ["draw:17", "draw:17/0", "draw:/3", "draw:a/3", "draw:1/2/3", "17/203"] {
        let why = wrong.parse::<PathId>().unwrap_err();
        assert!(why.contains(wrong) && why.contains("like draw:17/203"), "{why}");
    }
}
