//! From a scenario's keys to the [`Experiment`] of one run: every value is checked, and every choice that the scenario
//! leaves open is made.
//!
//! Controllers and links come first, because flows and traffic refer to them. The delays and buffers of links come
//! after flows and traffic, because they depend on the round-trip times of those.

mod context;
mod controllers;
mod draft_direction;
mod draft_link;
mod draw;
mod flows;
mod links;
mod memory;
mod network;
mod times;
mod traffic;

use super::files::trace::TraceFiles;
use super::files::vectors::VectorFiles;
use super::keys::Scenario;
use super::problems::Problems;
use context::Context;
use experiment::Experiment;
use network::Network;
use serde_json::{Map, Value};

pub use controllers::find;
pub(super) use memory::Memory;

/// One run, ready to be made.
pub(super) struct Built {
    /// The controllers of its flows, each once; without flows, those of its traffic.
    pub controllers: Vec<String>,
    /// The parameters of that controller; of several controllers, an object with the parameters of each.
    pub parameters: Value,
    /// The run.
    pub experiment: Experiment,
}

/// Builds the run of `scenario` in which `compared` controls the flows that name no controller. The result is of no use
/// if `problems` were added.
pub(super) fn build(
    scenario: &Scenario,
    vectors: &VectorFiles,
    compared: Option<&str>,
    traces: &TraceFiles,
    memory: &mut Memory,
    problems: &mut Problems,
) -> Option<Built> {
    let measure = times::check(scenario, problems)?;
    times::check_hosts(scenario, problems);
    let parameters = controllers::all_parameters(scenario, problems);
    let network = Network::new(scenario, traces, problems)?;
    let context = Context { scenario, network: &network, compared, parameters: &parameters, vectors };
    let groups = flows::groups(&context, problems);
    let cross = traffic::cross(&context, problems);
    let workloads = traffic::workloads(&context, problems);
    if !problems.found.is_empty() {
        return None;
    }

    let links = links::links(&network, scenario, &groups, &workloads, problems);
    memory.check(scenario, &links, &groups, &workloads, problems);
    if !problems.found.is_empty() {
        return None;
    }

    let mut controllers: Vec<String> = Vec::new();
    // A run without flows is known by the controllers of its traffic.
    let of_traffic = workloads.iter().filter(|_| groups.is_empty()).map(|planned| planned.workload.controller.as_str());
    for controller in groups.iter().map(|group| group.controller()).chain(of_traffic) {
        if !controllers.iter().any(|known| known == controller) {
            controllers.push(controller.to_string());
        }
    }
    let used = match &controllers[..] {
        [one] => context.parameters_of(one),
        _ => controllers.iter().map(|name| (name.clone(), context.parameters_of(name))).collect::<Map<_, _>>().into(),
    };
    Some(Built {
        controllers,
        parameters: used,
        experiment: Experiment {
            seed: scenario.seed,
            duration: scenario.duration,
            sample: scenario.sample,
            measure,
            links,
            flows: groups.iter().flat_map(|group| group.flows(scenario.seed)).collect(),
            cross,
            workloads: workloads.into_iter().map(|planned| planned.workload).collect(),
        },
    })
}
