//! A [`SendingFlow`] as quinn's congestion controller: it passes on what quinn observes.
//!
//! In the fast lane, quinn is told the sender's window: it enforces and paces that as it does for its own controllers.
//! In the paced lane quinn is not held back here: its window is larger than anything in flight, and above 2^32 bytes
//! quinn does not pace. The socket holds it back, which takes no more packets than may soon leave.

use crate::sending::{QuinnAckEnd, QuinnAcked, QuinnLoss, SendingFlow};
use crate::{handover, held_ack};
use quinn::congestion::{Controller, ControllerFactory};
use quinn_proto::RttEstimator;
use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

/// The controller of one connection, and the factory that quinn makes it with.
#[derive(Clone)]
pub(crate) struct Adaptor(pub(crate) Arc<SendingFlow>);

impl ControllerFactory for Adaptor {
    /// quinn calls this for each path: when a connection begins, and when the peer's address has changed to another IP
    /// address. Until the new path is validated, it tells of no acknowledgment.
    fn build(self: Arc<Self>, _: Instant, mtu: u16) -> Box<dyn Controller> {
        self.0.on_mtu(mtu);
        self.0.on_path();
        self.clone_box()
    }
}

impl Controller for Adaptor {
    fn on_sent(&mut self, now: Instant, bytes: u64, _: u64) {
        held_ack::release();
        self.0.on_built(now, bytes);
        handover::announce(self.0.clone());
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, _: bool, _: &RttEstimator) {
        held_ack::on_acked(&self.0, QuinnAcked { now, sent, bytes });
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, _: Option<u64>) {
        let ack = self.0.watch().and_then(|watch| watch.take());
        held_ack::on_end(&self.0, QuinnAckEnd { now, in_flight, app_limited, ack });
    }

    /// quinn calls this for lost packets, and with no bytes when the peer reports marks (ECN): how many packets are
    /// marked, the acknowledgment itself has told.
    fn on_congestion_event(&mut self, now: Instant, sent: Instant, persistent: bool, lost: u64) {
        if lost > 0 {
            held_ack::on_lost(&self.0, QuinnLoss { now, sent, persistent, lost });
        }
    }

    fn on_mtu_update(&mut self, mtu: u16) {
        self.0.on_mtu(mtu);
    }

    fn window(&self) -> u64 {
        self.0.quinn_window()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.0.quinn_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
