//! A controller of noq as a [`Guest`].

use super::ends::Ends;
use crate::simulated::guest::{Event, Guest, Metrics};
use crate::simulated::round_trip::RoundTrip;
use noq_proto::RttEstimator;
use noq_proto::congestion::{Controller, ControllerFactory};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long noq lets leave at once what a rate sends, in seconds, and the bounds of that in packets; and the longest
/// time, which comes before the least number of packets.
const BURST: f64 = 2e-3;
const LEAST: f64 = 10.0;
const MOST: f64 = 256.0;
const LONGEST: f64 = 10e-3;

/// See the [module](self).
pub(super) struct OfNoq {
    controller: Box<dyn Controller>,
    round_trip: RoundTrip<Ends>,
    shown: Option<RttEstimator>,
}

impl OfNoq {
    /// A controller of `factory` for packets of `mtu` bytes.
    pub(super) fn new(factory: Arc<dyn ControllerFactory>, origin: Instant, mtu: u16) -> OfNoq {
        OfNoq { controller: factory.build(origin, mtu), round_trip: RoundTrip::new(origin), shown: None }
    }
}

/// The size of a packet as noq counts it.
fn size(bytes: u64) -> u16 {
    u16::try_from(bytes).unwrap_or(u16::MAX)
}

impl Guest for OfNoq {
    fn on_rtt(&mut self, rtt: Duration) -> bool {
        self.shown = self.round_trip.sample(rtt);
        self.shown.is_some()
    }

    fn smoothed(&self) -> Duration {
        self.round_trip.smoothed()
    }

    fn on_packet_sent(&mut self, now: Instant, bytes: u64, number: u64) {
        self.controller.on_packet_sent(now, size(bytes), number);
    }

    fn on_sent(&mut self, now: Instant, bytes: u64, last: u64) {
        self.controller.on_sent(now, bytes, last);
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, number: Option<u64>, app_limited: bool) {
        // noq does not tell of packets that it has given up.
        if let (Some(estimator), Some(number)) = (&self.shown, number) {
            self.controller.on_ack(now, sent, bytes, number, app_limited, estimator);
        }
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        self.controller.on_end_acks(now, in_flight, app_limited, largest);
    }

    fn on_packet_lost(&mut self, now: Instant, bytes: u64, number: u64) {
        self.controller.on_packet_lost(size(bytes), number, now);
    }

    fn on_congestion(&mut self, now: Instant, it: Event) {
        self.controller.on_congestion_event(now, it.sent, it.is_persistent, it.is_mark, it.lost, it.number);
    }

    fn on_window_full(&mut self) {
        self.controller.on_cwnd_limited();
    }

    fn allows(&self, bytes: u64) -> bool {
        bytes <= self.controller.window()
    }

    fn burst(&self, rate: f64, packet: f64) -> f64 {
        let most = (rate * LONGEST).max(packet);
        (rate * BURST).clamp(LEAST * packet, MOST * packet).min(most)
    }

    fn metrics(&self) -> Metrics {
        let metrics = self.controller.metrics();
        Metrics { window: metrics.congestion_window, threshold: metrics.ssthresh, rate: metrics.pacing_rate }
    }
}
