//! What tells a run from the other runs of its plan: data, and one text that shows it.

use serde::Serialize;
use serde_json::{Map, Value};
use std::fmt;

/// Which run it is. No two runs of a plan have the same identity.
#[derive(Clone, Debug, PartialEq)]
pub struct Identity {
    /// The controller that the scenario's `[compare]` chose for this run; without a comparison, each controller of its
    /// flows (or of its traffic, if it has no flows) once, in the order of the flows.
    pub controllers: Vec<String>,
    /// What the scenario's `[sweep]` set in this run: scenario keys and their values, in the order of the sweep.
    pub settings: Map<String, Value>,
    /// Everything random in the run follows from it.
    pub seed: u64,
    /// Who made the run.
    pub place: Place,
}

/// Who makes a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// The simulator, in virtual time.
    #[default]
    Simulated,
    /// The emulator, with packets of other programs.
    Emulated,
    /// Endpoints of this project or of the kernel, whose packets cross the emulator in real time.
    Real,
}

impl Place {
    /// Whether the simulator makes the run.
    pub fn is_simulated(&self) -> bool {
        *self == Place::Simulated
    }
}

impl Identity {
    /// The same run, made in `place`.
    pub fn in_place(&self, place: Place) -> Identity {
        Identity { place, ..self.clone() }
    }

    /// The identity without the setting of `key`: what runs have in common that differ in that setting alone.
    pub fn without(&self, key: &str) -> Identity {
        let mut common = self.clone();
        common.settings.shift_remove(key);
        common
    }
}

/// The run's name in tables and files, such as `rapid, path.rate = 10 Gbps`. Made to be read; programs compare
/// identities.
impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&describe(&self.controllers, &self.settings))?;
        if self.place == Place::Real { f.write_str(" (real)") } else { Ok(()) }
    }
}

/// `controllers` joined by `+`, and each of `settings` as `key = value`.
pub fn describe(controllers: &[String], settings: &Map<String, Value>) -> String {
    let setting = |(key, value): (&String, &Value)| match value {
        Value::String(text) => format!("{key} = {text}"),
        other => format!("{key} = {other}"),
    };
    let controllers = Some(controllers.join("+")).filter(|it| !it.is_empty());
    controllers.into_iter().chain(settings.iter().map(setting)).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn identity(controllers: &[&str], settings: Value) -> Identity {
        let controllers = controllers.iter().map(ToString::to_string).collect();
        Identity { controllers, settings: settings.as_object().unwrap().clone(), seed: 1, place: Place::Simulated }
    }

    #[test]
    fn the_name_shows_controllers_settings_and_place() {
        let one =
            identity(&["rapid"], json!({"path.rate": "10 Gbps", "flow[0].count": 3, "flow[0].route": ["1", "2"]}));
        assert_eq!(one.to_string(), r#"rapid, path.rate = 10 Gbps, flow[0].count = 3, flow[0].route = ["1","2"]"#);
        assert_eq!(identity(&["reno", "bic"], json!({})).in_place(Place::Real).to_string(), "reno+bic (real)");
    }

    #[test]
    fn a_setting_can_be_left_out_and_the_others_keep_their_order() {
        let one = identity(&["rapid"], json!({"seed": 1, "path.rate": "10 Gbps", "flow[0].count": 3}));
        assert_eq!(one.without("seed").to_string(), "rapid, path.rate = 10 Gbps, flow[0].count = 3");
        assert_eq!(one.without("path.rtt"), one);
    }
}
