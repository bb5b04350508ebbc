//! A congestion controller of a QUIC library, as [`Simulated`](super::sender::Simulated) sees it.

use std::time::{Duration, Instant};

/// What a controller is told of lost or marked packets.
#[derive(Clone, Copy)]
pub(crate) struct Event {
    /// When the newest of the packets was sent.
    pub(crate) sent: Instant,
    /// Its number.
    #[cfg_attr(not(feature = "noq"), expect(dead_code, reason = "quinn does not tell its controllers"))]
    pub(crate) number: u64,
    /// Everything that was in flight is lost.
    pub(crate) is_persistent: bool,
    /// The packets were marked, and none was lost.
    #[cfg_attr(not(feature = "noq"), expect(dead_code, reason = "quinn does not tell its controllers"))]
    pub(crate) is_mark: bool,
    /// Bytes of the lost packets.
    pub(crate) lost: u64,
}

/// What a controller says of itself.
#[derive(Clone, Copy)]
pub(crate) struct Metrics {
    /// In bytes.
    pub(crate) window: u64,
    /// In bytes.
    pub(crate) threshold: Option<u64>,
    /// A rate of its own, in bytes per second.
    pub(crate) rate: Option<u64>,
}

/// A controller together with the estimator of the round-trip time that its library shows it.
pub(crate) trait Guest: Send {
    /// A round-trip time was measured. Returns whether there is an estimator to show.
    fn on_rtt(&mut self, rtt: Duration) -> bool;
    /// The smoothed round-trip time.
    fn smoothed(&self) -> Duration;
    /// A packet leaves.
    fn on_packet_sent(&mut self, _now: Instant, _bytes: u64, _number: u64) {}
    /// Packets have left together, the last of which has this number.
    fn on_sent(&mut self, now: Instant, bytes: u64, last: u64);
    /// A packet is acknowledged; it has no number if it was given up before.
    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, number: Option<u64>, app_limited: bool);
    /// No packet of this acknowledgment follows.
    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>);
    /// A packet is lost; [`Guest::on_congestion`] follows.
    fn on_packet_lost(&mut self, _now: Instant, _bytes: u64, _number: u64) {}
    /// Packets were lost or marked.
    fn on_congestion(&mut self, now: Instant, event: Event);
    /// The window alone keeps a packet from leaving.
    fn on_window_full(&mut self) {}
    /// Whether `bytes` may be in flight.
    fn allows(&self, bytes: u64) -> bool;
    /// Bytes that may leave at once, at a rate of `rate` bytes per second, with packets of `packet` bytes.
    fn burst(&self, rate: f64, packet: f64) -> f64;
    /// What it says of itself.
    fn metrics(&self) -> Metrics;
}
