//! The runs that a scenario makes, and their parameters.

use super::*;
use ::path::Buffer;
use control::{Duration, Rate, Time};

#[test]
fn starts_and_rtts_of_copies_follow_from_the_seed_alone() {
    let text = DUMBBELL.to_string()
        + "start = { uniform = [\"0 s\", \"20 s\"] }\nrtt = { uniform = [\"60 ms\", \"165 ms\"] }\ncount = 24\n";
    let times =
        |sets: &[&str]| -> Vec<_> { one(&text, sets).flows.iter().map(|flow| (flow.start, flow.rtt)).collect() };
    let few = times(&[]);
    assert_eq!(few.len(), 24);
    assert_eq!(few, times(&["flow[0].controller=newreno", "path.rate=10 Gbps"]));
    assert_eq!(few[..], times(&["flow[0].count=100"])[..24]);
    assert_ne!(few, times(&["seed=2"]));
    // The link has half of the smallest RTT that can be drawn.
    assert_eq!(one(&text, &[]).links[0].forward.delay, Duration::from_millis(30));
    // 1 Gbps x 112.5 ms
    assert_eq!(one(&text, &[]).links[0].forward.buffer, Buffer::Packets(14_063));
}

#[test]
fn a_run_is_made_for_each_controller_at_each_swept_value() {
    let text = r#"
        duration = "10 s"
        path = { rate = "1 Gbps", rtt = "100 ms", buffer = "1 bdp" }
        compare.controllers = ["reno", "newreno"]
        sweep = { "path.rate" = ["1 Gbps", "2 Gbps"], "flow[0].count" = [1, 3] }
    "#;
    let runs = runs(text, &[]);
    let names: Vec<String> = runs.iter().map(Run::name).collect();
    assert_eq!(names.len(), 8);
    assert_eq!(names[0], "reno, path.rate = 1 Gbps, flow[0].count = 1");
    assert_eq!(names[3], "newreno, path.rate = 1 Gbps, flow[0].count = 3");
    assert_eq!(names[4], "reno, path.rate = 2 Gbps, flow[0].count = 1");
    assert_eq!(runs[3].experiment.flows.len(), 3);
    assert_eq!(runs[4].experiment.links[0].forward.rate, Rate::from_gbps(2.0));
    assert_eq!(runs[4].identity.settings["path.rate"], "2 Gbps");
}

#[test]
fn a_parameter_of_the_scenario_replaces_the_default() {
    let (name, first) = match control::registry::find("reno").unwrap().defaults().as_object().unwrap().iter().next() {
        Some((name, value)) => (name.clone(), value.clone()),
        None => return,
    };
    let run = &runs(DUMBBELL, &[&format!("controller.reno.{name}={first}")])[0];
    assert_eq!(run.parameters[&name], first);
    assert_eq!(run.parameters, *run.experiment.flows[0].parameters);
}

#[test]
fn a_set_replaces_a_value_of_the_file() {
    let experiment = one(DUMBBELL, &["path.rate=10Gbps", "flow[1].controller=newreno", "flow.1.start=5 s"]);
    assert_eq!(experiment.links[0].forward.rate, Rate::from_gbps(10.0));
    assert_eq!(experiment.flows[1].start, Time(5_000_000_000_000));
    assert_eq!(runs(DUMBBELL, &["flow[1].controller=newreno"])[0].name(), "reno+newreno");
}

#[test]
fn the_estimate_of_memory_is_that_of_all_runs_together() {
    let lines = errors(DUMBBELL, &["sample=10 us", "flow[0].count=30"]);
    assert!(
        lines.starts_with(
            "test.toml: --set sample: this needs about 9.60 GB of memory and 8.00 GB are free; write more"
        ),
        "{lines}"
    );

    // One run of 4.5 GB fits, two at a time do not. And where one run fits, the samples of ten runs may not.
    let big = ["path.buffer=35e6 packets", "sweep.seed=[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]"];
    assert!(errors(DUMBBELL, &big).contains("--set path.buffer: this needs about 8.97 GB of memory"));
    assert!(errors(DUMBBELL, &big).contains("2 runs at a time, and 8.00 GB are free; write less, or use fewer --jobs"));
    assert_eq!(runs(DUMBBELL, &big[..1]).len(), 1);
    let fine = ["sample=20 us", "flow[0].count=5", big[1], "seed=3"];
    assert_eq!(runs(DUMBBELL, &fine[..2]).len(), 1);
    assert!(errors(DUMBBELL, &fine).contains("sweep: its runs need about"), "{}", errors(DUMBBELL, &fine));
}

