//! From a scenario's keys to one run's [`Experiment`], with every choice made and everything checked.

use super::flows;
use super::key_path::KeyPath;
use super::keys::Scenario;
use super::memory::Memory;
use super::network::Network;
use super::trace::Traces;
use super::traffic::{self, Files};
use super::wording;
use control::registry::ParameterError;
use control::{Bytes, Controller, Duration, Time, registry};
use experiment::Experiment;
use serde_json::{Map, Value};

/// More samples than a plot can show or a run should keep.
const MOST_SAMPLES: u64 = 10_000_000;
/// Longer than any interface holds a packet back.
const LONGEST_HOLD: Duration = Duration::from_millis(1000);
/// Larger than any link's packets.
const LARGEST_PACKET: Bytes = Bytes(1_000_000);

/// One run, ready to be made.
pub(super) struct Built {
    /// The controllers of its flows, each once; without flows, those of its traffic.
    pub controllers: Vec<String>,
    /// That controller's parameters, or an object with those of several.
    pub parameters: Value,
    /// The run.
    pub experiment: Experiment,
}

/// What was found wrong, by key.
#[derive(Default)]
pub(super) struct Problems {
    /// In the order in which they were found.
    pub found: Vec<(KeyPath, String)>,
}

impl Problems {
    /// Notes one.
    pub fn add(&mut self, at: KeyPath, message: impl Into<String>) {
        self.found.push((at, message.into()));
    }

    /// Notes one unless `fine`.
    pub fn unless(&mut self, fine: bool, at: KeyPath, message: impl Into<String>) {
        if !fine {
            self.add(at, message);
        }
    }
}

/// The controller called `name`.
///
/// # Errors
/// That there is none, and which one was probably meant.
pub fn find(name: &str) -> Result<&'static Controller, String> {
    let names: Vec<&str> = registry::all().iter().map(|c| c.name).collect();
    registry::find(name).ok_or_else(|| wording::unknown("controller", name, &names))
}

/// Builds the run of `scenario`, whose connections may be in `files`, in which `compared` controls the flows that name no
/// controller. Returns none, or what is not to be used, if it adds to `problems`.
pub(super) fn build(
    scenario: &Scenario,
    files: &Files,
    compared: Option<&str>,
    traces: &Traces,
    memory: &mut Memory,
    problems: &mut Problems,
) -> Option<Built> {
    let measure = times(scenario, problems)?;
    sizes(scenario, problems);
    let parameters = all_parameters(scenario, problems);
    let network = Network::new(scenario, traces, problems)?;
    let tables = flows::tables(scenario, compared, &network, problems);
    let parameters_of = |name: &str| parameters.get(name).cloned().unwrap_or_default();
    let cross = traffic::cross(scenario, &network, problems);
    let workloads = traffic::workloads(scenario, files, compared, &parameters_of, &network, problems);
    if !problems.found.is_empty() {
        return None;
    }

    let links = network.links(scenario, &tables, &workloads, problems);
    memory.check(scenario, &links, &tables, &workloads, problems);
    if !problems.found.is_empty() {
        return None;
    }

    let mut controllers: Vec<&str> = Vec::new();
    // Without flows, what is run is the traffic.
    let others = workloads.iter().filter(|_| tables.is_empty()).map(|planned| planned.workload.controller.as_str());
    for controller in tables.iter().map(|table| table.controller.name).chain(others) {
        if !controllers.contains(&controller) {
            controllers.push(controller);
        }
    }
    let used = match controllers[..] {
        [one] => parameters_of(one),
        _ => controllers.iter().map(|name| (name.to_string(), parameters_of(name))).collect::<Map<_, _>>().into(),
    };
    let mut flows = Vec::new();
    for table in &tables {
        flows.extend(table.flows(scenario, &parameters_of(table.controller.name)));
    }
    Some(Built {
        controllers: controllers.into_iter().map(str::to_string).collect(),
        parameters: used,
        experiment: Experiment {
            seed: scenario.seed,
            duration: scenario.duration,
            sample: scenario.sample,
            measure,
            links,
            flows,
            cross,
            workloads: workloads.into_iter().map(|planned| planned.workload).collect(),
        },
    })
}

/// Checks what results are to call something. They go to terminals, which take some characters for commands.
pub(super) fn name(name: &str, at: KeyPath, help: &str, problems: &mut Problems) {
    problems.unless(!name.trim().is_empty(), at.clone(), format!("is empty; {help}"));
    let message = format!("`{}` has a character that cannot be shown; {help}", name.escape_debug());
    problems.unless(!name.chars().any(char::is_control), at, message);
}

