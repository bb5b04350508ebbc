//! Thalweg's controllers for noq's connections: those that set a window, and those that set a rate.

use crate::factory::flow::Flow;
use crate::factory::{self, FactoryError, Unsuitable};
use control::{Controller, EcnSupport, Family};
use noq_proto::RttEstimator;
use noq_proto::congestion::{self, ControllerFactory, ControllerMetrics};
use serde_json::{Map, Value};
use std::any::Any;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Makes a controller for each connection: pass it to noq's `TransportConfig::congestion_controller_factory`.
///
/// ```
/// # use std::sync::Arc;
/// # let mut transport = noq_proto::TransportConfig::default();
/// transport.congestion_controller_factory(Arc::new(thalweg_quinn::noq::factory("copa", &Default::default())?));
/// # Ok::<(), thalweg_quinn::FactoryError>(())
/// ```
///
/// noq keeps the window, finds losses and paces: at the controller's rate if it sets one, in bursts of at most 10 ms;
/// otherwise as quinn does.
#[derive(Clone, Debug)]
pub struct Factory(factory::Factory);

/// A factory of the controller `name`, whose parameters are the defaults with `parameters` laid over them.
///
/// # Errors
/// If there is no such controller or parameter, or if the controller needs what noq does not offer.
pub fn factory(name: &str, parameters: &Map<String, Value>) -> Result<Factory, FactoryError> {
    factory::choose(name, parameters, unsuitable).map(Factory)
}

/// What `controller` needs that noq does not offer.
pub(super) fn unsuitable(controller: &Controller) -> Option<Unsuitable> {
    let why = factory::unsuitable(controller)?;
    if why != Unsuitable::Pacing {
        return Some(why);
    }
    match controller.ecn {
        EcnSupport::L4s => Some(Unsuitable::MarkCounts),
        _ if controller.family == Family::Rate && needs_receiver(controller) => Some(Unsuitable::Stamps),
        _ => None,
    }
}

fn needs_receiver(controller: &Controller) -> bool {
    factory::parties(controller, controller.defaults(), 1200).receiver.is_some()
}

impl Factory {
    /// The name of the controller.
    pub fn name(&self) -> &'static str {
        self.0.name()
    }
}

impl ControllerFactory for Factory {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn congestion::Controller> {
        let mut flow = self.0.flow(now, current_mtu);
        let initial_window = flow.pace().0;
        Box::new(Adaptor { flow: Arc::new(Mutex::new(flow)), initial_window })
    }
}

/// The controller of a path. noq clones it when the peer's port changes and its address does not; both clones are the
/// same flow.
#[derive(Clone)]
struct Adaptor {
    flow: Arc<Mutex<Flow>>,
    /// In bytes.
    initial_window: u64,
}

impl Adaptor {
    fn flow(&self) -> MutexGuard<'_, Flow> {
        self.flow.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Adaptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Adaptor").finish_non_exhaustive()
    }
}

impl congestion::Controller for Adaptor {
    fn on_packet_sent(&mut self, now: Instant, bytes: u16, _: u64) {
        self.flow().on_packet_sent(now, bytes.into());
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, _: u64, _: bool, _: &RttEstimator) {
        self.flow().on_acked(now, sent, bytes);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, _: Option<u64>) {
        self.flow().on_ack_end(now, in_flight, app_limited);
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, persistent: bool, ecn: bool, lost: u64, _: u64) {
        self.flow().on_congestion(now, sent, persistent, if ecn { 0 } else { lost });
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.flow().on_mtu(new_mtu);
    }

    fn window(&self) -> u64 {
        self.flow().pace().0
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = ControllerMetrics::default();
        (metrics.congestion_window, metrics.pacing_rate) = self.flow().pace();
        metrics
    }

    fn clone_box(&self) -> Box<dyn congestion::Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.initial_window
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
