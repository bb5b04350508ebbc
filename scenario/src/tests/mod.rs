//! What scenarios mean, and the error messages about wrong ones, as users see them.

mod any_text;
mod mistakes;
mod network;
mod reference;
mod runs;
mod traffic;

use super::*;
use experiment::Run;
use std::num::NonZero;

const MACHINE: Machine = Machine { memory: 8_000_000_000, jobs: NonZero::new(2).unwrap() };

const DUMBBELL: &str = r#"duration = "60 s"

[path]
rate = "1 Gbps"
rtt = "100 ms"
buffer = "1 bdp"

[[flow]]
controller = "reno"
"#;

const TWO_LINKS: &str = r#"duration = "60 s"
link = [
  { name = "a", rate = "1 Gbps", delay = "10 ms", buffer = "100 packets" },
  { name = "b", rate = "2 Gbps", delay = "20 ms", buffer = "1 bdp" },
]
[[flow]]
controller = "reno"
route = ["a", "b"]
"#;

fn plan_of(text: &str, sets: &[&str]) -> Result<Plan, Vec<Problem>> {
    let sets: Vec<Set> = sets.iter().map(|set| set.parse().unwrap()).collect();
    read("test.toml", text, &sets, &MACHINE)
}

fn runs(text: &str, sets: &[&str]) -> Vec<Run> {
    plan_of(text, sets).unwrap_or_else(|p| panic!("{}\n{text}", p[0])).runs
}

fn one(text: &str, sets: &[&str]) -> experiment::Experiment {
    runs(text, sets).remove(0).experiment
}

/// The lines that a user sees about a wrong scenario.
fn errors(text: &str, sets: &[&str]) -> String {
    let problems = plan_of(text, sets).map(|plan| plan.title).expect_err("this scenario is wrong");
    problems.iter().map(|p| format!("{p}\n")).collect()
}

#[test]
fn the_example_scenarios_are_correct() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios");
    let mut seen = 0;
    for file in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let plan = load(&file, &[], &MACHINE).unwrap_or_else(|p| panic!("{}", p[0]));
        assert!(!plan.title.is_empty());
        seen += 1;
    }
    assert!(seen >= 4);
}

#[test]
fn the_examples_of_the_reference_are_correct() {
    let reference = include_str!("../../../docs/scenarios.md");
    let blocks: Vec<&str> = reference.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(blocks.len() >= 5);
    for block in blocks {
        // An example that is only a part of a scenario is completed.
        let whole = match block {
            _ if block.contains("duration") => block.to_string(),
            _ if block.contains("[path]") => format!("duration = \"60 s\"\n{block}[[flow]]\ncontroller = \"reno\"\n"),
            _ => format!("{DUMBBELL}{block}"),
        };
        assert!(!runs(&whole, &[]).is_empty());
    }
}
