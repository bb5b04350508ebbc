//! A [`Flow`] as quinn's controller.

use super::flow::Flow;
use quinn_proto::RttEstimator;
use quinn_proto::congestion::Controller;
use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// The controller of a connection. quinn clones it when the peer's port changes and its address does not; both clones
/// are the same flow, so that what is acknowledged on one is known to the other.
#[derive(Clone)]
pub(super) struct Adaptor(Arc<Mutex<Flow>>);

impl Adaptor {
    pub(super) fn new(flow: Flow) -> Adaptor {
        Adaptor(Arc::new(Mutex::new(flow)))
    }

    fn flow(&self) -> MutexGuard<'_, Flow> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Controller for Adaptor {
    fn on_sent(&mut self, now: Instant, bytes: u64, _: u64) {
        self.flow().on_sent(now, bytes);
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, _: bool, _: &RttEstimator) {
        self.flow().on_acked(now, sent, bytes);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, _: Option<u64>) {
        self.flow().on_ack_end(now, in_flight, app_limited);
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, is_persistent_congestion: bool, lost_bytes: u64) {
        self.flow().on_congestion(now, sent, is_persistent_congestion, lost_bytes);
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.flow().on_mtu(new_mtu);
    }

    fn window(&self) -> u64 {
        self.flow().window()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.flow().initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
