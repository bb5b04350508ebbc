//! A controller of quinn as a [`Guest`].

use super::ends::Ends;
use super::guest::{Event, Guest, Metrics};
use super::round_trip::RoundTrip;
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long quinn lets leave at once what a window per round trip sends, in seconds, and the bounds of that in packets.
const BURST: f64 = 2e-3;
const LEAST: f64 = 10.0;
const MOST: f64 = 256.0;

/// See the [module](self).
pub(super) struct OfQuinn {
    controller: Box<dyn Controller>,
    round_trip: RoundTrip<Ends>,
    shown: Option<RttEstimator>,
}

impl OfQuinn {
    /// A controller of `factory` for packets of `mtu` bytes.
    pub(super) fn new(factory: Arc<dyn ControllerFactory>, origin: Instant, mtu: u16) -> OfQuinn {
        OfQuinn { controller: factory.build(origin, mtu), round_trip: RoundTrip::new(origin), shown: None }
    }
}

impl Guest for OfQuinn {
    fn on_rtt(&mut self, rtt: Duration) -> bool {
        self.shown = self.round_trip.sample(rtt);
        self.shown.is_some()
    }

    fn smoothed(&self) -> Duration {
        self.round_trip.smoothed()
    }

    fn on_sent(&mut self, now: Instant, bytes: u64, last: u64) {
        self.controller.on_sent(now, bytes, last);
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, _: Option<u64>, app_limited: bool) {
        if let Some(estimator) = &self.shown {
            self.controller.on_ack(now, sent, bytes, app_limited, estimator);
        }
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        self.controller.on_end_acks(now, in_flight, app_limited, largest);
    }

    fn on_congestion(&mut self, now: Instant, event: Event) {
        // quinn tells of marks by no bytes lost.
        self.controller.on_congestion_event(now, event.sent, event.is_persistent, event.lost);
    }

    fn allows(&self, bytes: u64) -> bool {
        // quinn sends while what is in flight and the packet are less than the window.
        bytes < self.controller.window()
    }

    fn burst(&self, rate: f64, packet: f64) -> f64 {
        (rate * BURST).clamp(LEAST * packet, MOST * packet)
    }

    fn metrics(&self) -> Metrics {
        let metrics = self.controller.metrics();
        Metrics { window: metrics.congestion_window, threshold: metrics.ssthresh, rate: None }
    }
}
