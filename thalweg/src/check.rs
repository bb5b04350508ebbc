//! `thalweg check`.

use crate::args::Check;
use crate::failure::Failure;
use crate::print;
use crate::source;
use scenario::Machine;
use std::fmt::Write;

/// Prints what is wrong with a scenario, or which runs it has.
pub fn check(args: &Check) -> Result<(), Failure> {
    let scenario = &args.scenario;
    let plan = source::load(&scenario.file, &scenario.sets, &Machine::this(scenario.jobs), None)?;
    let mut text = format!("{}\n", plan.title);
    for run in &plan.runs {
        let experiment = &run.experiment;
        let flows = match experiment.flows.len() {
            0 if !experiment.workloads.is_empty() => String::new(),
            1 => "1 flow".to_string(),
            n => format!("{n} flows"),
        };
        let traffic: Vec<&str> = experiment.workloads.iter().map(|workload| workload.name.as_str()).collect();
        let and = if flows.is_empty() || traffic.is_empty() { "" } else { " and " };
        let traffic = format!("{and}{}", traffic.join(", "));
        let _ = writeln!(text, "  {}: {flows}{traffic}, {}", run.name(), experiment.duration);
    }
    print::text(&text)
}
