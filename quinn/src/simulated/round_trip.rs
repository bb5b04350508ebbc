//! quinn's estimator of the round-trip time, which its controllers read and only quinn can make.
//!
//! The estimates are computed here, as quinn computes them. Two ends of a QUIC connection are kept in this process, and
//! exchange packets on a clock of their own until the connection's estimator has the same values. As an exchange costs
//! some ten microseconds, this is done only when the smoothed round-trip time has moved by more than [`PRECISION`], or
//! the shortest one at all.

use super::keys::Plain;
use bytes::BytesMut;
use quinn_proto::congestion::{Controller, ControllerFactory};
use quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Endpoint, EndpointConfig, RttEstimator, ServerConfig,
    TransportConfig,
};
use std::any::Any;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Where both ends believe the other is; nothing is sent there.
const NOWHERE: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 1);
/// What quinn assumes before the first sample (RFC 9002, section 6.2.2).
const INITIAL: Duration = Duration::from_millis(333);
/// The smoothed round-trip time that controllers are shown is exact to one part in this many.
const PRECISION: u32 = 256;
/// How many exchanges an estimate may take. A sample moves the estimate by at most an eighth, and so it takes two; more
/// than this would be needed only if the samples of several acknowledgments had been left out.
const MOST_EXCHANGES: u32 = 16;

/// See the [module](self).
pub(super) struct RoundTrip {
    /// None before the first sample, which is the duration of the handshake, too.
    estimates: Option<Estimates>,
    origin: Instant,
}

struct Estimates {
    smoothed: Duration,
    min: Duration,
    ends: Box<Ends>,
    /// The estimator of `ends` that stands for these estimates.
    shown: RttEstimator,
}

impl RoundTrip {
    /// An estimator without samples. `origin` is any instant.
    pub(super) fn new(origin: Instant) -> RoundTrip {
        RoundTrip { estimates: None, origin }
    }

    /// The newest estimate of the smoothed round-trip time.
    pub(super) fn smoothed(&self) -> Duration {
        self.estimates.as_ref().map_or(INITIAL, |estimates| estimates.smoothed)
    }

    /// A round-trip time was measured. Returns the estimator as it was before, which is what quinn's controllers are
    /// shown with the acknowledgment; for the first sample, as it is after the handshake.
    pub(super) fn sample(&mut self, rtt: Duration) -> Option<RttEstimator> {
        let Some(estimates) = &mut self.estimates else {
            let mut ends = Box::new(Ends::connect(self.origin, rtt));
            let shown = ends.show(rtt, rtt)?;
            self.estimates = Some(Estimates { smoothed: rtt, min: rtt, ends, shown });
            return Some(shown);
        };
        let before = estimates.shown;
        // RFC 6298, section 2, without delays of acknowledgments.
        estimates.smoothed = (7 * estimates.smoothed + rtt) / 8;
        estimates.min = estimates.min.min(rtt);
        let (smoothed, min) = (estimates.smoothed, estimates.min);
        if before.get().abs_diff(smoothed) > smoothed / PRECISION || before.min() > min {
            estimates.shown = estimates.ends.show(smoothed, min)?;
        }
        Some(before)
    }
}

struct End {
    endpoint: Endpoint,
    handle: ConnectionHandle,
    connection: Connection,
}

impl End {
    /// Sends what is to be sent to `other`, where it arrives at `arrival`. Returns whether there was anything.
    fn send(&mut self, other: &mut End, now: Instant, arrival: Instant, buffer: &mut Vec<u8>) -> bool {
        let mut any = false;
        loop {
            buffer.clear();
            let Some(transmit) = self.connection.poll_transmit(now, 1, buffer) else { return any };
            any = true;
            let datagram = BytesMut::from(&buffer[..transmit.size]);
            buffer.clear();
            let event = other.endpoint.handle(arrival, NOWHERE, None, None, datagram, buffer);
            if let Some(DatagramEvent::ConnectionEvent(_, event)) = event {
                other.connection.handle_event(event);
            }
            other.pass_on_events();
        }
    }

    /// The connection's news for its endpoint, such as the connection's identifiers, and the answers.
    fn pass_on_events(&mut self) {
        while let Some(event) = self.connection.poll_endpoint_events() {
            if let Some(answer) = self.endpoint.handle_event(self.handle, event) {
                self.connection.handle_event(answer);
            }
        }
        while self.connection.poll().is_some() {}
    }
}

/// Two ends of a connection.
struct Ends {
    client: End,
    server: End,
    /// The time on the clock of these ends.
    now: Instant,
    /// What the client's controller was shown last.
    shown: Shown,
    buffer: Vec<u8>,
}

