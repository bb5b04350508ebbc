//! What the flows and the traffic of one run are resolved with.

use super::network::Network;
use crate::files::vectors::VectorFiles;
use crate::keys::Scenario;
use serde_json::{Map, Value};

/// What the flows and the traffic of one run are resolved with.
pub(super) struct Context<'a> {
    /// The keys.
    pub scenario: &'a Scenario,
    /// The links, checked.
    pub network: &'a Network<'a>,
    /// The controller of `[compare]` that this run is for. It controls the flows that name none.
    pub compared: Option<&'a str>,
    /// The parameters of every controller, by name.
    pub parameters: &'a Map<String, Value>,
    /// The files of connection vectors.
    pub vectors: &'a VectorFiles,
}

impl Context<'_> {
    /// The parameters of the controller called `name`.
    pub fn parameters_of(&self, name: &str) -> Value {
        self.parameters.get(name).cloned().unwrap_or_default()
    }
}
