//! No text makes the reader of scenarios panic, hang or take much memory, and each problem that it reports is one line.
//! The first line of the input is a `--set`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use scenario::{self, Machine, Set};
use std::num::NonZero;

fuzz_target!(|text: &str| {
    let (set, scenario) = text.split_once('\n').unwrap_or(("", text));
    let sets: Vec<Set> = set.parse().into_iter().collect();
    let machine = Machine { memory: 20_000_000, jobs: NonZero::<usize>::MIN };
    match scenario::read("fuzz.toml", scenario, &sets, &machine) {
        Ok(plan) => assert!(!plan.runs.is_empty()),
        Err(problems) => {
            assert!(!problems.is_empty());
            assert!(problems.iter().all(|problem| problem.to_string().lines().count() == 1));
        }
    }
});
