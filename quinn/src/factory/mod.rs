//! Window controllers of Thalweg for quinn's connections.

mod adaptor;
mod error;
pub(crate) mod flow;

pub use error::{FactoryError, Unsuitable};

use adaptor::Adaptor;
use control::registry::{self, Parties};
use control::{Bytes, Conditions, Controller, Duration, EcnSupport, Family};
use flow::Flow;
use quinn_proto::congestion::{self, ControllerFactory};
use serde_json::{Map, Value};
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

/// How exactly quinn times packets: its pacing lets what a window sends in this time leave at once.
const BURST: Duration = Duration::from_millis(2);
/// The size of a packet with which parameters are tried out, in bytes.
const PACKET: u16 = 1200;

/// Where controllers are from that [`simulated`](crate::simulated) and `noq` add.
const LIBRARIES: [&str; 2] = ["quinn", "noq"];

/// Makes a controller for each connection: pass it to quinn's `TransportConfig::congestion_controller_factory`.
///
/// ```
/// # use std::sync::Arc;
/// # let mut transport = quinn_proto::TransportConfig::default();
/// transport.congestion_controller_factory(Arc::new(thalweg_quinn::factory("bic", &Default::default())?));
/// # Ok::<(), thalweg_quinn::FactoryError>(())
/// ```
///
/// quinn keeps the window, finds losses (RFC 9002) and paces the window as it does with its own controllers: 1.25
/// windows per round trip, in bursts of at least ten packets. A window of some packets remains one of as many when
/// quinn finds a larger MTU for the path.
#[derive(Clone)]
pub struct Factory {
    controller: &'static Controller,
    parameters: Value,
}

/// A factory of the controller `name`, whose parameters are the defaults with `parameters` laid over them.
///
/// # Errors
/// If there is no such controller or parameter, or if the controller needs what quinn does not offer.
pub fn factory(name: &str, parameters: &Map<String, Value>) -> Result<Factory, FactoryError> {
    choose(name, parameters, unsuitable)
}

/// The same for a library to which a controller is not suited if `unsuitable` says why.
pub(crate) fn choose(
    name: &str,
    parameters: &Map<String, Value>,
    unsuitable: impl Fn(&Controller) -> Option<Unsuitable>,
) -> Result<Factory, FactoryError> {
    let controller = registry::find(name).ok_or_else(|| FactoryError::Unknown {
        name: name.into(),
        known: registry::all().into_iter().filter(|one| unsuitable(one).is_none()).map(|one| one.name).collect(),
    })?;
    if let Some(why) = unsuitable(controller) {
        return Err(FactoryError::Unsuitable { name: name.into(), why });
    }
    match controller.parameters(parameters) {
        Ok(parameters) => Ok(Factory { controller, parameters }),
        Err(problem) => Err(FactoryError::Parameters { name: name.into(), problem }),
    }
}

/// What `controller` needs that quinn does not offer.
pub(crate) fn unsuitable(controller: &Controller) -> Option<Unsuitable> {
    if LIBRARIES.contains(&controller.source) {
        return Some(Unsuitable::Library);
    }
    match controller.family {
        Family::PacketScale => Some(Unsuitable::Stamps),
        Family::RouterAssisted => Some(Unsuitable::Routers),
        Family::MarkWindow => Some(Unsuitable::MarkCounts),
        Family::Rate => Some(Unsuitable::Pacing),
        Family::LossWindow | Family::DelayWindow => {
            let parties = parties(controller, controller.defaults(), PACKET);
            (parties.sender.window().is_none() || parties.receiver.is_some()).then_some(Unsuitable::Pacing)
        }
    }
}

/// The parties of a flow with packets of `mtu` bytes. `parameters` are valid.
pub(crate) fn parties(controller: &Controller, parameters: &Value, mtu: u16) -> Parties {
    let host = Conditions { packet: Bytes(u64::from(mtu)), timing_error: BURST, quantum: BURST, paced: true };
    controller.build(parameters, &host).expect("the parameters were checked")
}

impl Factory {
    /// The name of the controller.
    pub fn name(&self) -> &'static str {
        self.controller.name
    }

    /// The flow of a new connection with packets of `mtu` bytes.
    pub(crate) fn flow(&self, now: Instant, mtu: u16) -> Flow {
        let sender = parties(self.controller, &self.parameters, mtu).sender;
        Flow::new(sender, mtu, self.controller.ecn == EcnSupport::Classic, now)
    }
}

impl fmt::Debug for Factory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Factory").field("name", &self.name()).field("parameters", &self.parameters).finish()
    }
}

impl ControllerFactory for Factory {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn congestion::Controller> {
        Box::new(Adaptor::new(self.flow(now, current_mtu)))
    }
}

#[cfg(test)]
mod tests;
