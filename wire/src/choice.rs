//! Which controller drives a connection's data, and with which parameters.

use control::registry::{self, Controller, Parties};
use control::{Bytes, Conditions, Duration, Sender};
use serde_json::{Map, Value};
use std::fmt;

/// What drives a flow until its stamps are granted, and for good if they are refused.
const FALLBACK: &str = "cubic";

/// How exact times are on the wire: neither scheduler nor clock of a host is as exact as the simulator's.
const TIMING: Duration = Duration::from_micros(10);

/// What a host on the wire tells its controllers of itself, with packets of `packet` bytes.
pub(crate) fn conditions(packet: u64) -> Conditions {
    Conditions { packet: Bytes(packet), timing: TIMING }
}

/// A controller and its parameters.
#[derive(Clone)]
pub struct Choice {
    controller: &'static Controller,
    parameters: Value,
    stamps: bool,
}

impl Choice {
    /// The controller of that name in the [registry], with `parameters` laid over its defaults. Fails, with a line that says what
    /// to do, if there is no such controller or a parameter is wrong.
    pub fn new(name: &str, parameters: &Map<String, Value>) -> Result<Choice, String> {
        let known = || registry::all().iter().map(|c| c.name).collect::<Vec<_>>().join(", ");
        let controller =
            registry::find(name).ok_or_else(|| format!("no controller `{name}`; there are {}", known()))?;
        use registry::ParameterError::{Bad, Together, Unknown};
        let parameters = controller.parameters(parameters).map_err(|e| match e {
            Unknown { name: unknown, known } => {
                format!("{name} has no parameter `{unknown}`; it has {}", known.join(", "))
            }
            Bad { name: bad, problem } => format!("{name}.{bad}: {problem}"),
            Together { problem } => format!("{name}: {problem}"),
        })?;
        let stamps = controller.build(&parameters, &conditions(1200))?.receiver.is_some();
        Ok(Choice { controller, parameters, stamps })
    }

    /// The same, by the peer: its whole set of parameters, as JSON.
    pub(crate) fn parse(name: &str, parameters: &str) -> Option<Choice> {
        Choice::new(name, serde_json::from_str::<Value>(parameters).ok()?.as_object()?).ok()
    }

    /// The controller's name.
    pub fn name(&self) -> &'static str {
        self.controller.name
    }

    /// Its parameters, all of them, as JSON.
    pub fn parameters(&self) -> String {
        self.parameters.to_string()
    }

    /// Whether it needs a receiver that sees its stamps. Those that do not work against any QUIC endpoint.
    pub fn needs_stamps(&self) -> bool {
        self.stamps
    }

    /// The parties of a flow with packets of `packet` bytes.
    pub(crate) fn parties(&self, packet: u64) -> Parties {
        self.controller.build(&self.parameters, &conditions(packet)).expect("checked before")
    }

    /// What begins: the controller itself, or the fallback until there are stamps.
    pub(crate) fn first(&self, packet: u64) -> Box<dyn Sender> {
        if self.stamps { fallback().parties(packet).sender } else { self.parties(packet).sender }
    }
}

impl fmt::Debug for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.controller.name, self.parameters)
    }
}

fn fallback() -> Choice {
    Choice::new(FALLBACK, &Map::new()).expect("in the registry, with its defaults")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_said_with_what_to_do() {
        let error = |name, parameters: Value| Choice::new(name, parameters.as_object().unwrap()).unwrap_err();
        assert!(error("rabid", Value::Object(Map::new())).contains("rapid, "));
        assert!(error("rapid", serde_json::json!({"strean": 90})).contains("it has stream, "));
        assert!(error("rapid", serde_json::json!({"stream": 1})).starts_with("rapid.stream: "));
    }

    #[test]
    fn the_peer_builds_the_same() {
        let choice = Choice::new("rapid", serde_json::json!({"stream": 60}).as_object().unwrap()).unwrap();
        let parsed = Choice::parse("rapid", &choice.parameters()).unwrap();
        assert_eq!(parsed.parameters, choice.parameters);
        for nonsense in ["", "[]", "{\"stream\": 1e9}", "{\"x\": 1}", "null"] {
            assert!(Choice::parse("rapid", nonsense).is_none(), "{nonsense}");
        }
    }
}
