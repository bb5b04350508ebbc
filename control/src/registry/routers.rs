//! The list of all router protocols, from which the builder of a link takes its router.

use super::overrides::{ParameterError, overlay};
use crate::roles::Router;
use crate::routing::{Port, Routing};
use crate::units::{Bytes, Rate};
use schemars::{JsonSchema, Schema};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::sync::LazyLock;

/// A router protocol with a name and default parameters.
pub struct RouterProtocol {
    /// The name in scenarios, which is that of the controller that it works with.
    pub name: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    /// The paper.
    pub source: &'static str,
    defaults: Value,
    schema: Schema,
    build: Build,
}

type Build = fn(&Value, &Port) -> Result<Box<dyn Router>, String>;

impl RouterProtocol {
    fn new<R: Routing + Default + Serialize + DeserializeOwned + JsonSchema>(
        name: &'static str,
        source: &'static str,
        summary: &'static str,
    ) -> RouterProtocol {
        RouterProtocol {
            name,
            summary,
            source,
            defaults: serde_json::to_value(R::default()).expect("parameters are plain data"),
            schema: schemars::schema_for!(R),
            build: |parameters, port| {
                let routing = R::deserialize(parameters).map_err(|e| e.to_string())?;
                routing.check()?;
                Ok(routing.router(port))
            },
        }
    }

    /// All parameters with their defaults.
    pub fn defaults(&self) -> &Value {
        &self.defaults
    }

    /// The parameters' JSON Schema, with their descriptions.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The defaults with `overrides` laid over them. Fails if a name is not a parameter's, or if the protocol refuses a
    /// value.
    pub fn parameters(&self, overrides: &serde_json::Map<String, Value>) -> Result<Value, ParameterError> {
        let any = Port { capacity: Rate::from_gbps(1.0), buffer: Bytes(1_000_000) };
        overlay(&self.defaults, overrides, &|all| (self.build)(all, &any).map(drop))
    }

    /// The router at `port`. `parameters` come from [`RouterProtocol::parameters`]. Fails if they do not.
    pub fn build(&self, parameters: &Value, port: &Port) -> Result<Box<dyn Router>, String> {
        (self.build)(parameters, port)
    }
}

/// Every router protocol, in the order in which to list them.
pub fn all() -> &'static [RouterProtocol] {
    static ALL: LazyLock<Vec<RouterProtocol>> = LazyLock::new(|| {
        vec![
            RouterProtocol::new::<crate::rcp_ac::RcpAcRouting>(
                "rcp-ac",
                "RCP-AC (Dukkipati, McKeown and Fraser)",
                "RCP's rate, which flows approach as fast as the buffer can absorb",
            ),
            RouterProtocol::new::<crate::rcp::RcpRouting>(
                "rcp",
                "RCP-AC, equation 1 (Dukkipati et al., IWQoS 2005)",
                "one rate for all flows, which every packet carries to its receiver",
            ),
            RouterProtocol::new::<crate::xcp::XcpRouting>(
                "xcp",
                "XCP (Katabi, Handley and Rohrs, SIGCOMM 2002)",
                "distributes spare bandwidth and the reduction of queues packet by packet",
            ),
        ]
    });
    &ALL
}

/// The router protocol with this name.
pub fn find(name: &str) -> Option<&'static RouterProtocol> {
    all().iter().find(|router| router.name == name)
}