/// The results of all runs are in memory, and of a shard those of the runs alone that are made at the same time, here
/// two.
#[test]
fn the_estimate_of_memory_of_a_shard_is_that_of_the_runs_at_a_time() {
    let seeds: Vec<String> = (1..=1000).map(|seed| seed.to_string()).collect();
    let plan = |sample: &str, shard: Option<Shard>| {
        let text = format!("sweep.seed = [{}]\nsample = \"{sample}\"\n{DUMBBELL}count = 5\n", seeds.join(","));
        grid::plan(&parse_with("test.toml", &text, &[])?, &MACHINE, &|_| None, shard)
    };
    // 1.5 million samples of 5 flows and of a link's directions: 0.5 GB per run, and as much again for its file.
    assert!(plan("40 us", None).unwrap_err()[0].to_string().contains("sweep: its runs need about"));
    assert_eq!(plan("40 us", Some(Shard::ALL)).unwrap().runs.len(), 1000);
    let much = plan("10 us", Some(Shard::ALL)).unwrap_err()[0].to_string();
    assert!(much.contains("sample: this needs about 8.") && much.contains(", 2 runs at a time, and 8.00 GB"), "{much}");
}

/// The runs that `shard` has of the scenario `text`.
fn shard(text: &str, shard: &str) -> Result<Plan, Vec<Problem>> {
    grid::plan(&parse_with("test.toml", text, &[])?, &MACHINE, &|_| None, Some(shard.parse().unwrap()))
}

#[test]
fn shards_have_the_runs_of_the_whole_plan() {
    let text = r#"
        duration = "10 s"
        path = { rate = "1 Gbps", rtt = "100 ms", buffer = "1 bdp" }
        compare.controllers = ["reno", "newreno", "bic"]
        sweep = { "path.rate" = ["1 Gbps", "2 Gbps"], seed = [1, 2, 3] }
    "#;
    let whole: Vec<String> = runs(text, &[]).iter().map(|run| format!("{run:?}")).collect();
    for of in [1, 2, 4, 5, 30] {
        let parts: Vec<Plan> = (1..=of).map(|k| shard(text, &format!("{k}/{of}")).unwrap()).collect();
        for (i, run) in whole.iter().enumerate() {
            assert_eq!(&format!("{:?}", parts[i % of].runs[i / of]), run);
        }
        assert_eq!(parts.iter().map(|part| part.runs.len()).sum::<usize>(), whole.len());
        assert!(parts.iter().all(|part| part.values == parts[0].values && part.sweep[1].values.len() == 3));
    }
}

#[test]
fn a_shard_of_a_million_runs_is_planned_at_once() {
    let [seeds, counts]: [Vec<String>; 2] = [100_000, 10].map(|n| (1..=n).map(|i: i32| i.to_string()).collect());
    let text =
        format!("sweep = {{ seed = [{}], \"flow[0].count\" = [{}] }}\n{DUMBBELL}", seeds.join(","), counts.join(","));
    let begin = std::time::Instant::now();
    assert_eq!(shard(&text, "777/100000").unwrap().runs.len(), 10);
    assert!(begin.elapsed().as_secs() < 5, "{:?}", begin.elapsed());
    assert!(shard(&text, "1/99").unwrap_err()[0].to_string().contains("more than 10000 runs per shard; use more"));
}

#[test]
fn too_many_runs_are_refused() {
    let many: Vec<String> = (1..=200).map(|n| n.to_string()).collect();
    let sweep = format!("sweep = {{ seed = [{0}], \"flow[0].count\" = [{0}] }}\n", many.join(","));
    assert!(errors(&(sweep + DUMBBELL), &[]).contains("more than 10000 runs; sweep fewer values"));
}

#[test]
fn a_sweep_of_10_000_runs_is_planned_in_seconds() {
    let seeds: Vec<String> = (1..=10_000).map(|n| n.to_string()).collect();
    let begin = std::time::Instant::now();
    assert_eq!(runs(&format!("sweep.seed = [{}]\n{DUMBBELL}", seeds.join(",")), &[]).len(), 10_000);
    assert!(begin.elapsed().as_secs() < 20, "{:?}", begin.elapsed());
}