impl Ends {
    /// Two ends that have opened a connection, with a round-trip time of `rtt`.
    fn connect(mut now: Instant, rtt: Duration) -> Ends {
        let shown = Shown::default();
        let mut transport = TransportConfig::default();
        transport
            .max_idle_timeout(None)
            .mtu_discovery_config(None)
            .initial_rtt(rtt)
            .congestion_controller_factory(Arc::new(shown.clone()));
        let transport = Arc::new(transport);
        let mut config = EndpointConfig::new(Arc::new(Plain));
        config.rng_seed(Some([0; 32]));
        let config = Arc::new(config);
        let mut server_config = ServerConfig::new(Arc::new(Plain), Arc::new(Plain));
        server_config.transport_config(transport.clone());
        let mut client_config = ClientConfig::new(Arc::new(Plain));
        client_config.transport_config(transport);

        let mut endpoint = Endpoint::new(config.clone(), None, false, None);
        let connected = endpoint.connect(now, client_config, NOWHERE, "nowhere");
        let (handle, connection) = connected.expect("the address and the version are valid");
        let mut client = End { endpoint, handle, connection };

        let mut endpoint = Endpoint::new(config, Some(Arc::new(server_config)), false, None);
        let mut buffer = Vec::new();
        let transmit = client.connection.poll_transmit(now, 1, &mut buffer).expect("a client speaks first");
        let datagram = BytesMut::from(&buffer[..transmit.size]);
        buffer.clear();
        let event = endpoint.handle(now, NOWHERE, None, None, datagram, &mut buffer);
        let Some(DatagramEvent::NewConnection(incoming)) = event else { unreachable!("a client's hello came") };
        let accepted = endpoint.accept(incoming, now, &mut buffer, None);
        let (handle, connection) = accepted.unwrap_or_else(|e| unreachable!("the hello is valid: {:?}", e.cause));
        let mut server = End { endpoint, handle, connection };
        loop {
            now += rtt;
            let answered = server.send(&mut client, now - rtt, now, &mut buffer);
            let asked = client.send(&mut server, now, now, &mut buffer);
            if !answered && !asked {
                break;
            }
        }
        debug_assert!(!client.connection.is_handshaking() && !server.connection.is_handshaking());
        Ends { client, server, now, shown, buffer }
    }

    /// The estimator with these values, which the ends exchange packets to get.
    fn show(&mut self, smoothed: Duration, min: Duration) -> Option<RttEstimator> {
        if self.shown.get().is_none_or(|shown| shown.min() > min) {
            self.exchange(min);
        }
        for _ in 0..MOST_EXCHANGES {
            let own = self.client.connection.rtt();
            if own.abs_diff(smoothed) <= smoothed / (16 * PRECISION) {
                break;
            }
            self.exchange((8 * smoothed).saturating_sub(7 * own).max(min));
        }
        // A controller is shown the estimator as it was before the acknowledgment. Samples of the estimate itself do
        // not change it.
        let own = self.client.connection.rtt();
        self.exchange(own);
        self.exchange(own);
        self.shown.get()
    }

    /// One exchange that takes `rtt`.
    fn exchange(&mut self, rtt: Duration) {
        // A receiver acknowledges every second packet at once.
        for _ in 0..2 {
            self.client.connection.ping();
            self.client.send(&mut self.server, self.now, self.now, &mut self.buffer);
        }
        let sent = self.now;
        self.now += rtt;
        self.server.send(&mut self.client, sent, self.now, &mut self.buffer);
    }
}

/// A controller that allows everything, and keeps the estimator that it was shown last.
#[derive(Clone, Default)]
struct Shown(Arc<Mutex<Option<RttEstimator>>>);

impl Shown {
    fn get(&self) -> Option<RttEstimator> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ControllerFactory for Shown {
    fn build(self: Arc<Self>, _: Instant, _: u16) -> Box<dyn Controller> {
        self.clone_box()
    }
}

impl Controller for Shown {
    fn on_ack(&mut self, _: Instant, _: Instant, _: u64, _: bool, rtt: &RttEstimator) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(*rtt);
    }

    fn on_congestion_event(&mut self, _: Instant, _: Instant, _: bool, _: u64) {}

    fn on_mtu_update(&mut self, _: u16) {}

    fn window(&self) -> u64 {
        // quinn does not pace above 2^32 bytes.
        1 << 40
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 6298, section 2, as RFC 9002, section 5.3, has it: without delays of acknowledgments.
    #[test]
    fn the_estimator_smooths_what_was_measured() {
        let mut estimator = RoundTrip::new(Instant::now());
        assert_eq!(estimator.smoothed(), INITIAL);
        let (mut smoothed, mut min) = (0.1, f64::MAX);
        for ms in [100, 100, 180, 140, 90, 300, 95, 1000, 100, 100, 100, 100, 100, 20, 20, 21, 20, 20, 20, 20, 20] {
            let rtt = Duration::from_millis(ms);
            let before = estimator.sample(rtt).expect("the controller was shown it");
            let shown = before.get().as_secs_f64();
            assert!((shown / smoothed - 1.0_f64).abs() < 1.0 / f64::from(PRECISION), "{shown} and not {smoothed}");
            assert!((before.conservative().as_secs_f64() / smoothed - 1.0).abs() < 1.0 / f64::from(PRECISION));
            assert!(
                min == f64::MAX || (before.min().as_secs_f64() - min).abs() < 1e-6,
                "{:?} and not {min}",
                before.min()
            );
            smoothed = (7.0 * smoothed + rtt.as_secs_f64()) / 8.0;
            min = min.min(rtt.as_secs_f64());
            assert!((estimator.smoothed().as_secs_f64() - smoothed).abs() < 1e-6);
        }
    }

    #[test]
    fn long_flows_do_not_tire_it() {
        let mut estimator = RoundTrip::new(Instant::now());
        for i in 0..50_000u64 {
            let shown = estimator.sample(Duration::from_micros(1000 + i % 7 + 300 * (i / 40 % 2)));
            assert!(shown.is_some_and(|shown| shown.get() < Duration::from_micros(1310)));
        }
    }
}