/// Checks the run's length and its sampling; returns the measured interval, or none if nothing can be within the run.
fn times(scenario: &Scenario, problems: &mut Problems) -> Option<(Time, Time)> {
    let Scenario { duration, sample, .. } = scenario;
    if *duration == Duration::ZERO {
        problems.add(KeyPath::of("duration"), "is zero; write one like \"60 s\"");
        return None;
    }
    let at = KeyPath::of("sample");
    if *sample == Duration::ZERO {
        problems.add(at, "is zero; write one like \"50 ms\"");
    } else if duration.0 / sample.0 > MOST_SAMPLES {
        let least = Duration(duration.0.div_ceil(MOST_SAMPLES));
        problems.add(
            at,
            format!("{sample} makes more than {MOST_SAMPLES} samples in {duration}; write at least \"{least}\""),
        );
    }

    let from = scenario.measure.from;
    let to = scenario.measure.to.unwrap_or(*duration);
    let at = KeyPath::of("measure");
    if to == Duration::ZERO {
        problems.add(at.key("to"), "is zero; write one like \"60 s\", or remove it");
    } else if to > *duration {
        problems.add(at.key("to"), format!("{to} is after the end of the run; write at most \"{duration}\""));
    } else if from >= to {
        problems.add(at.key("from"), format!("{from} is not before the interval's end; write less than \"{to}\""));
    }
    Some((Time(from.0), Time(to.0)))
}

/// Checks the scenario's packet sizes and acknowledgments.
fn sizes(scenario: &Scenario, problems: &mut Problems) {
    packet(scenario.packet, KeyPath::of("packet"), problems);
    packet(scenario.ack, KeyPath::of("ack"), problems);
    if let Some(delay) = scenario.delayed_ack {
        delayed_ack(delay, KeyPath::of("delayed-ack"), problems);
    }
    interfaces(scenario.coalesce, scenario.jitter, &KeyPath::default(), problems);
    let fine = scenario.min_rto > Duration::ZERO;
    problems.unless(fine, KeyPath::of("min-rto"), "is zero; write one like \"200 ms\"");
}

/// Checks the size of a packet.
pub(super) fn packet(size: Bytes, at: KeyPath, problems: &mut Problems) {
    let fine = size > Bytes(0) && size <= LARGEST_PACKET;
    problems.unless(fine, at, format!("{size} is no size for a packet; write \"1 B\" to \"{LARGEST_PACKET}\""));
}

/// Checks for how long an acknowledgment may be delayed.
pub(super) fn delayed_ack(delay: Duration, at: KeyPath, problems: &mut Problems) {
    problems.unless(delay > Duration::ZERO, at, "is zero; write one like \"40 ms\", or remove it");
}

/// Checks for how long hosts' interfaces may hold packets back.
pub(super) fn interfaces(coalesce: Option<Duration>, jitter: Option<Duration>, at: &KeyPath, problems: &mut Problems) {
    for (key, delay, example) in [("coalesce", coalesce, "100 us"), ("jitter", jitter, "10 us")] {
        let Some(delay) = delay else { continue };
        let message =
            format!("{delay} is no such delay; write one like \"{example}\", up to \"{LONGEST_HOLD}\", or remove it");
        problems.unless(delay > Duration::ZERO && delay <= LONGEST_HOLD, at.key(key), message);
    }
}

/// All controllers' parameters, by controller, with the scenario's in place of the defaults.
fn all_parameters(scenario: &Scenario, problems: &mut Problems) -> Map<String, Value> {
    let at = KeyPath::of("controller");
    for name in scenario.controller.keys() {
        if let Err(message) = find(name) {
            problems.add(at.key(name), message);
        }
    }
    let none = Map::new();
    let mut all = Map::new();
    for controller in registry::all() {
        let at = at.key(controller.name);
        match controller.parameters(scenario.controller.get(controller.name).unwrap_or(&none)) {
            Ok(parameters) => {
                all.insert(controller.name.to_string(), parameters);
            }
            Err(ParameterError::Unknown { name, known }) => {
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                problems.add(at.key(&name), wording::unknown("parameter", &name, &known));
            }
            Err(ParameterError::Bad { name, problem }) => {
                problems.add(at.key(&name), wording::of_serde(&problem).message)
            }
            Err(ParameterError::Together { problem }) => problems.add(at, problem),
        }
    }
    all
}

/// Checks that something starts within the run.
pub(super) fn before_the_end(start: Duration, end: Duration, at: KeyPath, problems: &mut Problems) {
    problems.unless(start < end, at, format!("{start} is not before the end of the run; write less than \"{end}\""));
}
