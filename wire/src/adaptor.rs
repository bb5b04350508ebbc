//! A [`Flow`] as quinn's congestion controller: what quinn observes, the flow's sender is told.
//!
//! quinn itself is not held back here: its window is larger than anything, and above 2^32 bytes it does not pace. What holds it
//! back is the socket, which takes no more packets than may soon leave.

use crate::flow::Flow;
use quinn::congestion::{Controller, ControllerFactory};
use quinn_proto::RttEstimator;
use std::any::Any;
use std::cell::RefCell;
use std::sync::Arc;
use std::time::Instant;

thread_local! {
    /// Whose packet was built last on this thread. quinn builds a packet, asks the connection's poller whether there is room and
    /// hands it to the socket, all in one go, but neither of these is told the connection.
    static BUILT: RefCell<Option<Arc<Flow>>> = const { RefCell::new(None) };
}

/// Whose packet was built since the last call on this thread, if one was.
pub(crate) fn take_built() -> Option<Arc<Flow>> {
    BUILT.take()
}

/// Leaves word for whom the packet is that the socket gets next on this thread.
pub(crate) fn leave_built(flow: Arc<Flow>) {
    BUILT.set(Some(flow));
}

/// The adaptor, and what makes it: one of each per connection.
#[derive(Clone)]
pub(crate) struct Adaptor(pub(crate) Arc<Flow>);

/// Larger than anything.
const WINDOW: u64 = 1 << 40;

impl ControllerFactory for Adaptor {
    fn build(self: Arc<Self>, _: Instant, _: u16) -> Box<dyn Controller> {
        self.clone_box()
    }
}

impl Controller for Adaptor {
    fn on_sent(&mut self, now: Instant, bytes: u64, _: u64) {
        self.0.on_built(now, bytes);
        leave_built(self.0.clone());
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, _: bool, _: &RttEstimator) {
        self.0.on_acked(now, sent, bytes);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, _: Option<u64>) {
        self.0.on_acks_end(now, in_flight, app_limited);
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, persistent: bool, lost: u64) {
        self.0.on_lost(now, sent, persistent, lost);
    }

    fn on_mtu_update(&mut self, _: u16) {}

    fn window(&self) -> u64 {
        WINDOW
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        WINDOW
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
