//! The controllers that a scenario names, and their parameters.

use crate::key_path::KeyPath;
use crate::keys::Scenario;
use crate::problems::Problems;
use crate::wording;
use control::registry::ParameterError;
use control::{Bytes, Conditions, Controller, EcnSupport, registry};
use path::Ecn;
use serde_json::{Map, Value};

/// The controller called `name`.
///
/// # Errors
/// There is none of this name. The message suggests the one that was probably meant.
pub fn find(name: &str) -> Result<&'static Controller, String> {
    let names: Vec<&str> = registry::all().iter().map(|c| c.name).collect();
    registry::find(name).ok_or_else(|| wording::unknown("controller", name, &names))
}

/// What the ECN field of packets of `controller` says if the key `ecn` at `at` has the value `own`, if any. It is an
/// error to ask for marks that the controller would ignore, if it is `named` there; where `[compare]` chooses the
/// controller, those that do not react to marks do without.
pub(super) fn ecn(
    controller: &Controller,
    own: Option<bool>,
    named: bool,
    scenario: &Scenario,
    at: KeyPath,
    problems: &mut Problems,
) -> Ecn {
    let wanted = own.or(scenario.ecn);
    match controller.ecn {
        EcnSupport::None => {
            let message = format!("`{}` does not react to marks; write false, or remove it", controller.name);
            problems.unless(!(named && own == Some(true)), at, message);
            Ecn::NotEct
        }
        EcnSupport::Classic if wanted.unwrap_or(false) => Ecn::Ect0,
        EcnSupport::L4s if wanted.unwrap_or(true) => Ecn::Ect1,
        _ => Ecn::NotEct,
    }
}

/// Checks that `controller`, if the key `pacing` at `at` is given for it by itself, has a window whose packets the host
/// can space.
pub(super) fn pacing(controller: &Controller, own: Option<f64>, at: KeyPath, problems: &mut Problems) {
    let host = Conditions::exact(Bytes(1000));
    let has_window = || controller.build(controller.defaults(), &host).is_ok_and(|it| it.sender.window().is_some());
    let message = format!("`{}` has a pace of its own; remove it", controller.name);
    problems.unless(own.is_none() || has_window(), at, message);
}

/// The parameters of every controller, by name: the scenario's, and the defaults for those that it does not give.
pub(super) fn all_parameters(scenario: &Scenario, problems: &mut Problems) -> Map<String, Value> {
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
