//! All router protocols by name, as [`registry`](crate::registry) has the controllers: whoever builds a link takes its router
//! from here.
//!
//! To add one, write its file and add it to [`all`].

use crate::registry::{ParameterError, overlay};
use crate::roles::Router;
use crate::units::{Bytes, Rate};
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::LazyLock;

/// The parameters of a router protocol: a plain struct whose `Default` is the paper's choice.
pub trait Routing: Serialize + for<'de> Deserialize<'de> + JsonSchema + Send + Sync + 'static {
    /// Whether the parameters make sense; if not, which does not and what to write instead.
    fn check(&self) -> Result<(), String>;

    /// The router of one direction of a link.
    fn router(&self, port: &Port) -> Box<dyn Router>;
}

/// Where a router sits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Port {
    /// The link's capacity.
    pub capacity: Rate,
    /// What its buffer holds.
    pub buffer: Bytes,
}

/// One router protocol.
pub struct RouterProtocol {
    /// What scenarios call it: as the controllers that it works with.
    pub name: &'static str,
    /// What it is, in a line.
    pub summary: &'static str,
    /// Paper.
    pub source: &'static str,
    defaults: Value,
    schema: Schema,
    build: Build,
}

type Build = fn(&Value, &Port) -> Result<Box<dyn Router>, String>;

impl RouterProtocol {
    fn new<R: Routing + Default>(name: &'static str, source: &'static str, summary: &'static str) -> RouterProtocol {
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

    /// The defaults with `overrides` laid over them. Fails on names that are not parameters.
    pub fn parameters(&self, overrides: &serde_json::Map<String, Value>) -> Result<Value, ParameterError> {
        let any = Port { capacity: Rate::from_gbps(1.0), buffer: Bytes(1_000_000) };
        overlay(&self.defaults, overrides, &|all| (self.build)(all, &any).map(drop))
    }

    /// The router at `port`. `parameters` are those of [`RouterProtocol::parameters`].
    pub fn build(&self, parameters: &Value, port: &Port) -> Result<Box<dyn Router>, String> {
        (self.build)(parameters, port)
    }
}

/// Every router protocol, in the order in which to list them.
pub fn all() -> &'static [RouterProtocol] {
    static ALL: LazyLock<Vec<RouterProtocol>> = LazyLock::new(|| {
        vec![
            RouterProtocol::new::<crate::rcp_ac::Routers>(
                "rcp-ac",
                "RCP-AC (Dukkipati, McKeown and Fraser)",
                "RCP's rate, towards which flows climb as fast as the buffer can take",
            ),
            RouterProtocol::new::<crate::rcp::Routers>(
                "rcp",
                "RCP-AC, equation 1 (Dukkipati et al., IWQoS 2005)",
                "one rate for all flows, which every packet brings home",
            ),
            RouterProtocol::new::<crate::xcp::Routers>(
                "xcp",
                "XCP (Katabi, Handley and Rohrs, SIGCOMM 2002)",
                "shares out spare bandwidth and queues packet by packet",
            ),
        ]
    });
    &ALL
}

/// The router protocol of that name.
pub fn find(name: &str) -> Option<&'static RouterProtocol> {
    all().iter().find(|router| router.name == name)
}
