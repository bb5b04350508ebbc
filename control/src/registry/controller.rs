//! One entry of the list of controllers.

use super::family::Family;
use super::overrides::{ParameterError, overlay};
use crate::protocol::{EcnSupport, Protocol, Recovery};
use crate::roles::{Conditions, Receiver, Sender};
use crate::units::Bytes;
use schemars::{JsonSchema, Schema, json_schema};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

/// The parties of one flow.
pub struct Parties {
    /// The party at the source.
    pub sender: Box<dyn Sender>,
    /// The party at the destination, if the protocol has one.
    pub receiver: Option<Box<dyn Receiver>>,
}

/// Builds the parties of one flow after the other.
pub type Factory = Box<dyn Fn() -> Parties + Send>;

/// Makes a factory from parameters, or says what is wrong with them.
type Make = Box<dyn Fn(&Value, &Conditions) -> Result<Factory, String> + Send + Sync>;

/// A protocol with a name and default parameters.
pub struct Controller {
    /// The name in scenarios and on the command line.
    pub name: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    /// Paper or RFC.
    pub source: &'static str,
    /// The family in which it is listed.
    pub family: Family,
    /// How hosts repair its losses.
    pub recovery: Recovery,
    /// How its senders react to ECN marks.
    pub ecn: EcnSupport,
    defaults: Value,
    schema: Schema,
    factory: Make,
}

impl Controller {
    /// The controller `name`, whose default parameters are `defaults`. A program can build its own protocol by it, too,
    /// and give it a name in scenarios with [`add`](super::add).
    pub fn new<P: Protocol + Serialize + DeserializeOwned + JsonSchema>(
        name: &'static str,
        family: Family,
        recovery: Recovery,
        source: &'static str,
        summary: &'static str,
        defaults: P,
    ) -> Controller {
        Controller {
            name,
            summary,
            source,
            family,
            recovery,
            ecn: EcnSupport::None,
            defaults: serde_json::to_value(&defaults).expect("parameters are plain data"),
            schema: schemars::schema_for!(P),
            factory: Box::new(|parameters, host| {
                let (protocol, host) = (P::deserialize(parameters).map_err(|e| e.to_string())?, *host);
                protocol.check()?;
                Ok(Box::new(move || Parties { sender: protocol.sender(&host), receiver: protocol.receiver(&host) }))
            }),
        }
    }

    /// The same controller, whose senders react to ECN marks. Those of a [`Window`](crate::window::Window) do.
    pub fn with_ecn(self, ecn: EcnSupport) -> Controller {
        Controller { ecn, ..self }
    }

    /// The controller `name`, whose parties come from `make`: a protocol whose parameters are known only when the
    /// program runs, such as one in another language. `defaults` is an object of parameters; `make` is given it with a
    /// scenario's values laid over it, and says what is wrong with them.
    pub fn made_by(
        name: &'static str,
        family: Family,
        source: &'static str,
        summary: &'static str,
        defaults: Map<String, Value>,
        make: impl Fn(&Value, &Conditions) -> Result<Factory, String> + Send + Sync + 'static,
    ) -> Controller {
        let (schema, factory) = (json_schema!({ "type": "object" }), Box::new(make));
        Controller {
            name,
            summary,
            source,
            family,
            recovery: Recovery::Sack,
            ecn: EcnSupport::None,
            defaults: defaults.into(),
            schema,
            factory,
        }
    }

    /// All parameters with their defaults: an object of names and values, times and rates as texts with units.
    pub fn defaults(&self) -> &Value {
        &self.defaults
    }

    /// The parameters' JSON Schema, with their descriptions.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The defaults with `overrides` laid over them. Fails if a name is not a parameter's, or if the protocol refuses a
    /// value.
    pub fn parameters(&self, overrides: &Map<String, Value>) -> Result<Value, ParameterError> {
        // Hosts go by `self.ecn`: packets would be ECN-capable without a reaction, or the other way round.
        if let (Some(own), Some(given)) = (self.defaults.get("ecn"), overrides.get("ecn"))
            && own != given
        {
            let problem = "is fixed; `thalweg controllers` tells which controllers respond to marks".into();
            return Err(ParameterError::Bad { name: "ecn".into(), problem });
        }
        overlay(&self.defaults, overrides, &|all| (self.factory)(all, &Conditions::exact(Bytes(1000))).map(drop))
    }

    /// The parties of one flow, both on such a host. `parameters` come from [`Controller::parameters`]. Fails if they
    /// do not.
    pub fn build(&self, parameters: &Value, host: &Conditions) -> Result<Parties, String> {
        Ok(self.factory(parameters, host)?())
    }

    /// A function that builds the parties of many such flows, for which the parameters are read only once.
    pub fn factory(&self, parameters: &Value, host: &Conditions) -> Result<Factory, String> {
        (self.factory)(parameters, host)
    }
}
